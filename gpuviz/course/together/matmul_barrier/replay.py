"""A tiled product replayed in another order: warp after warp, each as far as the next barrier.

The emulator runs warps in step. Between two barriers the hardware may run them in any order, for
one of which the trace says what every read of a shared tile finds there.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from gpuviz.base.arrays import F64, I64, Bool
from gpuviz.course.together.matmul_common.reads import (
    Words,
    barrier_lines,
    earlier,
    step_of,
    tile_base,
    words,
)
from gpuviz.traces.trace import LANES, Trace

PartName = Literal["load", "multiply", "store", "barrier"]
_PARTS: tuple[PartName, ...] = ("load", "multiply", "store")
_WORD = 4


@dataclass(frozen=True, eq=False)
class Touch:
    """Accesses to one shared tile, or stores to P, (A,) each."""

    position: I64  # when, as a number in the order of the replay
    interval: I64  # barriers passed before
    # thread, slot: who, and which element of the tile (of P for stores there).
    thread: I64
    slot: I64
    phase: I64  # which tiles the access is meant for
    line: I64  # CUDA line


class Misread(NamedTuple):
    """Reads of the shared tiles: all, those that come too early, those that come too late."""

    every: int
    early: int
    late: int

    @property
    def wrong(self) -> int:
        """Those that get an element of another phase, or nothing."""
        return self.early + self.late


@dataclass(frozen=True)
class Turn:
    """What one warp does in a row, or a barrier (warp -1): positions `first` to before `last`."""

    interval: int
    warp: int
    part: PartName
    phase: int
    first: int
    last: int
    line: int

    def position(self, over: float) -> int:
        """How far the replay has come when so much of the turn is over."""
        return self.first + round(over * (self.last - self.first))


@dataclass(frozen=True, eq=False)
class TileReplay:
    """One shared tile at offset `base`: its stores and reads, and what the reads find.

    `found` is, for each read, the phase whose element it gets, -1 when nothing was there yet;
    `element` that element's number in the matrix (-1); `k` the step of the inner loop.
    """

    name: str
    base: int
    stores: Touch
    reads: Touch
    found: I64
    element: I64
    k: I64

    @property
    def wrong(self) -> Bool:
        """Reads that get the element of another phase, or none."""
        return np.asarray(self.found != self.reads.phase)

    def held(self, position: int, slots: int) -> I64:
        """(slots,) the phase of the element in each slot before a position, -1 for none."""
        now = np.full(slots, -1, np.int64)
        before = np.flatnonzero(self.stores.position < position)
        order = before[np.argsort(self.stores.position[before], kind="stable")]
        now[self.stores.slot[order]] = self.stores.phase[order]
        return now

    def reading(self, turn: Turn, position: int) -> Bool:
        """The reads of a turn in the step that is made at a position."""
        reads = self.reads
        inside = (reads.position >= turn.first) & (reads.position < turn.last)
        if turn.part != "multiply" or not inside.any():
            return np.zeros(len(inside), bool)
        far = np.where(inside, np.abs(reads.position - position), np.iinfo(np.int64).max)
        latest = int(np.argmin(far))
        same = (reads.phase == reads.phase[latest]) & (self.k == self.k[latest])
        return np.asarray(inside & same)


@dataclass(frozen=True, eq=False)
class Replay:
    """One block in the order of the replay.

    `value` is (threads,) the sum each thread ends up with; `stored` its element of P.
    """

    m: TileReplay
    n: TileReplay
    turns: tuple[Turn, ...]
    value: F64
    stored: I64
    barriers: int
    stores: int

    @property
    def tiles(self) -> tuple[TileReplay, TileReplay]:
        """Both shared tiles."""
        return self.m, self.n

    def wrong_before(self, position: int) -> Bool:
        """(threads,) who has read something wrong before a position."""
        hit = np.zeros(len(self.value), bool)
        for tile in self.tiles:
            hit[tile.reads.thread[tile.wrong & (tile.reads.position < position)]] = True
        return hit

    def misread(self, turn: Turn) -> Misread:
        """The reads of one turn, in both tiles."""
        every = early = late = 0
        for tile in self.tiles:
            inside = (tile.reads.position >= turn.first) & (tile.reads.position < turn.last)
            found, meant = tile.found[inside], tile.reads.phase[inside]
            every += len(found)
            early += int((found < meant).sum())
            late += int((found > meant).sum())
        return Misread(every, early, late)

    def read_before(self, position: float) -> tuple[I64, I64]:
        """(warps,) reads of the shared tiles before a position, and the wrong ones among them."""
        warps = -(-len(self.value) // LANES)
        every, wrong = np.zeros(warps, np.int64), np.zeros(warps, np.int64)
        for tile in self.tiles:
            before = tile.reads.position < position
            warp = tile.reads.thread // LANES
            every += np.bincount(warp[before], minlength=warps)
            wrong += np.bincount(warp[before & tile.wrong], minlength=warps)
        return every, wrong


def replay(trace: Trace, block: int, tile: int, m: F64, n: F64, last_first: bool) -> Replay:
    """The recorded block, its warps taking turns from the first on (or from the last)."""
    touched = words(trace, block)
    position = _positions(touched, last_first)
    tiles = _tile(touched, position, "M", tile), _tile(touched, position, "N", tile)
    stores = _picked(touched, position, touched.are("store", "global"))
    final = touched.of("store", "global").inside("P")
    stored = final.by_thread(np.zeros(len(final.thread), np.int64), 1)[0]
    turns = tuple(_turns(tiles, stores))
    return Replay(
        *tiles,
        tuple(_with_barriers(turns, barrier_lines(trace))),
        _sums(tiles, len(stored), (m, n), tile),
        stored,
        int(touched.phase.max()),
        len(stores.thread),
    )


def _positions(touched: Words, last_first: bool) -> I64:
    """(W,) when each word is touched: interval by interval, in it warp by warp."""
    warp = touched.thread // LANES
    turn = warp.max() - warp if last_first else warp
    position = np.empty_like(turn)
    position[np.lexsort((np.arange(len(warp)), turn, touched.phase))] = np.arange(len(warp))
    return position


def _picked(touched: Words, position: I64, keep: Bool, base: int = 0) -> Touch:
    """Some of the words, the slots being words after `base`."""
    some = touched.pick(keep)
    line = np.array([i.line for i in touched.trace.instructions], np.int64)[some.instruction]
    slot, interval = (some.address - base) // _WORD, some.phase.astype(np.int64)
    return Touch(position[keep], interval, some.thread, slot, earlier(some.thread), line)


def _tile(touched: Words, position: I64, name: Literal["M", "N"], tile: int) -> TileReplay:
    """The shared tile that is filled on the lines which load one matrix."""
    loads, base = touched.of("load", "global").inside(name), tile_base(touched, name)
    stores = _picked(touched, position, touched.are("store", "shared", loads.lines), base)
    inside = (touched.address >= base) & (touched.address < base + tile * tile * _WORD)
    reads = _picked(touched, position, touched.are("load", "shared") & inside, base)
    # A thread reads each of its slots once in a phase.
    reads = replace(reads, phase=earlier(reads.thread * tile * tile + reads.slot))
    which = _latest(stores, reads)
    source = loads.by_thread(earlier(loads.thread), int(stores.phase.max()) + 1)
    found = np.where(which < 0, -1, stores.phase[which])
    element = np.where(which < 0, -1, source[stores.phase[which], stores.thread[which]])
    return TileReplay(name, base, stores, reads, found, element, step_of(reads.slot, name, tile))


def _latest(stores: Touch, reads: Touch) -> I64:
    """(R,) the store that each read finds the value of, -1 for none."""
    span = int(max(stores.position.max(), reads.position.max())) + 1
    order = np.lexsort((stores.position, stores.slot))
    keys = (stores.slot * span + stores.position)[order]
    at = np.searchsorted(keys, reads.slot * span + reads.position) - 1
    which = order[np.maximum(at, 0)]
    return np.where((at >= 0) & (stores.slot[which] == reads.slot), which, -1)


def _sums(
    tiles: tuple[TileReplay, TileReplay], threads: int, values: tuple[F64, F64], tile: int
) -> F64:
    """(threads,) the sums of the products of what is found; nothing there counts as zero."""
    steps = (int(tiles[0].reads.phase.max()) + 1) * tile
    product = np.ones((threads, steps))
    for one, value in zip(tiles, values, strict=True):
        factor = np.zeros((threads, steps))
        got = np.where(one.element < 0, 0.0, value.ravel()[one.element])
        factor[one.reads.thread, one.reads.phase * tile + one.k] = got
        product *= factor
    return np.asarray(product.sum(axis=1))


def _turns(tiles: tuple[TileReplay, TileReplay], stores: Touch) -> Iterator[Turn]:
    """Accesses that follow each other, of one warp, for one purpose; the last store to P is of the
    last phase.
    """
    m, n = tiles
    late = stores.phase + int(m.reads.phase.max()) - int(stores.phase.max())
    touches = m.stores, n.stores, m.reads, n.reads, replace(stores, phase=late)
    part = np.repeat((0, 0, 1, 1, 2), [len(touch.thread) for touch in touches])
    rows = [np.stack([t.position, t.interval, t.thread // LANES, t.phase, t.line]) for t in touches]
    position, interval, warp, phase, line = np.concatenate(rows, axis=1)
    order = np.argsort(position, kind="stable")
    kinds = np.stack([interval, warp, part])[:, order]
    cuts = np.flatnonzero((np.diff(kinds, axis=1) != 0).any(axis=0)) + 1
    for group in np.split(order, cuts):
        first, end = group[0], group[-1]
        yield Turn(
            int(interval[first]),
            int(warp[first]),
            _PARTS[int(part[first])],
            int(phase[group].max()),
            int(position[first]),
            int(position[end]) + 1,
            int(line[end]),
        )


def _with_barriers(turns: tuple[Turn, ...], lines: tuple[int, ...]) -> Iterator[Turn]:
    """The turns, with a barrier wherever the interval changes."""
    for turn, after in zip(turns, (*turns[1:], None), strict=True):
        yield turn
        for _ in range(after.interval - turn.interval if after else 0):
            line = next((n for n in lines if n > turn.line), lines[0] if lines else 0)
            yield Turn(turn.interval, -1, "barrier", turn.phase, turn.last, turn.last, line)
