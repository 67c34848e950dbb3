"""A warp's lanes as tokens that queue at the counters they count in, and the bars they become."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from gpuviz.base.arrays import F32, F64, I32, I64, Bool
from gpuviz.draw.ease import smooth, staggered
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, centers, grid
from gpuviz.draw.marks import Boxes, Lines, Mark, Raster, Texts
from gpuviz.draw.matrix import heat
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.draw.volume import numbers
from gpuviz.draw.warp import lane_boxes, lane_row
from gpuviz.panels.panel import Need, Panel
from gpuviz.traces.trace import LANES
from gpuviz.words.language import tr

_LEAST = 14.25  # letters high
_MANY = 8  # copies from which they take as much room as the bars
_TOKEN = 1.7  # letters: how large a token is at most
_FEW_LEVELS = 4  # that a queue has room for at least
_PART = 0.6  # of the time of a turn, in which a token falls; in the rest the queue moves up


@dataclass(frozen=True, eq=False)
class Lanes:
    """The lanes of a request, (32,) each: whether it takes part, in which copy of which bin it
    counts, and in which turn it is served. `asked` (0 to 1) of the tokens have joined their queues,
    `served` turns are over, the fraction being the one under way.
    """

    active: Bool
    bin: I64
    copy: I64
    turn: I64
    asked: float
    served: float
    tip: Callable[[int], str]

    @property
    def now(self) -> Bool:
        """The lanes whose turn it is."""
        share = self.served - self.turn
        return self.active & (share > 0) & (share < 1)

    @cached_property
    def beside(self) -> tuple[I64, I64]:
        """(32,) how many lower lanes are served with a lane at the same counter, and how many
        lanes there are in all.
        """
        key = np.stack([self.bin, self.copy, self.turn, ~self.active], axis=1)
        same = (key[:, None] == key[None]).all(-1)
        return np.asarray(np.tril(same, -1).sum(1)), np.asarray(same.sum(1))

    @cached_property
    def before(self) -> I64:
        """(32,) how many lanes have counted in the same bin before, or have just been beside."""
        same = (self.bin[:, None] == self.bin[None]) & self.active[None]
        earlier = self.turn[None] < self.turn[:, None]
        level = (self.turn[None] == self.turn[:, None]) & np.tri(LANES, k=-1, dtype=bool)
        return np.asarray((same & (earlier | level)).sum(1))


class _View(NamedTuple):
    """Where everything goes: (32, 4) lanes, queues, counters, (B, 4) columns for bars, anchors."""

    names: float
    lanes: F32
    queue: Rect
    cells: Rect
    bars: F32
    axis: float
    token: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Queues(Panel):
    """Lanes above, their tokens in queues over the bins, and what has been counted below."""

    share: ClassVar[float] = 1.0
    lanes: Lanes  # of the request under way
    first: bool  # whether it is the one told turn by turn: its tokens pile up in the bins
    grown: float  # how far the piled tokens have become the bars of a whole block (0 to 1)
    counts: I32  # (copies, bins) now, `counted` when the block is over
    counted: I32
    total: I64  # (bins,) of all blocks; `merged` (0 to 1) of the others have come
    merged: float
    others: str = ""  # what is to be said of bins that are not drawn, ""

    def need(self, stage: Stage, width: float) -> Need:
        """Room for lanes, queues, counters and bars."""
        return Need(_LEAST * stage.text(14), _LEAST * stage.text(14))

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Lanes, counters, bars, tokens, and the numbers of the bins."""
        view, lanes = self._view(stage, area), self.lanes
        yield from self._names(stage, view)
        if len(self.counts) > 1:
            most = max(int(self.counted.max()), 2)
            pixels = heat(stage.palette, self.counts.ravel().astype(np.int64), most)
            yield Raster(view.cells, pixels.reshape(*self.counts.shape, 4), self._tip)
        yield from self._bars(stage, view)
        yield from lane_row(stage, view.lanes, lanes.active, lanes.now, lanes.tip)
        yield from self._tokens(stage, view)

    def _view(self, stage: Stage, area: Rect) -> _View:
        size, (copies, bins) = stage.text(14), self.counts.shape
        gap, axis = size * 0.7, size * 1.4
        names = max(text_width(t, size) for t in (tr("lane"), tr("queue"), tr("copies"))) + gap
        inner = area.beside(names)[1]
        row, rest = inner.above(min(26 * stage.scale, inner.height * 0.11), size * 0.5)
        low = rest._replace(height=rest.height - axis)
        tall = 0.0 if copies == 1 else low.height * (0.34 if copies >= _MANY else 0.12)
        queue, below = low.above((low.height - tall) * 0.52)
        cells, bars = below.above(tall, size * 0.4 if copies > 1 else 0.0)
        columns = grid(bars, 1, bins, 1.0 if rest.width > bins * 4 else 0.0)
        levels = max(int(self.lanes.turn.max()) + 1, _FEW_LEVELS)
        lanes = lane_boxes(row)
        wide = min(float(columns[0, 2]), float(lanes[0, 2]), _TOKEN * size)
        token = wide, max(min(wide, queue.height / (levels + 0.3)), 2.0)
        return _View(inner.x - gap, lanes, queue, cells, columns, rest.bottom - axis * 0.45, token)

    def _tip(self, row: int, column: int) -> str:
        return tr(
            "copy {copy} of bin {bin}: {n} so far", copy=row, bin=column, n=self.counts[row, column]
        )

    def _tokens(self, stage: Stage, view: _View) -> Iterator[Mark]:
        """Each on its way: from its lane into the queue, up in the queue, down into its bin."""
        lanes, palette = self.lanes, stage.palette
        landed = lanes.served - lanes.turn >= _PART
        shown = lanes.active & ~(landed & (not self.first or len(self.counts) > 1))
        if self.grown > 0 and self.first:
            shown &= ~landed
        if lanes.asked <= 0 or not shown.any():
            return
        rects = self._places(view)[shown]
        fill = palette.lanes[shown]
        which = np.flatnonzero(shown)
        yield Boxes(rects, fill, radius=2, tip=lambda i: lanes.tip(int(which[i])), lanes=which)
        rest = ~lanes.now[shown] & (lanes.beside[1][shown] == 1) & (lanes.asked >= 1)
        if (lanes.served % 1) <= _PART:  # queues do not move up
            yield from numbers(stage, rects[rest], which[rest], fill[rest])
        now = rects[lanes.now[shown]]
        if len(now):
            grown = now + np.array([-2, -2, 4, 4], np.float32)
            yield Boxes(grown, stroke=palette.outline, stroke_width=1.5, radius=3)

    def _places(self, view: _View) -> F32:
        """(32, 4) where the tokens are."""
        lanes, (width, token) = self.lanes, view.token
        number, many = lanes.beside
        wide = np.minimum(width, view.bars[lanes.bin, 2] / many)
        left = view.bars[lanes.bin, 0] + (view.bars[lanes.bin, 2] - wide * many) / 2
        x = left + number * wide
        gone = np.floor(lanes.served) + smooth((lanes.served % 1 - _PART) / (1 - _PART))
        level = np.maximum(lanes.turn - gone, 0)
        waits = view.queue.bottom - (level + 1) * token
        start = view.lanes[:, 0] + (view.lanes[:, 2] - width) / 2
        joined = smooth(staggered(lanes.asked, LANES, 0.9))
        x = start + (x - start) * joined
        y = view.lanes[:, 1] + (waits - view.lanes[:, 1]) * joined
        fallen = smooth(np.clip((lanes.served - lanes.turn) / _PART, 0, 1)) ** 1.5
        y = y + (self._floor(view) - y) * fallen
        alone = view.bars[lanes.bin, 0] + (view.bars[lanes.bin, 2] - width) / 2
        x, wide = x + (alone - x) * fallen, wide + (width - wide) * fallen
        gap = np.where(wide > 5, 1.0, 0.0)
        return np.stack([x, y, wide - gap, np.full(LANES, token - 1.0)], axis=1).astype(np.float32)

    def _floor(self, view: _View) -> F64:
        """(32,) where each token comes to lie: on those before it, or in its copy of the bin."""
        copies = len(self.counts)
        bottom = float(view.bars[0, 1] + view.bars[0, 3])
        if copies > 1:
            return np.asarray(
                view.cells.y
                + (self.lanes.copy + 0.5) * view.cells.height / copies
                - view.token[1] / 2
            )
        if self.first:
            return np.asarray(bottom - (self.lanes.before + 1) * self._unit(view))
        return np.asarray(bottom - self.counts.sum(axis=0)[self.lanes.bin] * self._unit(view))

    def _unit(self, view: _View) -> float:
        """Pixels that a count of one is high: a token at first, then as the highest bar allows."""
        merged, grown = float(smooth(self.merged)), float(smooth(self.grown))
        block = float(self.counted.sum(axis=0).max())
        most = block * (1 - merged) + float(self.total.max()) * merged
        high = float(view.bars[0, 3])
        pile = min(view.token[1], high / max(int(self.lanes.before.max()) + 1, 1))
        small = high / max(most, 1.0)
        return float(np.exp(np.log(pile) * (1 - grown) + np.log(small) * grown))

    def _bars(self, stage: Stage, view: _View) -> Iterator[Mark]:
        """The block's bins as bars; those of the other blocks come on top of them."""
        palette, merged = stage.palette, float(smooth(self.merged))
        block, whole = self.counts.sum(axis=0), self.counted.sum(axis=0)
        unit, bottom = self._unit(view), view.bars[:, 1] + view.bars[:, 3]
        mine, rest = block * unit, (self.total - whole) * merged * unit
        low, high = view.bars.copy(), view.bars.copy()
        low[:, 1], low[:, 3] = bottom - mine, mine
        high[:, 1], high[:, 3] = bottom - mine - rest, rest

        def tip(i: int) -> str:
            return tr(
                "bin {bin}: {n} in block 0, {all} in all", bin=i, n=block[i], all=self.total[i]
            )

        piled = self.first and self.grown <= 0 and len(self.counts) == 1
        yield Boxes(low, None if piled else palette.accent, tip=tip)
        yield Boxes(high, palette.soft(palette.accent, 0.5), tip=tip)
        x, right = float(view.bars[0, 0]), float(view.bars[-1, 0] + view.bars[-1, 2])
        line = np.array([[[x, bottom[0]], [right, bottom[0]]]], np.float32)
        yield Lines(line, palette.border, 1.5)
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
        named = [
            (tr("lane"), float(centers(view.lanes)[0, 1])),
            (tr("queue"), view.queue.bottom - view.token[1] / 2),
            (tr("bin"), view.axis),
        ]
        if len(self.counts) > 1:
            named.append((tr("copies"), view.cells.center[1]))
        for text, y in named:
            yield label(view.names, y, text, muted, size, align="right")
        if self.others:
            x, y = float(view.bars[-1, 0] + view.bars[-1, 2]), float(view.bars[0, 1]) + size * 0.6
            yield label(x, y, self.others, muted, size, align="right")
