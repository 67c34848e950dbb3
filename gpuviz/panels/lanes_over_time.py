"""A warp's lanes from top to bottom, what it issues from left to right: who is at work when."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gpuviz.base.arrays import F32, I64, Bool, Rgba
from gpuviz.draw.axis import Scales
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, first_fitting
from gpuviz.draw.marks import Boxes, Lines, Mark, Texts, Tip
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Ink, Need, Panel, color
from gpuviz.traces.trace import LANES
from gpuviz.words.language import tr

_LEAST = 12.25  # letters high: fewer are too few to tell 32 lanes apart
_APART = 6.0  # pixels: lanes so high have a gap between them


@dataclass(frozen=True)
class Span:
    """A stretch of what is issued, with a name above it: wordings, longest first.

    While a class is asked the longest is left out: it says how many lanes are at work.
    """

    start: float
    end: float
    names: tuple[str, ...]
    ink: Ink


@dataclass(frozen=True, eq=False)
class LanesOverTime(Panel):
    """Lanes at work in their colours, those switched off hatched, what is to come dim."""

    share: ClassVar[float] = 1.0
    # start, count: (P,) instructions issued before and in each stretch.
    start: I64
    count: I64
    active: Bool  # (P, 32) lanes at work
    now: float  # instructions issued so far
    spans: tuple[Span, ...]  # names above the stretches
    unit: str  # what goes out from left to right
    tip: Callable[[int, int], str]  # hover text of a stretch (row) and a lane

    @property
    def total(self) -> float:
        """All that is issued."""
        return float(self.start[-1] + self.count[-1])

    def need(self, stage: Stage, width: float) -> Need:
        """Enough to tell lanes apart."""
        return Need(_LEAST * stage.text(14), _LEAST * stage.text(14), 16 * stage.text(14))

    def scales(self) -> Scales:
        """How much is issued."""
        return {self.unit: self.total}

    def draw(self, stage: Stage, area: Rect) -> Iterable[Mark]:
        """Names, lanes, both axes, and where time is."""
        size = stage.text(14)
        side = text_width(tr("lane") + f" {LANES - 1}", size) + size * 0.6
        names, rest = area.beside(side)[1].above(size * 1.7)
        plot, axis = rest.above(rest.height - size * 1.9)
        most = stage.most(self.unit, self.total)
        names, plot = (p._replace(width=p.width * self.total / most) for p in (names, plot))
        yield from self._names(stage, names)
        yield from self._lanes(stage, self._cells(plot))
        yield from _lane_axis(stage, Rect(area.x, plot.y, side, plot.height))
        yield from _issue_axis(stage, axis, most, self.unit)
        if 0 < self.now < self.total:
            x = plot.x + plot.width * self.now / self.total
            ends = np.array([[[x, plot.y - 3], [x, plot.bottom + 3]]], np.float32)
            yield Lines(ends, stage.palette.ink, 2.0)

    def _cells(self, plot: Rect) -> F32:
        """(P, 32, 4) boxes: a lane's part in a stretch. Low lanes touch, and all begin and end at
        whole pixels: gaps of a part of a pixel are seen between some, and not between others.
        """
        high = plot.height / LANES
        low = np.round(plot.y + np.arange(LANES + 1) * high)
        first = np.round(plot.x + plot.width * self.start / self.total)
        last = np.round(plot.x + plot.width * (self.start + self.count) / self.total)
        rects = np.zeros((len(self.count), LANES, 4), np.float32)
        rects[..., 0], rects[..., 1] = first[:, None], low[:-1]
        rects[..., 2] = np.maximum(last - first - 1.0, 1.0)[:, None]
        rects[..., 3] = np.maximum(np.diff(low) - (1.0 if high >= _APART else 0.0), 1.0)
        return rects

    def _lanes(self, stage: Stage, rects: F32) -> Iterator[Mark]:
        palette = stage.palette
        done = self.start + self.count / 2 <= self.now
        row, lane = np.nonzero(self.active)
        fill = palette.state(palette.lanes[lane], done[row].astype(float))
        yield Boxes(rects[self.active], fill, tip=self._said(row, lane), lanes=lane)
        ground, hatch = palette.waste_ground, palette.waste
        yield self._idle(rects, done, ground, hatch)
        yield self._idle(rects, ~done, palette.todo(ground), palette.todo(hatch))

    def _idle(self, rects: F32, rows: Bool, ground: Rgba, hatch: Rgba) -> Boxes:
        """Boxes over neighbouring lanes that are switched off in some of the stretches."""
        off = ~self.active & rows[:, None]
        edge = np.diff(np.pad(off, ((0, 0), (1, 1))).astype(np.int8), axis=1)
        row, first = np.nonzero(edge == 1)
        last = np.nonzero(edge == -1)[1] - 1
        boxes = rects[row, first].copy()
        boxes[:, 3] = rects[row, last, 1] + rects[row, last, 3] - boxes[:, 1]
        return Boxes(boxes, ground, hatch=hatch, tip=self._said(row, first))

    def _said(self, rows: I64, lanes: I64) -> Tip:
        return lambda i: self.tip(int(rows[i]), int(lanes[i]))

    def _names(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Above the lanes: what the stretches are."""
        palette, size = stage.palette, stage.text(14)
        for span in self.spans:
            left = area.x + area.width * span.start / self.total
            wide = area.width * (span.end - span.start) / self.total - 2
            box, full = Rect(left, area.y, wide, size * 1.4), color(stage, span.ink)
            under_way = span.start <= self.now < span.end
            over = palette.soft(full, 0.5) if self.now >= span.end else palette.todo(full)
            fill = full if under_way else over
            yield Boxes(box.array(), fill, radius=4)
            if under_way:
                yield Boxes(box.array(), stroke=palette.outline, stroke_width=2, radius=4)
            names = span.names[1:] if stage.asks else span.names
            if text := first_fitting(names, box.width - size * 0.5, size, True):
                yield label(*box.center, text, palette.ink_on(fill), size, True, "center")


def _lane_axis(stage: Stage, area: Rect) -> Iterator[Mark]:
    """Numbers of some lanes at the left."""
    size, muted = stage.text(14), stage.palette.muted
    lanes = np.array([0, 8, 16, 24, 31] if area.height > 9 * size else [0, 16, 31])
    y = area.y + (lanes + 0.5) * area.height / LANES
    at = np.stack([np.full(len(y), area.right - size * 0.5), y], axis=1).astype(np.float32)
    yield label(area.x, float(y[0]), tr("lane"), muted, size)
    yield Texts(at, tuple(map(str, lanes.tolist())), muted, size, "right")


def _issue_axis(stage: Stage, area: Rect, total: float, unit: str) -> Iterator[Mark]:
    """How many have been issued, and what they are."""
    size, muted, y = stage.text(14), stage.palette.muted, area.y + stage.text(14) * 0.8
    step = next(s for s in (5, 10, 20, 50, 100, 200, 500) if total / s <= 10 or s == 500)
    end = area.right - text_width(unit, size) - 2 * size
    kept = [
        n for n in range(0, int(total) - step // 2, step) if area.x + area.width * n / total < end
    ]
    at = np.array([(area.x + area.width * n / total, y) for n in kept], np.float32)
    yield Texts(at, tuple(map(str, kept)), muted, size, "center")
    yield label(area.right, y, unit, muted, size, align="right")
