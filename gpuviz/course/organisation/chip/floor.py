"""A chip's floor plan under a camera: multiprocessors, blocks, warps, lanes, words of memory.

Everything has its place in one plane, each thing inside the one it belongs to; the camera is a
rectangle of that plane.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from gpuviz.base.arrays import F32, F64, I64, Bool, Rgba
from gpuviz.draw.layout import Rect, centers, grid
from gpuviz.draw.marks import Boxes, Mark, Texts, Tip
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Need, Panel
from gpuviz.recordings.measurement import Placement, slots_of
from gpuviz.run.run import Run
from gpuviz.traces.trace import LANES
from gpuviz.words.language import grouped, tr

DEPTHS = 4  # steps of the camera: chip, multiprocessor, block, warp, lane
_WORDS = 8  # of a sector
_BLOCK, _SMALL = 0.9, 12.0  # parts of a slot that a block takes; pixels
_LEAST = 15.0  # letters wide and high
_WIDE = 1.9  # of a chip's plan: so many times as wide as high


@dataclass(frozen=True, eq=False)
class Chip(Panel):
    """The plan at one moment."""

    share: ClassVar[float] = 1.0
    # sms, slots: multiprocessors, and blocks that each has room for.
    sms: int
    slots: int
    # block, sm, slot: (R,) the blocks that are there now.
    block: I64
    sm: I64
    slot: I64
    age: F64  # (R,) how much of its time each has had, 0 to 1
    served: I64  # (sms,) how many blocks each multiprocessor has finished
    # The block that the camera goes to, with its `home` (multiprocessor and slot), warps, the warp
    # and the lane that it goes on to.
    shown: int
    home: tuple[int, int]
    warps: int
    warp: int
    lane: int
    words: I64  # (32,) elements that the lanes of that warp load
    depth: float  # how far the camera has gone, 0 to DEPTHS

    def need(self, stage: Stage, width: float) -> Need:
        """Enough to tell multiprocessors apart."""
        least = _LEAST * stage.text(14)
        return Need(least, least * 0.8, least)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """From the largest things to the smallest, what is out of sight left out."""
        seen = _Camera(area, self._view())
        palette, plan = stage.palette, _plan(self.sms)
        rects, kept = seen.rects(plan)
        yield Boxes(rects, palette.panel, stroke=palette.border, radius=3, tip=self._tip(kept))
        corner = seen.cornered(rects)
        names = [tr("SM {n}", n=n) for n in kept]
        yield from _named(stage, rects, names, palette.muted, np.asarray(0.2 * corner))
        if not len(self.block) and self.served.any() and not stage.asks:
            ran = [grouped(n) for n in self.served[kept].tolist()]
            yield from _numbers(stage, rects, ran, np.tile(palette.muted, (len(ran), 1)))
        yield from self._blocks(stage, seen, plan)
        if self.depth > 1:
            yield from self._warps(stage, seen)

    def _tip(self, kept: I64) -> Tip:
        here = np.bincount(self.sm, minlength=self.sms)
        return lambda i: tr(
            "multiprocessor {n}: {here} of {slots} blocks here, {done} finished",
            n=kept[i],
            here=here[kept[i]],
            slots=self.slots,
            done=grouped(int(self.served[kept[i]])),
        )

    def _blocks(self, stage: Stage, seen: _Camera, plan: F32) -> Iterator[Mark]:
        """The blocks that are there: the longer, the stronger; the one shown outlined."""
        palette = stage.palette
        if not len(self.block):
            return
        places = _inside(plan[self.sm], self.slot, self.slots)
        rects, kept = seen.rects(places)
        rects = _apart(rects)
        fill = palette.state(np.tile(palette.load, (len(kept), 1)), 0.35 + 0.65 * self.age[kept])
        mine = self.block[kept] == self.shown
        if self.depth > 1:
            fill[mine] = palette.cell
        names = self.block[kept]
        yield Boxes(rects, fill, radius=2, tip=lambda i: tr("block {n}", n=grouped(int(names[i]))))
        edge = rects[mine]
        yield Boxes(edge, stroke=palette.accent, stroke_width=2.5, radius=3)
        words = [tr("block {n}", n=grouped(int(n))) for n in names]
        mined = np.where(mine & (self.depth > 1), 0.18, 0.7) * seen.cornered(rects)
        yield from _named(stage, rects, words, palette.ink_on(fill), mined)

    def _warps(self, stage: Stage, seen: _Camera) -> Iterator[Mark]:
        """The warps of the block shown, their lanes, and the words that one of them loads."""
        palette = stage.palette
        rows = self._rows()
        rects, kept = seen.rects(rows)
        yield Boxes(rects, palette.panel, stroke=palette.border, radius=3)
        heads: F64 = np.asarray(0.15 * seen.cornered(rects))
        yield from _named(stage, rects, [tr("warp {n}", n=n) for n in kept], palette.muted, heads)
        for warp in kept.tolist():
            lanes, which = seen.rects(_lanes(rows[warp]))
            fill = palette.lanes[which]
            yield Boxes(lanes, fill, radius=2, tip=_lane_tip(warp, which))
            if warp == self.warp:
                yield from _numbers(stage, lanes, [str(n) for n in which], palette.ink_on(fill))
        words, which = seen.rects(_words(rows[self.warp]))
        fill = palette.soft(palette.lanes[which], 0.35)
        yield Boxes(words, fill, stroke=palette.border, radius=1, tip=self._word_tip(which))
        said = [f"a[{grouped(int(self.words[n]))}]" for n in which]
        yield from _numbers(stage, words, said, palette.ink_on(fill))
        sectors, _ = seen.rects(_sectors(rows[self.warp]))
        yield Boxes(sectors, stroke=palette.accent, stroke_width=1.5, radius=2)
        mine = seen.rects(_lanes(rows[self.warp])[self.lane : self.lane + 1])[0]
        yield Boxes(mine, stroke=palette.outline, stroke_width=2.5, radius=3)

    def _word_tip(self, which: I64) -> Tip:
        return lambda i: tr(
            "lane {lane} loads a[{n}], sector {sector} of its request",
            lane=which[i],
            n=grouped(int(self.words[which[i]])),
            sector=which[i] // _WORDS,
        )

    def _rows(self) -> F32:
        """(warps, 4) the places of the warps of the block shown."""
        place = _inside(_plan(self.sms)[[self.home[0]]], np.array([self.home[1]]), self.slots)[0]
        x, y, wide, high = place.tolist()
        inner = Rect(x + wide * 0.04, y + high * 0.2, wide * 0.92, high * 0.76)
        return grid(inner, self.warps, 1, inner.height * 0.06 / self.warps)

    def _view(self) -> F64:
        """What the camera sees: between two of the places it goes through."""
        rows, plan = self._rows(), _plan(self.sms)
        block = _inside(plan[[self.home[0]]], np.array([self.home[1]]), self.slots)[0]
        lane, word = _lanes(rows[self.warp])[self.lane], _words(rows[self.warp])[self.lane]
        last = np.array([lane[0], lane[1], lane[2], word[1] + word[3] - lane[1]])
        last[[0, 2]] += np.array([-3.5, 7.0]) * lane[2]  # its neighbours stay in sight
        stops = [np.array([0.0, 0.0, _WIDE, 1.0]), plan[self.home[0]], block, rows[self.warp], last]
        at = min(int(self.depth), DEPTHS - 1)
        return _between(_grown(stops[at]), _grown(stops[at + 1]), self.depth - at)


@dataclass(frozen=True, eq=False)
class _Camera:
    """An area of the stage, and the part of the plane (x, y, width, height) that it shows."""

    area: Rect
    view: F64

    def rects(self, places: F32) -> tuple[F32, I64]:
        """Places on the stage, cut off at the edges, and which of them are in sight."""
        scale = np.array([self.area.width, self.area.height]) / self.view[2:]
        low = (places[:, :2] - self.view[:2]) * scale + (self.area.x, self.area.y)
        high = low + places[:, 2:] * scale
        edge = np.array([self.area.right, self.area.bottom])
        low, high = np.maximum(low, (self.area.x, self.area.y)), np.minimum(high, edge)
        seen: Bool = ((high - low) > 0.5).all(axis=1)
        rects = np.concatenate([low, high - low], axis=1)[seen]
        return rects.astype(np.float32), np.flatnonzero(seen)

    def cornered(self, rects: F32) -> F64:
        """(N,) of things on the stage, 1 where their top left corners are in sight, else 0."""
        corner = (rects[:, 0] > self.area.x) & (rects[:, 1] > self.area.y)
        return corner.astype(np.float64)


def _grown(place: F32 | F64) -> F64:
    """A place with some room around it."""
    x, y, wide, high = map(float, place)
    return np.array([x - wide * 0.03, y - high * 0.03, wide * 1.06, high * 1.06])


def _between(one: F64, other: F64, share: float) -> F64:
    """A camera on its way: as much larger or smaller in each part of the way as in any other."""
    eased = share * share * (3 - 2 * share)
    size = one[2:] ** (1 - eased) * other[2:] ** eased
    change = one[2:] - other[2:]
    part = np.where(np.abs(change) > 1e-9, (one[2:] - size) / np.where(change, change, 1), eased)
    return np.concatenate([one[:2] + (other[:2] - one[:2]) * part, size])


def _plan(sms: int) -> F32:
    """(sms, 4) multiprocessors in a plane that is _WIDE wide and 1 high."""
    columns = max(round((sms * _WIDE) ** 0.5), 1)
    rows = -(-sms // columns)
    return grid(Rect(0, 0, _WIDE, 1), rows, columns, 0.012)[:sms]


def _inside(place: F32, slot: I64, slots: int) -> F32:
    """(N, 4) slots of multiprocessors, below room for a name."""
    columns = max(round(slots**0.5), 1)
    rows = -(-slots // columns)
    row, column = np.divmod(slot, columns)
    wide, high = place[:, 2] * 0.92 / columns, place[:, 3] * 0.74 / rows
    x = place[:, 0] + place[:, 2] * 0.04 + column * wide
    y = place[:, 1] + place[:, 3] * 0.22 + row * high
    return np.stack([x, y, wide * _BLOCK, high * _BLOCK], axis=1).astype(np.float32)


def _apart(rects: F32) -> F32:
    """Small blocks begin and end at whole pixels, with one between them: gaps of a part of a pixel
    are seen in some columns, and not in others.
    """
    if not len(rects) or rects[:, 2:].min() > _SMALL:
        return rects
    low, high = rects[:, :2], rects[:, :2] + rects[:, 2:] / _BLOCK
    whole = np.round(low)
    return np.concatenate([whole, np.maximum(np.round(high) - 1 - whole, 1)], axis=1)


def _lanes(row: F32) -> F32:
    """(32, 4) the lanes of a warp: the upper part of its row."""
    x, y, wide, high = map(float, row)
    inner = Rect(x + wide * 0.1, y + high * 0.16, wide * 0.88, high * 0.3)
    return grid(inner, 1, LANES, wide * 0.003)


def _words(row: F32) -> F32:
    """(32, 4) the words of memory below the lanes that load them."""
    words = _lanes(row)
    words[:, 1] += float(row[3]) * 0.45
    return words


def _sectors(row: F32) -> F32:
    """(4, 4) around each eight words."""
    words = _words(row).reshape(-1, _WORDS, 4)
    first, last = words[:, 0], words[:, -1]
    size = np.stack([last[:, 0] + last[:, 2] - first[:, 0], first[:, 3]], axis=1)
    return np.concatenate([first[:, :2], size], axis=1)


def _lane_tip(warp: int, which: I64) -> Tip:
    return lambda i: tr("lane {lane} of warp {warp}", lane=which[i], warp=warp)


def _named(stage: Stage, rects: F32, words: list[str], ink: Rgba, head: F64) -> Iterator[Mark]:
    """Names at the top left of what is large enough; a share `head` of its height is theirs."""
    size = stage.text(14)
    wide = np.array([text_width(word, size) for word in words], np.float32)
    fits = (rects[:, 2] > wide + size) & (rects[:, 3] * head > size * 1.5)
    if fits.any():
        at = rects[fits, :2] + np.array([size * 0.5, size * 1.0], np.float32)
        said = tuple(word for word, fit in zip(words, fits, strict=True) if fit)
        yield Texts(at.astype(np.float32), said, ink if ink.ndim == 1 else ink[fits], size)


def _numbers(stage: Stage, rects: F32, words: list[str], ink: Rgba) -> Iterator[Mark]:
    """Words in the middle of cells that are large enough for all of them."""
    size = stage.text(14)
    if not words:
        return
    widest = max(text_width(word, size, True) for word in words)
    fits = (rects[:, 2] > widest + 4) & (rects[:, 3] > size * 1.3)
    if fits.any():
        said = tuple(word for word, fit in zip(words, fits, strict=True) if fit)
        yield Texts(centers(rects)[fits], said, ink[fits], size, "center", bold=True)


@dataclass(frozen=True, eq=False)
class BlockPlacement:
    """(B,) the multiprocessor and the slot in it of each block, when it came and when it left.

    `unit` is what times are in: nanoseconds as noted, or turns where all blocks last alike. `badge`
    and `sources` (wordings from the longest) say whose word it is; `measured` whether a GPU's.
    """

    sms: int
    slots: int
    sm: I64
    slot: I64
    start: F64
    end: F64
    measured: bool
    badge: str
    sources: tuple[str, ...]

    @cached_property
    def last(self) -> float:
        """When the last block leaves."""
        return float(self.end.max())

    def resident(self, now: float) -> int:
        """Blocks that are on the chip at a time."""
        return int(((self.start <= now) & (now < self.end)).sum())

    def left(self, now: float) -> int:
        """Blocks that have left."""
        return int((self.end <= now).sum())


def placed_of(run: Run, resident: int, sms: int) -> BlockPlacement:
    """Where the blocks of a run went; by the usual rule where nobody noted it.

    `resident` blocks fit a multiprocessor, of which the rule knows `sms`.
    """
    found, blocks = run.measurement, run.trace.launch.blocks
    noted = found.placement if found is not None else None
    if found is None or noted is None or len(noted.block) != blocks:
        return by_rule(blocks, resident, sms)
    order = np.argsort(noted.block)
    sm, start, end = (array[order] for array in (noted.sm, noted.start_ns, noted.end_ns))
    number = np.searchsorted(np.unique(sm), sm)
    count = max(found.device.multiprocessors, int(number.max()) + 1)
    slot = slots_of(Placement(np.arange(blocks), number, start, end))
    times = start.astype(np.float64), np.maximum(end, start + 1).astype(np.float64)
    sources = (
        tr("{device}, noting where and when blocks run: that takes time", device=found.gpu),
        tr("{device}; to note where blocks run takes time", device=found.gpu),
        found.gpu,
    )
    return BlockPlacement(
        count, int(slot.max()) + 1, number, slot, *times, True, found.badge, sources
    )


def by_rule(blocks: int, resident: int, sms: int) -> BlockPlacement:
    """Blocks dealt to multiprocessors in turn until all are full, then the next ones, all alike."""
    number, room = np.arange(blocks), max(resident, 1)
    turn = number // (sms * room)
    return BlockPlacement(
        sms,
        room,
        number % sms,
        number // sms % room,
        turn.astype(np.float64),
        (turn + 1).astype(np.float64),
        False,
        tr("model"),
        (
            tr("dealt in turn, every block as long as the others: nobody has noted where they ran"),
            tr("dealt in turn, all equally long: where they ran is not noted"),
            tr("dealt in turn, all equally long"),
        ),
    )
