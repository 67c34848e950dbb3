"""A warp's lanes, the counters each of them counts in, and the bars that grow of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from gpuviz.arrays import F32, F64, I32, I64, Bool
from gpuviz.draw.bands import bands, partly
from gpuviz.draw.ease import smooth
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, centers, grid
from gpuviz.draw.marks import Boxes, Curves, Mark, Raster, Texts
from gpuviz.draw.matrix import heat
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.draw.warp import lane_boxes, lane_row
from gpuviz.language import tr
from gpuviz.panels.panel import Need, Panel

_LEAST = 14.25  # letters high
_MANY = 8  # copies from which they take as much room as the bars


@dataclass(frozen=True, eq=False)
class Lanes:
    """The lanes of a request, (32,) each: whether it takes part, in which copy of which bin it
    counts, and how far it has come (0 to 1); `asked` (0 to 1) of the request went out.
    """

    active: Bool
    bin: I64
    copy: I64
    progress: F64
    asked: float
    tip: Callable[[int], str]

    @property
    def going(self) -> Bool:
        """The lanes whose turn it is."""
        return self.active & (self.progress > 0) & (self.progress < 1)


class _View(NamedTuple):
    """Where everything goes: (32, 4) lanes, the counters, (B, 4) columns for bars, two anchors."""

    names: float
    lanes: F32
    area: Rect
    bars: F32
    axis: float


@dataclass(frozen=True, eq=False)
class Counters(Panel):
    """Counters in rows of copies, the warmer the more they have counted.

    Attributes
    ----------
    lanes : of the request under way; `first` says that it is the one told turn by turn
    counts : (copies, bins) now, `counted` when the block is over
    total : (bins,) of all blocks; `merged` (0 to 1) of the others have come
    """

    share: ClassVar[float] = 1.0
    lanes: Lanes
    first: bool
    counts: I32
    counted: I32
    total: I64
    merged: float

    def need(self, stage: Stage, width: float) -> Need:
        """Room for lanes, counters and bars."""
        return Need(_LEAST * stage.text(14), _LEAST * stage.text(14))

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Lanes, bands, counters, bars, and the numbers of the bins."""
        view, lanes = self._view(stage, area), self.lanes
        yield from self._names(stage, view)
        most = max(int(self.counted.max()), 2)
        pixels = heat(stage.palette, self.counts.ravel().astype(np.int64), most)
        yield Raster(view.area, pixels.reshape(*self.counts.shape, 4), self._tip)
        yield from self._bands(stage, view)
        yield from lane_row(stage, view.lanes, lanes.active, lanes.going, lanes.tip)
        if self.first and lanes.going.any():
            cells = self._targets(view)[lanes.going]
            grown = cells + np.array([-2, -2, 4, 4], np.float32)
            yield Boxes(cells, stage.palette.lanes[lanes.going])
            yield Boxes(grown, stroke=stage.palette.outline, stroke_width=1.5, radius=2)
        yield from self._bars(stage, view)

    def _view(self, stage: Stage, area: Rect) -> _View:
        size, (copies, bins) = stage.text(14), self.counts.shape
        gap, axis = size * 0.7, size * 1.4
        names = max(text_width(t, size) for t in (tr("lane"), tr("bin"), tr("copies"))) + gap
        inner = area.beside(names)[1]
        row, rest = inner.above(min(26 * stage.scale, inner.height * 0.11))
        tall = max(rest.height * (0.3 if copies >= _MANY else 0.07), 10.0)
        high = rest.height * (0.26 if copies >= _MANY else 0.36)
        bars = Rect(rest.x, rest.bottom - axis - high, rest.width, high)
        cells = Rect(rest.x, bars.y - tall - size * 0.3, rest.width, tall)
        columns = grid(bars, 1, bins, 1.0 if rest.width > bins * 4 else 0.0)
        return _View(inner.x - gap, lane_boxes(row), cells, columns, rest.bottom - axis * 0.45)

    def _tip(self, row: int, column: int) -> str:
        count = int(self.counts[row, column])
        if len(self.counts) == 1:
            return tr("bin {bin}: {n} so far", bin=column, n=count)
        return tr("copy {copy} of bin {bin}: {n} so far", copy=row, bin=column, n=count)

    def _targets(self, view: _View) -> F32:
        """(32, 4) the counters that the lanes go to."""
        copies, bins = self.counts.shape
        wide, tall = view.area.width / bins, view.area.height / copies
        x, y = view.area.x + self.lanes.bin * wide, view.area.y + self.lanes.copy * tall
        size = np.full_like(x, wide), np.full_like(y, tall)
        return np.stack([x, y, *size], axis=1).astype(np.float32)

    def _bands(self, stage: Stage, view: _View) -> Iterator[Mark]:
        """From lanes to counters: thin once asked for, full while a turn is under way."""
        active, palette = self.lanes.active, stage.palette
        lanes, cells = view.lanes[active], self._targets(view)[active]
        below = np.stack([lanes[:, 0] + lanes[:, 2] / 2, lanes[:, 1] + lanes[:, 3] + 3], axis=1)
        curves = bands(below, centers(cells))
        colors, come = palette.lanes[active], self.lanes.progress[active]
        done, going, waits = come >= 1, (come > 0) & (come < 1), come <= 0
        asked = np.full(int(waits.sum()), float(smooth(self.lanes.asked)))
        thin = 1.2 * stage.scale
        yield Curves(curves[done], palette.soft(colors[done], 0.35 if self.first else 0.55), thin)
        yield Curves(partly(curves[waits], asked), palette.soft(colors[waits], 0.65), thin)
        yield Curves(
            partly(curves[going], smooth(come[going] * 1.6)), colors[going], 2.5 * stage.scale
        )

    def _bars(self, stage: Stage, view: _View) -> Iterator[Mark]:
        """The block's bins as bars; those of the other blocks come on top of them."""
        palette, merged = stage.palette, float(smooth(self.merged))
        block, whole = self.counts.sum(axis=0), self.counted.sum(axis=0)
        most = float(whole.max()) * (1 - merged) + float(self.total.max()) * merged
        unit, bottom = view.bars[:, 3] / most, view.bars[:, 1] + view.bars[:, 3]
        mine, rest = block * unit, (self.total - whole) * merged * unit
        low, high = view.bars.copy(), view.bars.copy()
        low[:, 1], low[:, 3] = bottom - mine, mine
        high[:, 1], high[:, 3] = bottom - mine - rest, rest

        def tip(i: int) -> str:
            return tr(
                "bin {bin}: {n} in block 0, {all} in all", bin=i, n=block[i], all=self.total[i]
            )

        yield Boxes(low, palette.accent, tip=tip)
        yield Boxes(high, palette.soft(palette.accent, 0.5), tip=tip)
        line = Rect(view.area.x, float(bottom[0]), view.area.width, 1.0)
        yield Boxes(line.array(), palette.border)
        yield self._axis(stage, view)

    def _axis(self, stage: Stage, view: _View) -> Texts:
        """The bins' numbers, as many as there is room for."""
        size, bins = stage.text(14), len(view.bars)
        room, pitch = text_width(str(bins), size) + size * 0.5, float(view.bars[0, 2] + 1)
        every = next(k for k in (1, 2, 4, 8, 16, 32, 64) if k * pitch > room)
        middle = view.bars[::every, 0] + view.bars[::every, 2] / 2
        at = np.stack([middle, np.full_like(middle, view.axis)], axis=1).astype(np.float32)
        return Texts(
            at, tuple(map(str, range(0, bins, every))), stage.palette.muted, size, "center"
        )

    def _names(self, stage: Stage, view: _View) -> Iterator[Mark]:
        """What the rows are."""
        size, muted = stage.text(14), stage.palette.muted
        lanes = float(view.lanes[0, 1] + view.lanes[0, 3] / 2)
        yield label(view.names, lanes, tr("lane"), muted, size, align="right")
        yield label(view.names, view.axis, tr("bin"), muted, size, align="right")
        if len(self.counts) > 1:
            y = view.area.center[1]
            yield label(view.names, y, tr("copies"), muted, size, align="right")
