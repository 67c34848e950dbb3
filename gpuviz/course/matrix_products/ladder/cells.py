"""Whose the cells of a block's tile are: what a warp of a matrix product stores, lane by lane."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import I64, Bool
from gpuviz.panels.cell_map import CellMap, Outline
from gpuviz.traces.trace import Trace
from gpuviz.words.language import tr, trn

_WORD = 4


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of its block's tile that warp 0 computes.

    Each of the rows * columns has a `lane` (-1: another warp's) and the number of the `store` that
    writes it, of so many `stores`.
    """

    tile: tuple[int, int]
    lane: I64
    store: I64
    stores: int

    @property
    def of_lane(self) -> tuple[int, int]:
        """How many rows and columns lane 0 has cells in."""
        return _extent(self.lane == 0, self.tile[1])

    @property
    def of_warp(self) -> tuple[int, int]:
        """How many rows and columns the warp has cells in."""
        return _extent(self.lane >= 0, self.tile[1])

    def per_step(self) -> str:
        """What a lane and the warp need for a step of k."""
        (a, b), (c, d) = self.of_lane, self.of_warp
        return trn(
            "A step of k: a lane multiplies {a} by {b} numbers, {n} product; the warp {c} by {d}.",
            "A step of k: a lane multiplies {a} by {b} numbers, {n} products; the warp {c} by {d}.",
            a * b, a=a, b=b, c=c, d=d,
        )  # fmt: skip

    def sums(self) -> str:
        """What a lane and the warp hold while tensor cores multiply."""
        return tr(
            "The warp has {rows} × {columns} sums in registers, {n} in each lane.",
            rows=self.of_warp[0], columns=self.of_warp[1], n=np.count_nonzero(self.lane == 0),
        )  # fmt: skip

    def map(self, name: str, stored: float, notes: bool = True) -> CellMap:
        """The tile of block 0, in the colours of the lanes of warp 0; so many stores are over."""
        rows, columns = self.tile
        size = tr("{rows} × {columns} cells", rows=rows, columns=columns)
        said = (
            tr("outlined: the cells of lane 0"),
            tr("colours: the lanes of warp 0; the rest: other warps"),
        )
        return CellMap(
            (f"{name}: {size}", name),
            rows,
            columns,
            self.lane,
            np.where(self.lane >= 0, np.clip(stored - self.store, 0.0, 1.0), 0.0),
            True,
            self._tip,
            columns / rows,
            outlines=(Outline(_runs(self.lane == 0, columns), "outline", True),),
            notes=said if notes else (),
        )

    def _tip(self, cell: int) -> str:
        row, column = divmod(cell, self.tile[1])
        if self.lane[cell] < 0:
            return tr("P[{row}][{column}] · another warp", row=row, column=column)
        return tr(
            "P[{row}][{column}] · lane {lane}, store {n}",
            row=row, column=column, lane=self.lane[cell], n=self.store[cell],
        )  # fmt: skip


def cells_of(trace: Trace, side: int) -> Cells:
    """The cells of warp 0 of block 0, from its stores to P, so many rows and columns of cells."""
    across, down, _ = trace.launch.grid
    tile = side // down, side // across
    stores = trace.of(block=0, warp=0, space="global", op="store")
    lane, store = (np.full(tile[0] * tile[1], -1, np.int64) for _ in range(2))
    for n in range(len(stores)):
        who = np.flatnonzero(stores.lanes(n))
        words = np.arange(trace.instructions[stores.instruction[n]].width // _WORD)
        buffer = trace.launch.buffer_at(int(stores.address[n][who[0]]))
        assert buffer is not None
        first = (stores.address[n][who].astype(np.int64) - buffer.address) // _WORD
        row, column = np.divmod(first[:, None] + words, side)
        at = row * tile[1] + column
        lane[at], store[at] = who[:, None], n
    return Cells(tile, lane, store, len(stores))


def _extent(cells: Bool, columns: int) -> tuple[int, int]:
    """How many rows and columns hold some of the cells."""
    row, column = np.divmod(np.flatnonzero(cells), columns)
    return len(np.unique(row)), len(np.unique(column))


def _runs(cells: Bool, columns: int) -> I64:
    """(T, 3) rows, first columns and lengths of cells side by side."""
    edges = np.diff(np.pad(cells.reshape(-1, columns).astype(np.int8), ((0, 0), (1, 1))))
    row, start = np.nonzero(edges == 1)
    end = np.nonzero(edges == -1)[1]
    return np.stack([row, start, end - start], axis=1).astype(np.int64)
