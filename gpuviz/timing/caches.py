"""What the loads of a multiprocessor's resident blocks find in L1, request by request.

Nothing depends on time here: the warps of all resident blocks take turns, a request each. L1 is as
in `simulation`: lines of four sectors, of which only those asked for are brought; the line that
nobody has asked for longest makes room; stores leave nothing behind.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import F64, I32, I64, U64, Bool
from gpuviz.memory.lanes import firsts
from gpuviz.timing.native import native
from gpuviz.timing.traffic import LINE, SECTOR, lines_of, summed
from gpuviz.traces.trace import Trace, lane_mask

# The order in which lines were asked for, as a ring of links. Line d is node d + 1; node 0 is where
# the ring begins and ends: `newer[0]` is the oldest, `older[0]` the newest. Two arrays of zeros are
# an empty ring.


def leave(node: int, older: I32, newer: I32) -> None:
    """Take a node out."""
    before = older[node]
    after = newer[node]
    newer[before] = after
    older[after] = before


def come(node: int, older: I32, newer: I32) -> None:
    """Put a node in as the newest."""
    before = older[0]
    older[node] = before
    newer[node] = 0
    newer[before] = node
    older[0] = node


def renew(node: int, older: I32, newer: I32) -> None:
    """Make a node that is there the newest."""
    if older[0] != node:
        leave(node, older, newer)
        come(node, older, newer)


@dataclass(frozen=True, eq=False)
class Loads:
    """The loads of some blocks from global memory, in the order in which they come to L1."""

    row: I64  # (Q,) which request of the trace each is
    first: I64  # (Q + 1,) load q looks up the lines `line[first[q]:first[q + 1]]`
    line: I32  # (A,) a number of the line
    mask: I32  # (A,) bit i: its i-th sector is asked for
    address: I64  # (L,) where the lines lie, in bytes

    @property
    def sectors(self) -> int:
        """How many are asked for."""
        return int(bits(self.mask).sum())


@dataclass(frozen=True, eq=False)
class Lookups:
    """What became of the look-ups in an L1 of `lines`.

    `hit` (A,) are the sectors of each that were there, as bits; `gone` (A,) is the look-up that
    drove the line out before it was asked for again, or the number of all look-ups.
    """

    lines: int
    hit: I32
    gone: I64
    missed: int


def loads_of(trace: Trace, blocks: tuple[int, ...]) -> Loads:
    """The loads of blocks that reside together: of each warp its next one in turn."""
    requests = trace.requests
    of = np.array([i.space == "global" and i.op == "load" for i in trace.instructions], bool)
    rows = np.flatnonzero(of[requests.instruction] & np.isin(requests.block, blocks))
    place = np.argsort(np.argsort(blocks))  # blocks come in the order of the sample
    warp = place[np.searchsorted(np.sort(blocks), requests.block[rows])]
    warp = warp * trace.launch.warps_per_block + requests.warp[rows]
    own = np.argsort(warp, kind="stable")  # each warp's loads, in its own order
    starts = np.searchsorted(warp[own], warp)
    turn = np.empty(len(rows), np.int64)
    turn[own] = np.arange(len(rows))
    rows = rows[np.lexsort((warp, turn - starts))]
    active = lane_mask(requests.active[rows])
    width = np.array([i.width for i in trace.instructions], np.int64)[requests.instruction[rows]]
    number, sector = _sectors(requests.address[rows], active, width)
    bit, heads, first, line, address = lines_of(number, sector, len(rows))
    return Loads(rows, first, line, summed(bit, heads), address * LINE)


def _sectors(address: U64, active: Bool, width: I64) -> tuple[I64, I64]:
    """Number of the load and sector, each pair once, in order."""
    sector = address // np.uint64(SECTOR)
    last = (address + (width[:, None] - 1).astype(np.uint64)) // np.uint64(SECTOR)
    if (width > SECTOR).any() or (active & (last != sector)).any():
        sector, active = np.hstack([sector, last]), np.hstack([active, active])
    ordered, fresh = firsts(sector, active)
    number, lane = np.nonzero(fresh)
    return number, ordered[number, lane].astype(np.int64)


def lookups(loads: Loads, lines: int) -> Lookups:
    """What an L1 of so many lines makes of the loads; one of none finds nothing."""
    count, known = len(loads.line), max(len(loads.address), 1)
    hit, gone = np.zeros(count, np.int32), np.full(count, count, np.int64)
    if not lines:
        return Lookups(0, hit, np.arange(count), loads.sectors)
    links = [np.zeros(known + 1, np.int32) for _ in range(2)]
    valid, asked = np.zeros(known, np.int32), np.zeros(known, np.int64)
    native(look_up)(lines, count, loads.line, loads.mask, *links, valid, asked, hit, gone)
    return Lookups(lines, hit, gone, loads.sectors - int(bits(hit).sum()))


def look_up(
    capacity: int,
    count: int,
    line: I32,
    mask: I32,
    older: I32,
    newer: I32,
    valid: I32,
    asked: I64,
    hit: I32,
    gone: I64,
) -> float:
    """Look up the lines one after another, least recently used out first (see `lookups`)."""
    held = 0
    for i in range(count):
        d = line[i]
        hit[i] = mask[i] & valid[d]
        if valid[d] != 0:
            renew(d + 1, older, newer)
        else:
            if held >= capacity:
                out = newer[0] - 1
                leave(out + 1, older, newer)
                valid[out] = 0
                gone[asked[out]] = i
                held -= 1
            come(d + 1, older, newer)
            held += 1
        valid[d] = valid[d] | mask[i]
        asked[d] = i
    return float(held)


def bits(mask: I32) -> I32:
    """How many of the four bits are set."""
    return np.asarray((mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1) + (mask >> 3 & 1), np.int32)


def missed_by_size(loads: Loads, sizes: tuple[int, ...]) -> F64:
    """(N,) sectors that come from L2 where L1 has so many bytes."""
    return np.array([lookups(loads, size // LINE).missed for size in sizes], np.float64)
