"""The corners of M and N that a block's first steps read: what each moment asks, finds, leaves."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import I64, Bool
from gpuviz.timing.caches import Loads, Lookups, bits
from gpuviz.timing.traffic import SECTOR
from gpuviz.traces.trace import Buffer, Requests, Trace, lane_mask

ROWS, COLUMNS, STEPS = 16, 16, 16  # floats shown of each matrix, more of wide blocks; steps
_FLOAT, _PER_SECTOR = 4, SECTOR // 4


@dataclass(frozen=True, eq=False)
class Corner:
    """The first rows and columns of a matrix, at each moment: (moments, rows * columns) cells.

    `kept` are in L1 before or after the moment, `hit` are asked for and were there, `brought` are
    asked for and come from L2.
    """

    name: str
    rows: int
    columns: int
    kept: Bool
    hit: Bool
    brought: Bool

    def fetched(self, moment: int) -> Iterator[I64]:
        """The cells of each sector that is brought at a moment."""
        cells = np.flatnonzero(self.brought[moment])
        for sector in np.unique(cells // _PER_SECTOR).tolist():
            yield np.arange(sector * _PER_SECTOR, (sector + 1) * _PER_SECTOR)


@dataclass(frozen=True, eq=False)
class Window:
    """The first steps of a block: one moment for each step of the loop and each of its warps.

    `asked` and `found` (moments,) are sectors that its loads look up in L1, and that are there.
    """

    warps: int
    corners: tuple[Corner, Corner]
    asked: I64
    found: I64

    @property
    def moments(self) -> int:
        """How many there are."""
        return len(self.asked)


@dataclass(frozen=True, eq=False)
class _Own:
    """Look-ups of the block's first steps: number, moment, first float of the line, matrix."""

    lookup: I64
    moment: I64
    load: I64
    line: I64
    matrix: I64


def window(trace: Trace, loads: Loads, served: Lookups, block: int, side: int) -> Window:
    """Of a block whose rows and columns are the first ones, in a product `side` wide."""
    warps, requests = trace.launch.warps_per_block, trace.requests
    buffers = trace.launch.buffers[:2]
    own = _own(trace, loads, block, side)
    count = STEPS * warps
    asked, found = np.zeros(count, np.int64), np.zeros(count, np.int64)
    np.add.at(asked, own.moment, bits(loads.mask[own.lookup]))
    np.add.at(found, own.moment, bits(served.hit[own.lookup]))
    ends = _ends(own, served, count)
    corners = []
    x, y, _ = trace.launch.block
    shapes = (min(ROWS, y), COLUMNS), (ROWS, max(COLUMNS, x))
    for number, (buffer, (rows, columns)) in enumerate(zip(buffers, shapes, strict=True)):
        kept, hit, brought = (np.zeros((count, rows * columns), bool) for _ in range(3))
        for i in np.flatnonzero(own.matrix == number).tolist():
            row, column = divmod(int(own.line[i]), side)
            if row >= rows or column >= columns:
                continue
            a, at = int(own.lookup[i]), int(own.moment[i])
            lanes = _floats(requests, loads.row[own.load[i]], buffer)
            for sector in range(4):
                within = column + sector * _PER_SECTOR
                if not loads.mask[a] >> sector & 1 or within >= columns:
                    continue
                cells = row * columns + within + np.arange(_PER_SECTOR)
                kept[at : ends[i], cells] = True
                first = own.line[i] + sector * _PER_SECTOR
                mine = lanes[(lanes >= first) & (lanes < first + _PER_SECTOR)] - first
                there = hit if served.hit[a] >> sector & 1 else brought
                there[at, cells[mine]] = True
        corners.append(Corner("MN"[number], rows, columns, kept, hit, brought))
    return Window(warps, (corners[0], corners[1]), asked, found)


def _own(trace: Trace, loads: Loads, block: int, side: int) -> _Own:
    """What the block looks up in its first steps, in the order in which it does."""
    requests = trace.requests
    warps, buffers = trace.launch.warps_per_block, trace.launch.buffers[:2]
    load = np.flatnonzero(requests.block[loads.row] == block)
    rows = loads.row[load]
    lane = lane_mask(requests.active[rows]).argmax(axis=1)
    address = requests.address[rows, lane].astype(np.int64)
    matrix = (address >= buffers[1].address).astype(np.int64)
    base = np.array([b.address for b in buffers], np.int64)
    place = (address - base[matrix]) // _FLOAT
    step = np.where(matrix == 0, place % side, place // side)
    moment = step * warps + requests.warp[rows]
    early = step < STEPS
    load, moment, matrix = load[early], moment[early], matrix[early]
    many = loads.first[load + 1] - loads.first[load]
    lookup = np.concatenate(
        [np.arange(a, a + n) for a, n in zip(loads.first[load], many, strict=True)]
    )
    matrix = np.repeat(matrix, many)
    line = (loads.address[loads.line[lookup]] - base[matrix]) // _FLOAT
    return _Own(lookup, np.repeat(moment, many), np.repeat(load, many), line, matrix)


def _ends(own: _Own, served: Lookups, count: int) -> list[int]:
    """For each look-up the moment until which its line stays in L1."""
    reached = np.maximum.accumulate(own.moment)
    ends, later = [0] * len(own.lookup), dict[tuple[int, int], int]()
    for i in reversed(range(len(own.lookup))):
        key = int(own.matrix[i]), int(own.line[i])
        out = int(served.gone[own.lookup[i]])
        if out < len(served.hit):
            at = int(np.searchsorted(own.lookup, out))
            later[key] = int(reached[min(at, len(reached) - 1)]) if at < len(reached) else count
            later[key] = max(later[key], int(own.moment[i]) + 1)
        ends[i] = later.get(key, count)
        later.setdefault(key, count)
    return ends


def _floats(requests: Requests, row: int, buffer: Buffer) -> I64:
    """The floats of a buffer that the lanes of a request ask for, each once."""
    active = lane_mask(requests.active[row : row + 1])[0]
    address = requests.address[row][active].astype(np.int64)
    return np.unique((address - buffer.address) // _FLOAT)
