"""A tiled product replayed in another order: warp after warp, each as far as the next barrier.

The emulator runs warps in step. Between two barriers the hardware may run them in any order, for
one of which the trace says what every read of a shared tile finds there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gpuviz.arrays import F64, I64, Bool
from gpuviz.ptx.text.parser import parse
from gpuviz.scenes.matmul.reads import Words, by_turn, earlier, in_buffer, numbered_from, words
from gpuviz.trace import LANES, Trace

PartName = Literal["load", "multiply", "store", "barrier"]
_PARTS: tuple[PartName, ...] = ("load", "multiply", "store")
_WORD = 4


@dataclass(frozen=True, eq=False)
class Touch:
    """Accesses to one shared tile, or stores to P, (A,) each.

    Attributes
    ----------
    position : when, as a number in the order of the replay
    interval : barriers passed before
    thread, slot : who, and which element of the tile (of P for stores there)
    phase : which tiles the access is meant for
    line : CUDA line
    """

    position: I64
    interval: I64
    thread: I64
    slot: I64
    phase: I64
    line: I64


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

    def wrong_before(self, position: int) -> Bool:
        """(threads,) who has read something wrong before a position."""
        hit = np.zeros(len(self.value), bool)
        for tile in (self.m, self.n):
            hit[tile.reads.thread[tile.wrong & (tile.reads.position < position)]] = True
        return hit


def replay(trace: Trace, block: int, tile: int, m: F64, n: F64, last_first: bool) -> Replay:
    """The recorded block, its warps taking turns from the first on (or from the last)."""
    touched = words(trace, block)
    position = _positions(touched, last_first)
    tiles = [_tile(trace, touched, position, name, tile) for name in "MN"]
    threads = trace.launch.threads_per_block
    stores = _picked(touched, position, _is(touched, "store", "global"))
    stored = np.full(threads, -1, np.int64)
    final = in_buffer(touched.of("store", "global"), "P")
    stored[final.thread] = final.address
    value = _sums(tiles[0], tiles[1], threads, (m, n), tile)
    turns = tuple(_with_barriers(tuple(_turns(tiles, stores)), barrier_lines(trace)))
    barriers = int(touched.phase.max())
    return Replay(tiles[0], tiles[1], turns, value, stored, barriers, len(stores.thread))


def _positions(touched: Words, last_first: bool) -> I64:
    """(W,) when each word is touched: interval by interval, in it warp by warp."""
    warp = touched.thread // LANES
    turn = warp.max() - warp if last_first else warp
    order = np.lexsort((np.arange(len(warp)), turn, touched.phase))
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    return position


def _is(touched: Words, op: str, space: str) -> Bool:
    fits = [i.op == op and i.space == space for i in touched.trace.instructions]
    return np.array(fits, bool)[touched.instruction]


def _picked(touched: Words, position: I64, keep: Bool) -> Touch:
    """Some of the words, their slots not yet numbered from the start of a tile."""
    some = touched.pick(keep)
    line = np.array([i.line for i in touched.trace.instructions], np.int64)[some.instruction]
    phase = earlier(some.thread)
    interval = some.phase.astype(np.int64)
    return Touch(position[keep], interval, some.thread, some.address, phase, line)


def _tile(trace: Trace, touched: Words, position: I64, name: str, tile: int) -> TileReplay:
    """The shared tile that is filled on the lines which load one matrix."""
    loads = in_buffer(touched.of("load", "global"), name)
    line = np.array([i.line in loads.lines for i in trace.instructions], bool)
    filled = _is(touched, "store", "shared") & line[touched.instruction]
    base = int(touched.address[filled].min())
    inside = (touched.address >= base) & (touched.address < base + tile * tile * _WORD)
    slot = numbered_from(touched, base).address
    stores = replace(_picked(touched, position, filled), slot=slot[filled])
    keep = _is(touched, "load", "shared") & inside
    reads = replace(_picked(touched, position, keep), slot=slot[keep])
    # A thread reads each of its slots once in a phase.
    reads = replace(reads, phase=earlier(reads.thread * tile * tile + reads.slot))
    which = _latest(stores, reads)
    source = by_turn(loads, int(stores.phase.max()) + 1, trace.launch.threads_per_block)
    found = np.where(which < 0, -1, stores.phase[which])
    element = np.where(which < 0, -1, source[stores.phase[which], stores.thread[which]])
    k = reads.slot % tile if name == "M" else reads.slot // tile
    return TileReplay(name, base, stores, reads, found, element, k)


def _latest(stores: Touch, reads: Touch) -> I64:
    """(R,) the store that each read finds the value of, -1 for none."""
    span = int(max(stores.position.max(), reads.position.max())) + 1
    order = np.lexsort((stores.position, stores.slot))
    keys = (stores.slot * span + stores.position)[order]
    at = np.searchsorted(keys, reads.slot * span + reads.position) - 1
    which = order[np.maximum(at, 0)]
    return np.where((at >= 0) & (stores.slot[which] == reads.slot), which, -1)


def _sums(m: TileReplay, n: TileReplay, threads: int, values: tuple[F64, F64], tile: int) -> F64:
    """(threads,) the sums of the products of what is found; nothing there counts as zero."""
    steps = (int(m.reads.phase.max()) + 1) * tile
    factors = []
    for one, value in zip((m, n), values, strict=True):
        table = np.zeros((threads, steps))
        got = np.where(one.element < 0, 0.0, value.ravel()[one.element])
        table[one.reads.thread, one.reads.phase * tile + one.k] = got
        factors.append(table)
    return np.asarray((factors[0] * factors[1]).sum(axis=1))


def _turns(tiles: list[TileReplay], stores: Touch) -> Iterator[Turn]:
    """Accesses that follow each other, of one warp, for one purpose.

    A store to P between two steps of the inner loop belongs to the multiplication.
    """
    kinds = [(0, tile.stores) for tile in tiles] + [(1, tile.reads) for tile in tiles]
    every = [*kinds, (2, stores)]
    position, interval, thread, phase, line = (
        np.concatenate([getattr(touch, name) for _, touch in every])
        for name in ("position", "interval", "thread", "phase", "line")
    )
    part = np.concatenate([np.full(len(touch.thread), kind) for kind, touch in every])
    warp, last = thread // LANES, part == 2
    inner = last & (stores_each(stores) > 1)
    part[inner] = 1
    phase[last] = -1
    order = np.argsort(position, kind="stable")
    rows = np.stack([interval, warp, part])[:, order]
    cuts = np.flatnonzero((np.diff(rows, axis=1) != 0).any(axis=0)) + 1
    for group in np.split(order, cuts):
        first, end = group[0], group[-1]
        known = phase[group][phase[group] >= 0]
        meant = int(known.max()) if len(known) else -1
        yield Turn(
            int(interval[first]),
            int(warp[first]),
            _PARTS[int(part[first])],
            meant,
            int(position[first]),
            int(position[end]) + 1,
            int(line[end]),
        )


def stores_each(stores: Touch) -> int:
    """How often each thread stores its element of P."""
    return int(stores.phase.max()) + 1


def _with_barriers(turns: tuple[Turn, ...], lines: tuple[int, ...]) -> Iterator[Turn]:
    """The turns, with a barrier wherever the interval changes."""
    for turn, after in zip(turns, (*turns[1:], None), strict=True):
        yield turn
        for _ in range(after.interval - turn.interval if after else 0):
            line = next((n for n in lines if n > turn.line), lines[0] if lines else 0)
            yield Turn(turn.interval, -1, "barrier", turn.phase, turn.last, turn.last, line)


def barrier_lines(trace: Trace) -> tuple[int, ...]:
    """CUDA lines of the barriers that the compiler was given, in order."""
    bodies = (function.body for function in parse(trace.ptx).functions)
    return tuple(
        sorted({i.line for body in bodies for i in body if i.opcode.name in ("bar", "barrier")})
    )
