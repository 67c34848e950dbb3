"""What one block of a transpose did, read from its trace: tiles, requests, which element is where.

An element is told by its `color`: the lane that read it from global memory. Where it is later
follows from the order of a warp's requests: what its k-th request loads, its k-th one stores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.arrays import I64
from gpuviz.errors import InputError
from gpuviz.language import tr
from gpuviz.memory.bank_request import BankRequest, one_request
from gpuviz.memory.coalescing import segments, transactions
from gpuviz.memory.transaction_names import counted as said
from gpuviz.trace import LANES, Requests, Trace

KINDS = ("read", "put", "get", "write")  # global load, shared store, shared load, global store
_WORD = 4


@dataclass(frozen=True, eq=False)
class Pass:
    """One request within its tile.

    Attributes
    ----------
    turn : (32,) transaction or wavefront that serves each lane
    count, ideal : transactions or wavefronts, and how few there could be
    boxes : (T, 3) row, first column and columns of each transaction; none in shared memory
    counted : the count with its unit, `4 sectors`
    text, line : the instruction, and its CUDA line
    banks : the request as the banks see it, None in global memory
    """

    turn: I64
    count: int
    ideal: int
    boxes: I64
    counted: str
    text: str
    line: int
    banks: BankRequest | None = None


@dataclass(frozen=True, eq=False)
class Moves:
    """All requests of one kind of the block, in the order they were made.

    `cell` (R, 32) is where each lane's element lies in the tile, row by row, `color` (R, 32) which
    element it is, `mine` the place of the watched warp's first request, told in `first`.
    """

    cell: I64
    color: I64
    mine: int
    first: Pass

    def color_of_cells(self, cells: int) -> I64:
        """(cells,) element in each cell after all requests, -1 where there is none."""
        found = np.full(cells, -1)
        found[self.cell] = self.color
        return found

    def order_of_cells(self, cells: int) -> I64:
        """(cells,) number of the request that touches each cell, past the last where none does."""
        found = np.full(cells, len(self.cell))
        for number in range(len(self.cell) - 1, -1, -1):
            found[self.cell[number]] = number
        return found


@dataclass(frozen=True, eq=False)
class Tile:
    """Where the moves take place: a name, its rows and columns of cells, and its first element."""

    name: str
    rows: int
    columns: int
    row: int = 0
    column: int = 0


@dataclass(frozen=True, eq=False)
class Block:
    """The tiles and moves of a block; without shared memory there is no "tile", "put" and "get"."""

    tiles: dict[str, Tile]
    moves: dict[str, Moves]


def block_of(trace: Trace, arch: Architecture, size: int, warp: int) -> Block:
    """What the recorded block did; `size` elements in a row of the matrix; `warp` is watched."""
    rows = {
        "read": trace.of(space="global", op="load"),
        "put": trace.of(space="shared", op="store"),
        "get": trace.of(space="shared", op="load"),
        "write": trace.of(space="global", op="store"),
    }
    if not len(rows["read"]) or not len(rows["write"]):
        raise InputError("the trace has no requests of a block; record one")
    rows = {kind: _ordered(found) for kind, found in rows.items() if len(found)}
    tiles = {
        name: _global(trace, rows[kind], name, size)
        for name, kind in (("in", "read"), ("out", "write"))
    }
    if "put" in rows:
        tiles["tile"] = _shared(rows["put"], arch)
    colors = _colors(rows)
    moves = {}
    for kind, found in rows.items():
        tile = tiles[{"read": "in", "write": "out"}.get(kind, "tile")]
        mine = int(np.flatnonzero(found.warp == warp)[0])
        cell = _cells(trace, found, tile, size)
        moves[kind] = Moves(cell, colors[kind], mine, _pass(trace, arch, found, mine, cell, tile))
    return Block(tiles, moves)


def _ordered(rows: Requests) -> Requests:
    """By step, then warp."""
    return rows.select(np.lexsort((rows.warp, rows.step)))


def _elements(trace: Trace, rows: Requests) -> I64:
    """(R, 32) element numbers within the buffer of the first address."""
    buffer = trace.launch.buffer_at(int(rows.address[0, 0]))
    if buffer is None:
        raise InputError("the block reads or writes outside of its buffers")
    return np.asarray((rows.address.astype(np.int64) - buffer.address) // _WORD, dtype=np.int64)


def _global(trace: Trace, rows: Requests, name: str, size: int) -> Tile:
    """The part of a matrix that the block touches."""
    row, column = np.divmod(_elements(trace, rows), size)
    first = int(row.min()), int(column.min())
    return Tile(name, int(row.max()) - first[0] + 1, int(column.max()) - first[1] + 1, *first)


def _shared(rows: Requests, arch: Architecture) -> Tile:
    """Shared memory as rows of one word a bank."""
    last = int(rows.address.max()) // _WORD
    return Tile("tile", last // arch.banks + 1, arch.banks)


def _cells(trace: Trace, rows: Requests, tile: Tile, size: int) -> I64:
    """(R, 32) cell of the tile that each lane touches."""
    if tile.name == "tile":
        return np.asarray(rows.address.astype(np.int64) // _WORD, dtype=np.int64)
    row, column = np.divmod(_elements(trace, rows), size)
    return np.asarray((row - tile.row) * tile.columns + column - tile.column, dtype=np.int64)


def _colors(rows: dict[str, Requests]) -> dict[str, I64]:
    """(R, 32) which element each request moves, by kind."""
    lane = np.arange(LANES)
    colors = {"read": np.tile(lane, (len(rows["read"]), 1))}
    if "put" not in rows:
        colors["write"] = _paired(rows["read"], colors["read"], rows["write"])
        return colors
    colors["put"] = _paired(rows["read"], colors["read"], rows["put"])
    held = np.full(int(rows["put"].address.max()) // _WORD + 1, -1)
    held[rows["put"].address.astype(np.int64) // _WORD] = colors["put"]
    colors["get"] = held[rows["get"].address.astype(np.int64) // _WORD]
    colors["write"] = _paired(rows["get"], colors["get"], rows["write"])
    return colors


def _paired(source: Requests, color: I64, target: Requests) -> I64:
    """The colors of each warp's k-th source request for its k-th target request."""
    found = np.empty((len(target), LANES), np.int64)
    for warp in np.unique(target.warp):
        found[target.warp == warp] = color[source.warp == warp]
    return found


def _pass(
    trace: Trace, arch: Architecture, rows: Requests, row: int, cell: I64, tile: Tile
) -> Pass:
    """One request in detail."""
    did, address, active = (
        trace.instructions[rows.instruction[row]],
        rows.address[row],
        rows.lanes(row),
    )
    turn = np.zeros(LANES, np.int64)
    if did.space == "shared":
        request = one_request(trace, arch, rows, row)
        for number, lanes in enumerate(request.waves):
            turn[lanes] = number
        none = np.zeros((0, 3), np.int64)
        words = said("wavefront", request.count)
        return Pass(turn, request.count, request.ideal, none, words, did.text, did.line, request)
    parts = segments(arch, address, active, did.width, did.op, did.path)
    counted = transactions(arch, address[None], active[None], did.width, did.op, did.path)
    boxes = []
    for number, part in enumerate(parts):
        turn[part.lanes] = number
        lane = int(part.lanes[0])
        at, ahead = int(cell[row, lane]), (int(address[lane]) - part.base) // _WORD
        boxes.append((at // tile.columns, at % tile.columns - ahead, part.size // _WORD))
    ideal = int(counted.ideal[0])
    count = len(parts)
    unit = tr("{count} sectors") if arch.has_sectors else tr("{count} segments")
    return Pass(
        turn, count, ideal, np.array(boxes, np.int64), unit.format(count=count), did.text, did.line
    )
