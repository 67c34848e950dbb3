"""What the threads of one block read and write in a matrix product, taken from its trace.

Every array holds elements by thread: an index into the matrix or the shared tile (row by row), and
-1 where a thread takes no part. T is threads in a block, `tile` its width.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.arrays import I32, I64, Bool
from gpuviz.errors import InputError
from gpuviz.memory.counts import costs_of
from gpuviz.memory.request_counts import measure
from gpuviz.trace import MemoryInstruction, Trace, lane_mask

_WORD = 4


@dataclass(frozen=True)
class Sizes:
    """M is rows x inner, N inner x columns, P rows x columns; blocks and tiles are tile x tile."""

    rows: int
    inner: int
    columns: int
    tile: int

    @property
    def phases(self) -> int:
        """Tiles along a row of M, the last one possibly partial."""
        return -(-self.inner // self.tile)

    @property
    def grid(self) -> tuple[int, int]:
        """Blocks in x and y."""
        return -(-self.columns // self.tile), -(-self.rows // self.tile)

    @property
    def whole(self) -> bool:
        """Whether tiles cover the matrices without a rest."""
        return not any(n % self.tile for n in (self.rows, self.inner, self.columns))

    def shape(self, name: str) -> tuple[int, int]:
        """Rows and columns of M, N or P."""
        shapes = {"M": (self.rows, self.inner), "N": (self.inner, self.columns)}
        return shapes.get(name, (self.rows, self.columns))

    def padded(self, name: str) -> tuple[int, int]:
        """Rows and columns, rounded up to whole tiles."""
        rows, columns = self.shape(name)
        return -(-rows // self.tile) * self.tile, -(-columns // self.tile) * self.tile


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
        return Words(
            self.trace,
            self.instruction[keep],
            self.phase[keep],
            self.thread[keep],
            self.address[keep],
        )

    def of(self, op: str, space: str) -> Words:
        """The words touched by such instructions."""
        fits = np.array([i.op == op and i.space == space for i in self.trace.instructions], bool)
        return self.pick(fits[self.instruction])

    def on(self, lines: set[int]) -> Words:
        """The words touched by instructions of these CUDA lines."""
        fits = np.array([i.line in lines for i in self.trace.instructions], bool)
        return self.pick(fits[self.instruction])

    def within(self, start: int, size: int) -> Words:
        """The words inside a range of addresses."""
        return self.pick((self.address >= start) & (self.address < start + size))

    @property
    def lines(self) -> set[int]:
        """CUDA lines of their instructions."""
        return {self.trace.instructions[i].line for i in np.unique(self.instruction)}

    @property
    def text(self) -> str:
        """The opcode that touched the first of them."""
        return self.first.text if len(self.instruction) else ""

    @property
    def first(self) -> MemoryInstruction:
        """The instruction that touched the first of them."""
        return self.trace.instructions[int(self.instruction[0])]


def words(trace: Trace, block: int) -> Words:
    """Every word of one recorded block; a wide access counts as the words it is made of."""
    requests = trace.of(block=block)
    if not len(requests):
        raise InputError(f"the trace has no request of block {block}; record that block")
    row, lane = np.nonzero(lane_mask(requests.active))
    width = np.array([i.width for i in trace.instructions], np.int64)
    parts = np.maximum(width[requests.instruction[row]] // _WORD, 1)
    part = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    row, lane = np.repeat(row, parts), np.repeat(lane, parts)
    address = requests.address[row, lane].astype(np.int64) + part * _WORD
    thread = requests.warp[row].astype(np.int64) * 32 + lane
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
    """One matrix and its shared tile.

    Attributes
    ----------
    element : (phases, T) element each thread loads from global memory
    slot : (phases, T) where in the shared tile it puts it
    reads : (phases, tile, T) slot each thread reads at each k
    load : the instruction that loads it
    """

    element: I64
    slot: I64
    reads: I64
    load: MemoryInstruction

    def filled(self, phase: int) -> I64:
        """(tile * tile,) element in each slot, -1 where a guard lane has put a zero."""
        held = np.full(self.slot.shape[1], -1, np.int64)
        held[self.slot[phase]] = self.element[phase]
        return held


@dataclass(frozen=True, eq=False)
class Tiled:
    """The tiled kernel: both matrices with their tiles, (T,) stored elements of P."""

    m: TileReads
    n: TileReads
    stored: I64
    store: MemoryInstruction
    read: MemoryInstruction


def naive_reads(trace: Trace, block: int, sizes: Sizes) -> Naive:
    """The naive kernel's reads: the k-th read of a thread is its step k."""
    touched = words(trace, block)
    loads, count = touched.of("load", "global"), trace.launch.threads_per_block
    m, n = (by_turn(in_buffer(loads, name), sizes.inner, count) for name in "MN")
    stores = in_buffer(touched.of("store", "global"), "P")
    return Naive(m, n, _by_thread(stores, count), loads.first, stores.first)


def tiled_reads(trace: Trace, block: int, sizes: Sizes) -> Tiled:
    """The tiled kernel's reads, phase by phase."""
    touched = words(trace, block)
    stores = touched.of("store", "global")
    count = trace.launch.threads_per_block
    m, n = (_tile(touched, name, sizes, count) for name in "MN")
    stored = _by_thread(in_buffer(stores, "P"), count)
    return Tiled(m, n, stored, stores.first, touched.of("load", "shared").first)


def in_buffer(touched: Words, name: str) -> Words:
    """The words in a buffer, their addresses as element numbers."""
    buffer = next((b for b in touched.trace.launch.buffers if b.name == name), None)
    if buffer is None:
        raise InputError(f"the launch has no buffer {name}")
    inside = touched.within(buffer.address, buffer.size)
    return numbered_from(inside, buffer.address)


def numbered_from(touched: Words, start: int) -> Words:
    """The same words, their addresses as numbers of words after `start`."""
    number = (touched.address - start) // _WORD
    return Words(touched.trace, touched.instruction, touched.phase, touched.thread, number)


def earlier(keys: I64) -> I64:
    """(K,) how many of the numbers before each one are equal to it."""
    order = np.argsort(keys, kind="stable")
    rank = np.arange(len(keys)) - np.searchsorted(keys[order], keys[order])
    before = np.empty_like(keys)
    before[order] = rank
    return before


def by_turn(touched: Words, turns: int, count: int) -> I64:
    """(turns, T) words by how many the thread has touched before."""
    table = np.full((turns, count), -1, np.int64)
    table[earlier(touched.thread), touched.thread] = touched.address
    return table


def _by_thread(touched: Words, count: int) -> I64:
    """(T,) the word each thread touches."""
    table = np.full(count, -1, np.int64)
    table[touched.thread] = touched.address
    return table


def _tile(touched: Words, name: str, sizes: Sizes, count: int) -> TileReads:
    """What becomes of one matrix: its loads, the stores on their lines, the reads of that tile."""
    loads = in_buffer(touched.of("load", "global"), name)
    phases = np.unique(touched.of("load", "global").phase)
    stores = touched.of("store", "shared").on(loads.lines)
    base = int(stores.address.min())
    reads = touched.of("load", "shared").within(base, sizes.tile**2 * _WORD)
    return TileReads(
        _by_phase(loads, phases, count),
        _by_phase(numbered_from(stores, base), phases, count),
        _by_k(numbered_from(reads, base), phases, count, sizes.tile, name),
        loads.first,
    )


def _phase_of(touched: Words, phases: I32) -> I64:
    """(W,) number of the load phase at or before each word."""
    return np.searchsorted(phases, touched.phase, side="right") - 1


def _by_phase(touched: Words, phases: I32, count: int) -> I64:
    """(phases, T) words."""
    table = np.full((len(phases), count), -1, np.int64)
    table[_phase_of(touched, phases), touched.thread] = touched.address
    return table


def _by_k(touched: Words, phases: I32, count: int, tile: int, name: str) -> I64:
    """(phases, tile, T) slots; k is the column in a tile of M, the row in one of N."""
    k = touched.address % tile if name == "M" else touched.address // tile
    table = np.full((len(phases), tile, count), -1, np.int64)
    table[_phase_of(touched, phases), k, touched.thread] = touched.address
    return table


def tally(elements: I64, size: int) -> I64:
    """(S + 1, size) how often each element has been read before each of (S, T) steps, and in all.

    Steps and threads may be spread over any axes after the first; -1 counts nothing.
    """
    steps = elements.reshape(len(elements), -1)
    counts = np.zeros((len(steps) + 1, size + 1), np.int64)
    step = np.broadcast_to(np.arange(1, len(steps) + 1)[:, None], steps.shape)
    np.add.at(counts, (step, steps), 1)  # -1 goes to the spare last column
    return np.asarray(np.cumsum(counts[:, :-1], axis=0))


@dataclass(frozen=True, eq=False)
class Costs:
    """What each request of a block takes: transactions, or wavefronts in shared memory.

    `instruction`, `phase` (that of the tiles loaded last) and `cost` are (R,).
    """

    trace: Trace
    instruction: I32
    phase: I64
    cost: I64

    def of(self, op: str, space: str, line: int, phase: int | None = None) -> tuple[int, int]:
        """Requests and their cost, of one CUDA line, in one phase or in all."""
        fits = np.array(
            [(i.op, i.space, i.line) == (op, space, line) for i in self.trace.instructions], bool
        )[self.instruction]
        fits &= True if phase is None else self.phase == phase
        return int(fits.sum()), int(self.cost[fits].sum())


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
    return Costs(trace, requests.instruction, phase, cost)


def costs_by_step(made: Costs, block: int, steps: int) -> I64:
    """(steps, 2) requests and their cost for each step of a naive kernel's block.

    The k-th load of a warp from one buffer is its step k; a wide load counts where it begins.
    """
    trace, requests = made.trace, made.trace.of(block=block)
    loads = [i.op == "load" and i.space == "global" for i in trace.instructions]
    width = np.array([i.width for i in trace.instructions], np.int64)
    table, turn = np.zeros((steps, 2), np.int64), dict[tuple[int, str], int]()
    for row in np.flatnonzero(np.array(loads, bool)[requests.instruction]).tolist():
        first = int(requests.address[row, requests.lanes(row)][0])
        buffer = trace.launch.buffer_at(first)
        key = int(requests.warp[row]), buffer.name if buffer else ""
        step = turn.get(key, 0)
        table[step] += 1, made.cost[row]
        turn[key] = step + max(int(width[requests.instruction[row]]) // _WORD, 1)
    return table
