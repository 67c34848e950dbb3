"""What the threads of one block read and write in a matrix product, taken from its trace.

Every array holds elements by thread: an index into the matrix or the shared tile (row by row), and
-1 where a thread takes no part. T is threads in a block, `tile` its width.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.base.arrays import I32, I64, Bool
from gpuviz.base.errors import InputError
from gpuviz.course.together.matmul_common.sizes import Sizes
from gpuviz.memory.counts import costs_of
from gpuviz.memory.request_counts import measure
from gpuviz.ptx.text.parser import parse
from gpuviz.traces.trace import LANES, MemoryInstruction, Op, Space, Trace, lane_mask

_WORD = 4


@dataclass(frozen=True, eq=False)
class Words:
    """Every 4-byte word that the threads of a block touch, (W,) each, in the order of issue."""

    trace: Trace
    instruction: I32
    phase: I32
    thread: I64
    address: I64

    def pick(self, keep: Bool) -> Words:
        """Some of the words."""
        when = self.instruction[keep], self.phase[keep]
        return Words(self.trace, *when, self.thread[keep], self.address[keep])

    def are(self, op: Op, space: Space, lines: set[int] | None = None) -> Bool:
        """(W,) those touched by such instructions, on certain CUDA lines."""
        fits = [
            (i.op, i.space) == (op, space) and (lines is None or i.line in lines)
            for i in self.trace.instructions
        ]
        return np.array(fits, bool)[self.instruction]

    def of(self, op: Op, space: Space, lines: set[int] | None = None) -> Words:
        """The words touched by such instructions."""
        return self.pick(self.are(op, space, lines))

    def numbered(self, start: int, size: int) -> Words:
        """The words in so many bytes from an address, their addresses as numbers of words."""
        some = self.pick((self.address >= start) & (self.address < start + size))
        number = (some.address - start) // _WORD
        return Words(self.trace, some.instruction, some.phase, some.thread, number)

    def inside(self, name: str) -> Words:
        """The words in a buffer, their addresses as element numbers.

        Raises
        ------
        InputError : the launch has no such buffer
        """
        buffer = next((b for b in self.trace.launch.buffers if b.name == name), None)
        if buffer is None:
            raise InputError(f"the launch has no buffer {name}")
        return self.numbered(buffer.address, buffer.size)

    @property
    def lines(self) -> set[int]:
        """CUDA lines of their instructions."""
        return {self.trace.instructions[i].line for i in np.unique(self.instruction)}

    @property
    def first(self) -> MemoryInstruction:
        """The instruction that touched the first of them."""
        return self.trace.instructions[int(self.instruction[0])]

    def by_thread(self, turn: I64, turns: int) -> I64:
        """(turns, T) addresses, each in its thread's column and its own turn."""
        table = np.full((turns, self.trace.launch.threads_per_block), -1, np.int64)
        table[turn, self.thread] = self.address
        return table


def words(trace: Trace, block: int) -> Words:
    """Every word of one recorded block; a wide access counts as the words it is made of.

    Raises
    ------
    InputError : the block was not recorded
    """
    requests = trace.of(block=block)
    if not len(requests):
        raise InputError(f"the trace has no request of block {block}; record that block")
    row, lane = np.nonzero(lane_mask(requests.active))
    width = np.array([i.width for i in trace.instructions], np.int64)
    parts = np.maximum(width[requests.instruction[row]] // _WORD, 1)
    part = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    row, lane = np.repeat(row, parts), np.repeat(lane, parts)
    address = requests.address[row, lane].astype(np.int64) + part * _WORD
    thread = requests.warp[row].astype(np.int64) * LANES + lane
    return Words(trace, requests.instruction[row], requests.phase[row], thread, address)


@dataclass(frozen=True, eq=False)
class Naive:
    """The naive kernel: (inner, T) elements of M and N read at each step, (T,) stored ones of P.

    `load` and `store` are the first instructions that do so.
    """

    m: I64
    n: I64
    stored: I64
    load: MemoryInstruction
    store: MemoryInstruction


@dataclass(frozen=True, eq=False)
class TileReads:
    """One matrix and its shared tile."""

    element: I64  # (phases, T) element each thread loads from global memory
    slot: I64  # (phases, T) where in the shared tile it puts it
    reads: I64  # (phases, tile, T) slot each thread reads at each k
    load: MemoryInstruction  # the instruction that loads it

    def filled(self, phase: int) -> I64:
        """(tile * tile,) element in each slot, -1 where a guard lane has put a zero."""
        held = np.full(self.slot.shape[1], -1, np.int64)
        held[self.slot[phase]] = self.element[phase]
        return held


@dataclass(frozen=True, eq=False)
class TiledReads:
    """The tiled kernel: both matrices with their tiles, (T,) stored elements of P."""

    m: TileReads
    n: TileReads
    stored: I64
    store: MemoryInstruction
    read: MemoryInstruction


def naive_reads(trace: Trace, block: int, sizes: Sizes) -> Naive:
    """The naive kernel's reads: the k-th read of a thread is its step k."""
    touched = words(trace, block)
    loads, stores = touched.of("load", "global"), touched.of("store", "global").inside("P")
    m, n = (part.by_thread(earlier(part.thread), sizes.inner) for part in map(loads.inside, "MN"))
    return Naive(m, n, _stored(stores), loads.first, stores.first)


def tiled_reads(trace: Trace, block: int, sizes: Sizes) -> TiledReads:
    """The tiled kernel's reads, phase by phase."""
    touched = words(trace, block)
    m, n = (_tile(touched, name, sizes.tile) for name in "MN")
    stores = touched.of("store", "global").inside("P")
    return TiledReads(m, n, _stored(stores), stores.first, touched.of("load", "shared").first)


def _stored(stores: Words) -> I64:
    """(T,) the element that each thread stores."""
    return np.asarray(stores.by_thread(np.zeros(len(stores.thread), np.int64), 1)[0])


def _tile(touched: Words, name: str, tile: int) -> TileReads:
    """What becomes of one matrix: its loads, the stores on their lines, the reads of that tile."""
    loads = touched.of("load", "global")
    phases, mine = np.unique(loads.phase), loads.inside(name)
    base = tile_base(touched, name)
    stores = touched.of("store", "shared", mine.lines).numbered(base, tile * tile * _WORD)
    reads = touched.of("load", "shared").numbered(base, tile * tile * _WORD)
    k = step_of(reads.address, name, tile)
    turn = _phase_of(reads, phases) * tile + k
    return TileReads(
        mine.by_thread(_phase_of(mine, phases), len(phases)),
        stores.by_thread(_phase_of(stores, phases), len(phases)),
        reads.by_thread(turn, len(phases) * tile).reshape(len(phases), tile, -1),
        mine.first,
    )


def tile_base(touched: Words, name: str) -> int:
    """Where in shared memory the tile begins that is filled on the lines which load a matrix."""
    lines = touched.of("load", "global").inside(name).lines
    return int(touched.of("store", "shared", lines).address.min())


def step_of(slot: I64, name: str, tile: int) -> I64:
    """The step of the inner loop that reads a slot: its column in a tile of M, its row in N's."""
    return np.asarray(slot % tile if name == "M" else slot // tile)


def _phase_of(touched: Words, phases: I32) -> I64:
    """(W,) number of the load phase at or before each word."""
    return np.asarray(np.searchsorted(phases, touched.phase, side="right") - 1)


def earlier(keys: I64) -> I64:
    """How many of the numbers before each one are equal to it, in the same shape."""
    flat = keys.ravel()
    order = np.argsort(flat, kind="stable")
    before = np.empty_like(flat)
    before[order] = np.arange(len(flat)) - np.searchsorted(flat[order], flat[order])
    return before.reshape(keys.shape)


def tally(elements: I64, size: int) -> I64:
    """(S + 1, size) how often each element has been read before each of (S, T) steps, and in all.

    Steps and threads may be spread over any axes after the first; -1 counts nothing.
    """
    steps = elements.reshape(len(elements), -1)
    counts = np.zeros((len(steps) + 1, size + 1), np.int64)
    step = np.broadcast_to(np.arange(1, len(steps) + 1)[:, None], steps.shape)
    np.add.at(counts, (step, steps), 1)  # -1 goes to the spare last column
    return np.asarray(np.cumsum(counts[:, :-1], axis=0))


def barrier_lines(trace: Trace) -> tuple[int, ...]:
    """CUDA lines of the barriers that the compiler was given, in order."""
    bodies = (function.body for function in parse(trace.ptx).functions)
    return tuple(
        sorted({i.line for body in bodies for i in body if i.opcode.name in ("bar", "barrier")})
    )


@dataclass(frozen=True, eq=False)
class Costs:
    """What each request of a block takes: transactions, or wavefronts in shared memory.

    `instruction`, `phase` (that of the tiles loaded last) and `cost` are (R,).
    """

    trace: Trace
    block: int
    instruction: I32
    phase: I64
    cost: I64

    def of(self, made: MemoryInstruction, phase: int | None = None) -> tuple[int, int]:
        """Requests and their cost, of all instructions like one on its CUDA line, in one phase or
        in all.
        """
        kind = made.op, made.space, made.line
        alike = [(i.op, i.space, i.line) == kind for i in self.trace.instructions]
        fits = np.array(alike, bool)[self.instruction]
        fits &= True if phase is None else self.phase == phase
        return int(fits.sum()), int(self.cost[fits].sum())

    def by_step(self, steps: int) -> I64:
        """(steps, 2) requests and their cost for each step of a naive kernel.

        The k-th load of a warp from one buffer is its step k; a wide load counts where it begins.
        """
        trace, requests = self.trace, self.trace.of(block=self.block)
        table, turn = np.zeros((steps, 2), np.int64), dict[tuple[int, str], int]()
        for row in range(len(requests)):
            made = trace.instructions[requests.instruction[row]]
            if (made.op, made.space) != ("load", "global"):
                continue
            buffer = trace.launch.buffer_at(int(requests.address[row, requests.lanes(row)][0]))
            key = int(requests.warp[row]), buffer.name if buffer else ""
            step = turn.get(key, 0)
            table[step] += 1, self.cost[row]
            turn[key] = step + max(made.width // _WORD, 1)
        return table


def costs(trace: Trace, arch: Architecture, block: int) -> Costs:
    """What each request of a recorded block takes on an architecture."""
    requests = trace.of(block=block)
    kinds = [(i.space, i.op, i.width, i.path) for i in trace.instructions]
    cost = np.zeros(len(requests), np.int64)
    for kind in set(kinds):
        same = np.array([k == kind for k in kinds], bool)[requests.instruction]
        instruction = trace.instructions[kinds.index(kind)]
        active = lane_mask(requests.active[same])
        counts = measure(arch, instruction, requests.address[same], active)
        cost[same] = counts[costs_of(instruction)]
    loads = np.unique(trace.of(block=block, space="global", op="load").phase)
    phase = np.searchsorted(loads, requests.phase, side="right") - 1
    return Costs(trace, block, requests.instruction, phase, cost)
