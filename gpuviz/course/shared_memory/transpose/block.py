"""What one block of a transpose did, read from its trace: tiles, requests, which element is where.

An element is told by its `color`: the lane that read it from global memory. Where it is later
follows from the order of a warp's requests: what its k-th request loads, its k-th one stores.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.base.arrays import F64, I64
from gpuviz.base.errors import InputError
from gpuviz.memory.coalescing import segments
from gpuviz.memory.passes import ServedRequest, served
from gpuviz.traces.trace import LANES, Requests, Trace
from gpuviz.words.language import tr

_SPACES = {  # kinds of requests, in the order a block makes them
    "read": ("global", "load"),
    "put": ("shared", "store"),
    "get": ("shared", "load"),
    "write": ("global", "store"),
}
_TILES = {"read": "in", "put": "tile", "get": "tile", "write": "out"}
_WORD = 4


@dataclass(frozen=True)
class Tile:
    """Where requests go: rows and columns of cells, and the first element's row and column in the
    matrix of that `name` (`tile`: in shared memory).
    """

    name: str
    rows: int
    columns: int
    row: int = 0
    column: int = 0

    @property
    def cells(self) -> int:
        """How many there are."""
        return self.rows * self.columns

    @property
    def names(self) -> tuple[str, ...]:
        """What it is, and which rows and columns of its matrix, the longest wording first."""
        if self.name == "tile":
            return (
                tr("shared memory: {banks} banks side by side", banks=self.columns),
                tr("shared memory, {banks} banks", banks=self.columns),
                tr("shared memory"),
                tr("shared"),
            )
        rows = f"[{self.row}…{self.row + self.rows - 1}]"
        return f"{self.name}{rows}[{self.column}…{self.column + self.columns - 1}]", self.name

    def tip(self, cell: int) -> str:
        """What hovering a cell says."""
        row, column = divmod(cell, self.columns)
        if self.name == "tile":
            return tr("word {word} · bank {bank}", word=cell, bank=column)
        return f"{self.name}[{self.row + row}][{self.column + column}]"

    def runs(self, cells: I64) -> I64:
        """(N, 3) row, first column and columns of cells, each by itself."""
        return np.stack([*np.divmod(cells, self.columns), np.ones_like(cells)], axis=1)


SHARED = Tile("tile", 32, 32)  # where shared memory would be, in a kernel without


@dataclass(frozen=True, eq=False)
class Moves:
    """All requests of one kind of the block, in the order they were made."""

    tile: Tile  # where they go
    # cell, color: (R, 32) where each lane's element lies in the tile, row by row, and which it is.
    cell: I64
    color: I64
    mine: int  # the place of the watched warp's first request
    # That request; its transactions are (T, 3) `boxes`, row, first column and columns of each, none
    # in shared memory.
    first: ServedRequest
    boxes: I64

    @cached_property
    def color_of_cells(self) -> I64:
        """(cells,) element in each cell after all requests, -1 where there is none."""
        found = np.full(self.tile.cells, -1)
        found[self.cell] = self.color
        return found

    @cached_property
    def order_of_cells(self) -> I64:
        """(cells,) number of the request that touches each cell, past the last where none does."""
        found = np.full(self.tile.cells, len(self.cell))
        np.minimum.at(found, self.cell, np.arange(len(self.cell))[:, None])
        return found

    def served(self, share: float) -> F64:
        """(32,) how far each lane of the watched request has been served."""
        return np.clip(share * self.first.count - self.first.turn, 0.0, 1.0)

    def came(self, first: float, all_: float) -> F64:
        """(cells,) how far each element has moved: the watched request first, then all in order."""
        share: F64 = np.clip(all_ * len(self.cell) - self.order_of_cells, 0.0, 1.0)
        watched = self.cell[self.mine]
        share[watched] = np.maximum(share[watched], self.served(first))
        return share

    def wasted(self, boxes: I64) -> I64:
        """(W,) cells in transactions that no lane of the watched request asks for."""
        inside = [row * self.tile.columns + at + np.arange(n) for row, at, n in boxes.tolist()]
        return np.setdiff1d(np.concatenate(inside), self.cell[self.mine])


@dataclass(frozen=True, eq=False)
class Block:
    """The tiles and moves of a block; without shared memory there is no "tile", "put" and "get"."""

    tiles: Mapping[str, Tile]
    moves: Mapping[str, Moves]


def block_of(trace: Trace, arch: Architecture, size: int, warp: int) -> Block:
    """What the recorded block did; `size` elements in a row of the matrix; `warp` is watched."""
    every = {kind: trace.of(space=s, op=op) for kind, (s, op) in _SPACES.items()}
    rows = {  # by step, then warp
        kind: found.select(np.lexsort((found.warp, found.step)))
        for kind, found in every.items()
        if len(found)
    }
    if "read" not in rows or "write" not in rows:
        raise InputError("the trace has no requests of a block; record one")
    tiles = {
        name: _global(trace, rows[kind], name, size)
        for name, kind in (("in", "read"), ("out", "write"))
    }
    if "put" in rows:
        last = int(rows["put"].address.max()) // _WORD
        tiles["tile"] = Tile("tile", last // arch.banks + 1, arch.banks)
    colors = _colors(rows)
    moves = {
        kind: _moves(trace, arch, found, tiles[_TILES[kind]], colors[kind], size, warp)
        for kind, found in rows.items()
    }
    return Block(tiles, moves)


def _elements(trace: Trace, rows: Requests) -> I64:
    """(R, 32) element numbers within the buffer of the first address."""
    buffer = trace.launch.buffer_at(int(rows.address[0, 0]))
    if buffer is None:
        raise InputError("the block reads or writes outside of its buffers")
    return (rows.address.astype(np.int64) - buffer.address) // _WORD


def _global(trace: Trace, rows: Requests, name: str, size: int) -> Tile:
    """The part of a matrix that the block touches."""
    row, column = np.divmod(_elements(trace, rows), size)
    first = int(row.min()), int(column.min())
    return Tile(name, int(row.max()) - first[0] + 1, int(column.max()) - first[1] + 1, *first)


def _words(rows: Requests) -> I64:
    """(R, 32) words of shared memory."""
    return rows.address.astype(np.int64) // _WORD


def _colors(rows: Mapping[str, Requests]) -> dict[str, I64]:
    """(R, 32) which element each request moves, by kind."""
    colors = {"read": np.tile(np.arange(LANES), (len(rows["read"]), 1))}
    source = "read"
    if "put" in rows:
        colors["put"] = _paired(rows["read"], colors["read"], rows["put"])
        held = np.full(int(_words(rows["put"]).max()) + 1, -1)
        held[_words(rows["put"])] = colors["put"]
        colors["get"] = held[_words(rows["get"])]
        source = "get"
    colors["write"] = _paired(rows[source], colors[source], rows["write"])
    return colors


def _paired(source: Requests, color: I64, target: Requests) -> I64:
    """The colors of each warp's k-th source request for its k-th target request."""
    found = np.empty((len(target), LANES), np.int64)
    for warp in np.unique(target.warp):
        found[target.warp == warp] = color[source.warp == warp]
    return found


def _moves(
    trace: Trace, arch: Architecture, rows: Requests, tile: Tile, color: I64, size: int, warp: int
) -> Moves:
    """The requests of one kind, the watched one in detail."""
    mine = int(np.flatnonzero(rows.warp == warp)[0])
    first, boxes = served(trace, arch, rows, mine), np.zeros((0, 3), np.int64)
    if first.instruction.space == "shared":
        return Moves(tile, _words(rows), color, mine, first, boxes)
    row, column = np.divmod(_elements(trace, rows), size)
    cell = (row - tile.row) * tile.columns + column - tile.column
    did = first.instruction
    parts = segments(arch, rows.address[mine], first.active, did.width, did.op, did.path)
    lane = [int(part.lanes[0]) for part in parts]
    ahead = [(int(first.address[n]) - p.base) // _WORD for n, p in zip(lane, parts, strict=True)]
    place = np.divmod(cell[mine, lane], tile.columns)
    boxes = np.stack([place[0], place[1] - ahead, [p.size // _WORD for p in parts]], axis=1)
    return Moves(tile, cell, color, mine, first, boxes)
