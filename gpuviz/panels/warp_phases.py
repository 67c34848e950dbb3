"""All warps of a block between its barriers: a row each, a box for each of its requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gpuviz.base.arrays import F32, F64, I64, Rgba
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, centers, first_fitting
from gpuviz.draw.marks import Boxes, Lines, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Ink, Need, Panel, Values, color
from gpuviz.words.language import tr

_HEAD = 1.6  # letters above the rows
_LOW, _TALL = 3.0, 3.5  # pixels of a row at the least, letters at the most


@dataclass(frozen=True)
class Phase:
    """A stretch between barriers, in the unit of the boxes; wordings, longest first.

    A barrier stands at its end, unless it is the last one.
    """

    start: float
    end: float
    names: tuple[str, ...]
    barrier: bool


@dataclass(frozen=True, eq=False)
class WarpPhases(Panel):
    """The rows at a time.

    Attributes
    ----------
    phases : from left to right; what a warp leaves of one it waits at the barrier
    warp, start, end : (B,) of each box: its row, and where it lies
    ink : (B,) number of its colour among `inks`
    now, row : where time is, and whose request is under way (-1: nobody's)
    tip, choose : hover text of a box, and what a click on it sets
    marked : boxes that something is wrong with, by number; two of them belong together
    """

    share: ClassVar[float] = 1.0
    phases: tuple[Phase, ...]
    warps: int
    warp: I64
    start: F64
    end: F64
    ink: I64
    inks: tuple[Ink, ...]
    now: float
    row: int
    tip: Callable[[int], str]
    choose: Callable[[int], Values]
    marked: I64

    def need(self, stage: Stage, width: float) -> Need:
        """Rows that can be told apart."""
        head = _HEAD * stage.text(14)
        rows = self.warps * stage.text(14)
        least = max(self.warps * _LOW, 4 * stage.text(14))
        return Need(head + max(rows, 6 * stage.text(14)), head + least, 14 * stage.text(14))

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Phases by name, waiting, requests, barriers, where time is."""
        plot = self._plot(stage, area)
        palette = stage.palette
        rects = self._rects(plot)
        yield from self._names(stage, area, plot)
        idle = self._idle(plot)
        if len(idle):
            ground, hatch = palette.waste_ground, palette.waste
            yield Boxes(idle, ground, hatch=hatch, tip=lambda i: tr("waits at the barrier"))
        yield Boxes(rects, self._fill(stage), tip=self.tip)
        yield from self._barriers(stage, plot)
        here = (self.warp == self.row) & (self.start <= self.now) & (self.now < self.end)
        if here.any():
            yield Boxes(rects[here], stroke=palette.outline, stroke_width=2.0)
        yield from self._marks(stage, rects[self.marked])
        x = self._x(plot, np.array([self.now + 0.5]))[0]
        ends = np.array([[[x, plot.y - 3], [x, plot.bottom + 3]]], np.float32)
        yield Lines(ends, palette.ink, 1.5, dash=True)

    def _marks(self, stage: Stage, rects: F32) -> Iterator[Mark]:
        """What is wrong, wide enough to be seen, and a line between two that race."""
        if not len(rects):
            return
        red, least = stage.palette.bad, stage.text(14) * 0.6
        wide = rects.copy()
        wide[:, 0] -= np.maximum(least - wide[:, 2], 0) / 2
        wide[:, 2] = np.maximum(wide[:, 2], least)
        if len(wide) > 1:
            yield Lines(centers(wide)[None, :2], red, 2.0)
        yield Boxes(wide, stage.palette.waste_ground, hatch=red, stroke=red, stroke_width=2.0)

    def pick(self, stage: Stage, area: Rect, x: float, y: float) -> Values | None:
        """A click on a request goes to it."""
        rects = self._rects(self._plot(stage, area))
        inside = (rects[:, 0] <= x) & (x < rects[:, 0] + rects[:, 2])
        inside &= (rects[:, 1] <= y) & (y < rects[:, 1] + rects[:, 3])
        found = np.flatnonzero(inside)
        return self.choose(int(found[0])) if len(found) else None

    def _plot(self, stage: Stage, area: Rect) -> Rect:
        size = stage.text(14)
        side = text_width(tr("warp") + f" {self.warps - 1}", size) + size * 0.7
        body = area.above(size * _HEAD)[1].beside(side)[1]
        return body._replace(height=min(body.height, self.warps * size * _TALL))

    @property
    def _ends(self) -> tuple[float, float]:
        return self.phases[0].start, self.phases[-1].end

    def _x(self, plot: Rect, at: F64) -> F64:
        first, last = self._ends
        return np.asarray(plot.x + plot.width * (at - first) / max(last - first, 1e-9))

    def _rects(self, plot: Rect) -> F32:
        """(B, 4) the requests."""
        high = plot.height / self.warps
        left, right = self._x(plot, self.start), self._x(plot, self.end)
        wide = right - left
        gap = np.where(wide >= 4, 1.0, 0.0)
        low = 1.0 if high >= 5 else 0.4
        rects = [left, plot.y + self.warp * high, wide - gap, np.full(len(left), high - low)]
        return np.stack(rects, axis=1).astype(np.float32)

    def _fill(self, stage: Stage) -> Rgba:
        palette = stage.palette
        full = np.stack([color(stage, ink) for ink in self.inks])[self.ink]
        here = (self.warp == self.row) & (self.start <= self.now) & (self.now < self.end)
        over, later = palette.soft(full, 0.3), palette.soft(full, 0.72)
        fill = np.where((self.start <= self.now)[:, None], over, later)
        return np.where(here[:, None], full, fill).astype(np.uint8)

    def _idle(self, plot: Rect) -> F32:
        """(I, 4) from a warp's last request in a phase to the barrier."""
        high, boxes = plot.height / self.warps, []
        for phase in self.phases:
            mine = (self.start >= phase.start) & (self.end <= phase.end)
            last = np.full(self.warps, phase.start)
            np.maximum.at(last, self.warp[mine], self.end[mine])
            for warp in np.flatnonzero(phase.barrier & (phase.end - last > 0)).tolist():
                x = self._x(plot, np.array([last[warp], phase.end]))
                boxes.append((x[0], plot.y + warp * high, x[1] - x[0] - 1, high - 0.5))
        return np.array(boxes, np.float32).reshape(-1, 4)

    def _barriers(self, stage: Stage, plot: Rect) -> Iterator[Mark]:
        ends = self._x(plot, np.array([p.end for p in self.phases if p.barrier]))
        points = [[[x, plot.y - 2], [x, plot.bottom + 2]] for x in ends.tolist()]
        yield Lines(np.array(points, np.float32).reshape(-1, 2, 2), stage.palette.barrier, 3.0)

    def _names(self, stage: Stage, area: Rect, plot: Rect) -> Iterator[Mark]:
        """Above the rows: phases; beside them: warps, as many as there is room for."""
        size, palette = stage.text(14), stage.palette
        for phase in self.phases:
            left, right = self._x(plot, np.array([phase.start, phase.end])).tolist()
            said = first_fitting(phase.names, right - left - size * 0.5, size)
            if said:
                now = phase.start <= self.now < phase.end
                ink = palette.ink if now else palette.muted
                yield label(left, area.y + size * 0.6, said, ink, size, now)
        high = plot.height / self.warps
        every = max(1, int(np.ceil(size * 1.15 / high)))
        rows = np.arange(0, self.warps, every)
        at = np.stack([np.full(len(rows), plot.x - size * 0.5), plot.y + (rows + 0.5) * high], 1)
        said_rows = (tr("warp") + " 0", *map(str, rows[1:].tolist()))
        yield Texts(at.astype(np.float32), said_rows, palette.muted, size, "right")
