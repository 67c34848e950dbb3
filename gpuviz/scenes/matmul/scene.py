"""A tiled and a naive matrix product side by side: all that their pictures select from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.arrays import F64, I64, Bool
from gpuviz.memory.counts import Count
from gpuviz.runners.base import Run
from gpuviz.scenes.matmul.reads import (
    Costs,
    Naive,
    Sizes,
    Tiled,
    TileReads,
    costs,
    naive_reads,
    tally,
    tiled_reads,
)
from gpuviz.scenes.matmul.time import Moment, moments


@dataclass(frozen=True, eq=False)
class Operand:
    """M or N: how often the watched block has read its elements, in both kernels.

    Attributes
    ----------
    name, shape, padded : "M" or "N"; rows and columns, and those rounded up to whole tiles
    tile : loads and reads of its shared tile
    tiled : (phases + 1, E) global reads of the tiled kernel before each phase and in all
    naive : (inner + 1, E) global reads of the naive kernel before each step and in all
    shared : (phases, tile + 1, tile * tile) reads of each slot in a phase, before each k and in all
    held : (phases, tile * tile) element in each slot, -1 for a zero put there by a guard lane
    origin : (phases, 2) row and column of the tile's first element
    naive_reads : (inner, T) element each thread of the naive kernel reads at each step
    value : (rows, columns)
    """

    name: str
    shape: tuple[int, int]
    padded: tuple[int, int]
    tile: TileReads
    tiled: I64
    naive: I64
    shared: I64
    held: I64
    origin: I64
    naive_reads: I64
    value: F64

    def place(self, element: int) -> tuple[int, int]:
        """Row and column of an element."""
        return divmod(element, self.shape[1])

    def written(self, element: int) -> str:
        """An element as in a program: `M[1][2]`."""
        row, column = self.place(element)
        return f"{self.name}[{row}][{column}]"

    @property
    def most(self) -> int:
        """The most often that either kernel reads an element."""
        return int(max(self.naive[-1].max(), self.tiled[-1].max(), 1))

    @property
    def is_m(self) -> bool:
        """Whether it is the left factor."""
        return self.name == "M"


@dataclass(frozen=True, eq=False)
class Totals:
    """What a whole launch loads from global memory: elements by lanes, requests, transactions."""

    loads: int
    requests: int
    sectors: int


@dataclass(frozen=True, eq=False)
class Multiplication:
    """One block of a product, both kernels.

    Attributes
    ----------
    block, thread : (x, y) of the block, and of the thread whose sum is followed
    m, n : the operands
    naive_stored, tiled_stored : (T,) element of P that each thread writes, -1 for guard lanes
    product : (rows, columns), as the tiled kernel has left it
    sums : (inner + 1,) the followed thread's sum before each step and at the end
    totals : by role
    merged : whether the counts are those of machine code, which may read several words at once
    """

    sizes: Sizes
    arch: Architecture
    block: tuple[int, int]
    thread: tuple[int, int]
    m: Operand
    n: Operand
    naive: Naive
    tiled: Tiled
    costs: Costs
    product: F64
    sums: F64
    totals: Mapping[str, Totals]
    merged: bool
    line: tuple[Moment, ...]

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

    @property
    def noun(self) -> str:
        """What the architecture's transactions are called."""
        return "sector" if self.arch.has_sectors else "transaction"


def multiplication(
    sizes: Sizes,
    block: tuple[int, int],
    thread: tuple[int, int],
    runs: Mapping[str, Run],
    arch: Architecture,
) -> Multiplication:
    """Everything about one block of the runs "naive" and "tiled"."""
    number = block[1] * sizes.grid[0] + block[0]
    naive = naive_reads(runs["naive"].trace, number, sizes)
    tiled = tiled_reads(runs["tiled"].trace, number, sizes)
    outputs = runs["tiled"].outputs
    value = {
        name: np.asarray(outputs[name], np.float64).reshape(sizes.shape(name)) for name in "MNP"
    }
    m = _operand("M", sizes, tiled.m, naive.m, value["M"])
    n = _operand("N", sizes, tiled.n, naive.n, value["N"])
    watched = thread[1] * sizes.tile + thread[0]
    return Multiplication(
        sizes,
        arch,
        block,
        thread,
        m,
        n,
        naive,
        tiled,
        costs(runs["tiled"].trace, arch, number),
        value["P"],
        _sums(m, n, watched),
        {role: _totals(run) for role, run in runs.items()},
        runs["tiled"].level == "sass",
        moments(sizes, len(tiled.m.element)),
    )


def _operand(name: str, sizes: Sizes, tile: TileReads, naive: I64, value: F64) -> Operand:
    """One factor, its reads counted."""
    shape = sizes.shape(name)
    count = shape[0] * shape[1]
    phases = range(len(tile.element))
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
    keys = (Count.GLOBAL_LOAD_BYTES, Count.GLOBAL_LOAD_REQUESTS, Count.GLOBAL_LOAD_SECTORS)
    words, requests, sectors = (totals[key] for key in keys)
    return Totals(words // 4, requests, sectors)
