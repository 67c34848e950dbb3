"""One block of a matrix product, naive and tiled: what its threads read, moment by moment."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.base.arrays import F64, I64, Bool
from gpuviz.course.together.matmul_common.reads import (
    Costs,
    Naive,
    TiledReads,
    TileReads,
    barrier_lines,
    costs,
    earlier,
    naive_reads,
    tally,
    tiled_reads,
)
from gpuviz.course.together.matmul_common.sizes import Sizes, block_of, sizes_of, thread_of
from gpuviz.draw.ease import ticking
from gpuviz.memory.counts import Count
from gpuviz.run.run import Run
from gpuviz.story.lesson import Values

PartName = Literal["load M", "load N", "loaded", "multiply", "multiplied", "store", "result"]
SECONDS: dict[PartName, float] = {
    "load M": 1.3,
    "load N": 1.3,
    "loaded": 0.7,
    "multiply": 1.0,
    "multiplied": 0.7,
    "store": 1.2,
    "result": 2.0,
}
LASTING = 8.5, 24.0  # seconds; stories are told slower or faster to last so long


@dataclass(frozen=True)
class Moment:
    """A part of a phase, at one k while it multiplies."""

    part: PartName
    phase: int
    k: int
    sizes: Sizes

    @property
    def tiles(self) -> tuple[int, int]:
        """Tiles of M and of N that have been loaded before it."""
        later = {"load M": 0, "load N": 1}.get(self.part, 2)
        return self.phase + (later > 0), self.phase + (later > 1)

    @property
    def multiplied(self) -> int:
        """Values of k of its phase that are over before it."""
        if self.part in ("load M", "load N", "loaded"):
            return 0
        return self.k if self.part == "multiply" else self.sizes.tile

    @property
    def naive(self) -> int:
        """Steps that the naive kernel has made before it when it multiplies in time with this."""
        return min(self.phase * self.sizes.tile + self.multiplied, self.sizes.inner)

    @property
    def step(self) -> int:
        """The naive kernel's step that is made now, -1 for none."""
        now = self.phase * self.sizes.tile + self.k
        return now if self.part == "multiply" and now < self.sizes.inner else -1

    @property
    def seen(self) -> int:
        """Steps of the naive kernel that are over or under way."""
        return self.naive + (self.step >= 0)


def moments(sizes: Sizes, phases: int | None = None) -> Iterator[Moment]:
    """All of the tiled kernel, with as many phases as it makes (None: all there should be)."""
    count = sizes.phases if phases is None else phases
    for phase in range(count):
        yield Moment("load M", phase, 0, sizes)
        yield Moment("load N", phase, 0, sizes)
        yield Moment("loaded", phase, 0, sizes)
        yield from (Moment("multiply", phase, k, sizes) for k in range(sizes.tile))
        yield Moment("multiplied", phase, sizes.tile, sizes)
    yield Moment("store", count - 1, sizes.tile, sizes)
    yield Moment("result", count - 1, sizes.tile, sizes)


def naive_moments(sizes: Sizes) -> Iterator[Moment]:
    """All of the naive kernel, which makes the same steps without phases."""
    for k in range(sizes.inner):
        yield Moment("multiply", k // sizes.tile, k % sizes.tile, sizes)
    yield Moment("store", sizes.phases - 1, sizes.tile, sizes)
    yield Moment("result", sizes.phases - 1, sizes.tile, sizes)


@dataclass(frozen=True, eq=False)
class Operand:
    """M or N: how often the watched block has read its elements, in both kernels."""

    # name, shape, padded: "M" or "N"; rows and columns, and those rounded up to whole tiles.
    name: Literal["M", "N"]
    shape: tuple[int, int]
    padded: tuple[int, int]
    tile: TileReads  # loads and reads of its shared tile
    tiled: I64  # (phases + 1, E) global reads of the tiled kernel before each phase and in all
    naive: I64  # (inner + 1, E) global reads of the naive kernel before each step and in all
    # (phases, tile + 1, tile * tile) reads of each slot in a phase, before each k and in all.
    shared: I64
    held: I64  # (phases, tile * tile) element in each slot, -1 for a zero put there by a guard lane
    origin: I64  # (phases, 2) row and column of the tile's first element
    naive_reads: I64  # (inner, T) element each thread of the naive kernel reads at each step
    value: F64  # (rows, columns)

    def written(self, element: int) -> str:
        """An element as in a program: `M[1][2]`."""
        row, column = divmod(element, self.shape[1])
        return f"{self.name}[{row}][{column}]"

    def of(self, element: int) -> float:
        """Its value."""
        return float(self.value.ravel()[element])

    @property
    def most(self) -> int:
        """The most often that either kernel reads an element."""
        return int(max(self.naive[-1].max(), self.tiled[-1].max(), 1))

    @cached_property
    def repeats(self) -> I64:
        """(inner, T) how often what a thread reads has been read before by the naive kernel."""
        return earlier(self.naive_reads)

    @cached_property
    def cells(self) -> I64:
        """(rows * columns,) the element in each cell of the padded matrix, -1 beyond its edges."""
        return cells_of(self.shape, self.padded)

    def in_tile(self, moment: Moment, share: float, landed: bool) -> tuple[int, I64, I64]:
        """Phase whose elements the tile holds (-1: none yet), (S,) elements, (S,) reads so far.

        `landed`: what is being loaded is already there.
        """
        order = ("load M", "load N")
        part = order.index(moment.part) if moment.part in order else 2
        mine = order.index(f"load {self.name}")
        fresh = part > mine or (part == mine and landed)
        phase = moment.phase if fresh else moment.phase - 1
        if phase < 0:
            none = np.zeros(self.held.shape[1], np.int64)
            return -1, none - 1, none
        done = moment.multiplied if fresh else self.shared.shape[1] - 1
        more = done + (fresh and moment.part == "multiply")
        counts = self.shared[phase]
        return phase, self.held[phase], ticking(counts[done], counts[more], share)


def cells_of(shape: tuple[int, int], padded: tuple[int, int]) -> I64:
    """(rows * columns,) the element in each cell of a padded matrix, -1 beyond its edges."""
    row, column = np.divmod(np.arange(padded[0] * padded[1]), padded[1])
    return np.where((row < shape[0]) & (column < shape[1]), row * shape[1] + column, -1)


@dataclass(frozen=True)
class Totals:
    """What a whole launch loads from global memory: elements by lanes, transactions."""

    loads: int
    sectors: int


@dataclass(frozen=True, eq=False)
class Multiplication:
    """One block of a product, both kernels."""

    sizes: Sizes
    arch: Architecture
    # block, thread: (x, y) of the block, and of the thread whose sum is followed.
    block: tuple[int, int]
    thread: tuple[int, int]
    # m, n: the operands.
    m: Operand
    n: Operand
    naive: Naive
    tiled: TiledReads
    costs: Costs  # of the requests of the tiled kernel
    product: F64  # (rows, columns), as the tiled kernel has left it
    sums: F64  # (inner + 1,) the followed thread's sum before each step and at the end
    totals: Mapping[str, Totals]  # by role
    barriers: tuple[int, ...]  # CUDA lines of the tiled kernel's barriers
    # Whether the counts are those of machine code, which may read several words at once.
    merged: bool

    @property
    def operands(self) -> tuple[Operand, Operand]:
        """M and N."""
        return self.m, self.n

    @property
    def number(self) -> int:
        """The block's number in the grid."""
        return self.block[1] * self.sizes.grid[0] + self.block[0]

    @property
    def watched(self) -> int:
        """The followed thread's number in its block."""
        return self.thread[1] * self.sizes.tile + self.thread[0]

    @property
    def element(self) -> int:
        """The element of P that the followed thread computes, -1 for a guard lane."""
        return int(self.tiled.stored[self.watched])

    @property
    def guards(self) -> Bool:
        """(T,) threads without an element of P."""
        return np.asarray(self.tiled.stored < 0)

    @property
    def phases(self) -> int:
        """Phases that the tiled kernel makes."""
        return len(self.m.held)

    def written(self, element: int) -> str:
        """An element of the product as in a program: `P[1][2]`."""
        row, column = divmod(element, self.sizes.columns)
        return f"P[{row}][{column}]"

    @property
    def noun(self) -> str:
        """What the architecture's transactions are called."""
        return "sector" if self.arch.has_sectors else "transaction"


def multiplication(values: Values, naive: Run, tiled: Run) -> Multiplication:
    """Everything about the watched block in a run of either kernel."""
    sizes, (x, y), thread = sizes_of(values), block_of(values), thread_of(values)
    arch, number = architecture(tiled.arch), y * sizes.grid[0] + x
    reads = naive_reads(naive.trace, number, sizes)
    tiles = tiled_reads(tiled.trace, number, sizes)
    value = {
        name: np.asarray(tiled.outputs[name], np.float64).reshape(sizes.shape(name))
        for name in "MNP"
    }
    m = _operand("M", sizes, tiles.m, reads.m, value["M"])
    n = _operand("N", sizes, tiles.n, reads.n, value["N"])
    return Multiplication(
        sizes,
        arch,
        (x, y),
        thread,
        m,
        n,
        reads,
        tiles,
        costs(tiled.trace, arch, number),
        value["P"],
        _sums(m, n, thread[1] * sizes.tile + thread[0]),
        {"naive": _totals(naive), "tiled": _totals(tiled)},
        barrier_lines(tiled.trace),
        tiled.level == "sass",
    )


def _operand(
    name: Literal["M", "N"], sizes: Sizes, tile: TileReads, naive: I64, value: F64
) -> Operand:
    """One factor, its reads counted."""
    shape, phases = sizes.shape(name), range(len(tile.element))
    count = shape[0] * shape[1]
    return Operand(
        name,
        shape,
        sizes.padded(name),
        tile,
        tally(tile.element, count),
        tally(naive, count),
        np.stack([tally(tile.reads[p], sizes.tile**2) for p in phases]),
        np.stack([tile.filled(p) for p in phases]),
        np.array([_origin(tile.element[p], shape[1]) for p in phases]),
        naive,
        value,
    )


def _origin(element: I64, columns: int) -> tuple[int, int]:
    """Row and column of the first of the elements that are loaded; 0, 0 when none is."""
    loaded = element[element >= 0]
    return (int(loaded.min() // columns), int((loaded % columns).min())) if len(loaded) else (0, 0)


def _sums(m: Operand, n: Operand, thread: int) -> F64:
    """(inner + 1,) products of what a thread of the naive kernel reads, summed up."""
    reads_m, reads_n = m.naive_reads[:, thread], n.naive_reads[:, thread]
    pairs = m.value.ravel()[reads_m] * n.value.ravel()[reads_n]
    return np.concatenate([[0.0], np.cumsum(np.where(reads_m < 0, 0.0, pairs))])


def _totals(run: Run) -> Totals:
    """The global loads of a run."""
    totals = run.counts.totals
    return Totals(totals[Count.GLOBAL_LOAD_BYTES] // 4, totals[Count.GLOBAL_LOAD_SECTORS])
