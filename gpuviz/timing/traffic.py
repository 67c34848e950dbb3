"""What each memory instruction of a warp asks of the caches: lines, sectors, wavefronts.

The requests of a trace are those of the PTX; each is given to the machine instruction that makes
it, by its PTX line, in order. A merged access has its own width and distance. Bulk copies
ask L2 for bytes side by side, line by line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.base.arrays import I32, I64, U64, Array, Bool
from gpuviz.memory.banks import wavefronts
from gpuviz.memory.lanes import distinct
from gpuviz.sass.listing import SassInstruction
from gpuviz.sass.plan import Plan
from gpuviz.timing.schedule import asks_memory, swaps
from gpuviz.timing.streams import Streams
from gpuviz.traces.trace import HANDOVERS, Op, Trace, lane_mask

LINE, SECTOR = 128, 32
TAGS = 4  # lines that L1 looks up at once
_NOWHERE = np.uint64(2**64 - 1)
_NONE = slice(0, 0)
_NO_LINES = np.zeros(0, np.int32)
_LOCAL = np.uint64(1 << 62)  # local memory is placed above all buffers


@dataclass(frozen=True, eq=False)
class Traffic:
    """Requests (Q,) of the recorded warps.

    Request q touches lines `line[first[q]:first[q + 1]]`, of each the sectors in `mask` (bit i: the
    i-th of four) of which `partial` are written in part; `turns` are its wavefronts in shared
    memory or L1, or the packets of an atomic. `address` (lines) are addresses of lines / 128. The
    warp w of block b makes requests `made[start[b, w]:]`, one for each memory instruction of its
    stream, -1 where no lane takes part.
    """

    first: I64
    line: I32
    mask: I32
    partial: I32
    turns: I32
    address: U64
    made: I32
    start: Mapping[tuple[int, int], int]


def traffic_of(
    trace: Trace,
    streams: Streams,
    instructions: Sequence[SassInstruction],
    plan: Plan | None,
    arch: Architecture,
) -> Traffic:
    """The requests of all recorded warps."""
    made, start, row, which = _given(trace, streams, instructions)
    requests = trace.requests
    ways = _ways(plan)
    count = len(row)
    turns = np.ones(count, np.int32)
    pairs: list[tuple[I64, U64, I64]] = []
    for number in np.unique(which).tolist():
        sass = instructions[number]
        memory = sass.memory
        assert memory is not None
        of = np.flatnonzero(which == number)
        rows = row[of]
        active = lane_mask(requests.active[rows])
        shift, width = ways.get(sass.address, (0, memory.width))
        address = requests.address[rows] + np.uint64(shift % (1 << 64))
        at = trace.instructions[int(requests.instruction[rows[0]])]
        if at.space == "shared":
            address = address & ~np.uint64(width - 1)
            op: Op = "store" if memory.op == "store" else "load"
            found = wavefronts(arch, address, active, width, op)
            turns[of] = np.maximum(found.count, 1)
            if swaps(sass):
                turns[of] = _at_one(address, active)
            elif memory.op in ("atomic", "reduction"):
                turns[of] *= 2
        elif at.space in ("global", "local"):
            if at.space == "local":
                address = _interleaved(address, rows, trace)
            pairs.append(_sectors(of, address, active, width))
            if memory.op == "load":
                turns[of] = _turns(arch, address, active, width)
            if memory.op in ("atomic", "reduction"):
                turns[of] = _half_packets(address, active, bool(_FLOATS.search(sass.opcode)))
    return _traffic(count, turns, pairs, made, start)


def _given(
    trace: Trace, streams: Streams, instructions: Sequence[SassInstruction]
) -> tuple[I32, dict[tuple[int, int], int], I64, I64]:
    """For the memory instructions of all warps: the number of a request, or -1; for each request
    the row of the trace, and the number of the machine instruction.
    """
    asks = np.array([*(asks_memory(i) for i in instructions), False], bool)
    tried = {i.ptx_line for i in instructions if swaps(i)}  # the request is the swap's
    lines = [-1 if i.ptx_line in tried and not swaps(i) else i.ptx_line for i in instructions]
    ptx_line = np.array([*lines, 0], np.int64)
    order, queues = _queues(trace)
    parts: list[I32] = [np.zeros(0, np.int32)]
    rows_made, which_made = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    start: dict[tuple[int, int], int] = {}
    total = number = 0
    known: dict[int, tuple[I32, list[tuple[int, I64]]]] = {}
    for key, stream in streams.of.items():
        if stream not in known:
            known[stream] = _by_line(streams, stream, asks, ptx_line)
        mine, groups = known[stream]
        taken = np.full(len(mine), -1, np.int32)
        for line, places in groups:
            rows = order[queues.get((*key, line), _NONE)][: len(places)]
            taken[places[: len(rows)]] = np.arange(number, number + len(rows))
            rows_made.append(rows)
            which_made.append(mine[places[: len(rows)]].astype(np.int64))
            number += len(rows)
        start[key] = total
        total += len(mine)
        parts.append(taken)
    return np.concatenate(parts), start, np.concatenate(rows_made), np.concatenate(which_made)


def _queues(trace: Trace) -> tuple[I64, dict[tuple[int, int, int], slice]]:
    """The requests sorted by block, warp and PTX line, and where those of each are."""
    requests = trace.requests
    line_of = np.array([i.ptx_line for i in trace.instructions], np.int64)
    space_of = np.array([i.space == "global" for i in trace.instructions], bool)
    lines = line_of[requests.instruction] if len(requests) else np.zeros(0, np.int64)
    copies = {i.ptx_line for i in trace.instructions if i.op == "copy"}
    keep = np.ones(len(requests), bool)
    if copies:  # an asynchronous copy is told twice; the global side is what takes time
        keep = ~np.isin(lines, list(copies)) | space_of[requests.instruction]
    rows = np.flatnonzero(keep)
    order = rows[np.lexsort((rows, lines[rows], requests.warp[rows], requests.block[rows]))]
    keys = requests.block[order], requests.warp[order], lines[order]
    heads = starts(*keys)
    named = zip(*(key[heads].tolist() for key in keys), strict=True)
    edges = pairwise([*heads.tolist(), len(order)])
    return order, {key: slice(*edge) for key, edge in zip(named, edges, strict=True)}


def _by_line(
    streams: Streams, stream: int, asks: Bool, ptx_line: I64
) -> tuple[I32, list[tuple[int, I64]]]:
    """The memory instructions of a stream; which of them come from each PTX line, in order."""
    part = slice(streams.start[stream], streams.start[stream + 1])
    code = streams.code[part]
    held = asks[code]
    mine = code[held]
    by_line = np.where(streams.idle[part][held], -1, ptx_line[mine])
    return mine, [(int(n), np.flatnonzero(by_line == n)) for n in np.unique(by_line) if n >= 0]


def _ways(plan: Plan | None) -> dict[int, tuple[int, int]]:
    """Distance and width of the machine instructions that a plan knows, by their address."""
    if plan is None:
        return {}
    return {e.sass.address: (e.shift, e.width) for m in plan.matches.values() for e in m.emits}


def _interleaved(address: U64, rows: I64, trace: Trace) -> U64:
    """Where the words of local memory lie: those of a warp side by side."""
    block, warp = trace.requests.block[rows], trace.requests.warp[rows].astype(np.int64)
    place = (block * trace.launch.warps_per_block + warp).astype(np.uint64)[:, None]
    lane = np.arange(32, dtype=np.uint64)[None, :]
    word, inside = address // np.uint64(4), address % np.uint64(4)
    base = _LOCAL + place * np.uint64(1 << 22) + lane * np.uint64(4)
    return np.asarray(base + word * np.uint64(LINE) + inside, np.uint64)


def _sectors(of: I64, address: U64, active: Bool, width: int) -> tuple[I64, U64, I64]:
    """The sectors of some requests, each once: request, sector, bytes of it that are touched."""
    sector = np.where(active, address // np.uint64(SECTOR), _NOWHERE)
    rows = np.repeat(of, sector.shape[1])
    flat = sector.ravel()
    order = np.lexsort((flat, rows))
    rows, flat = rows[order], flat[order]
    lanes = active.ravel()[order]
    rows, flat = rows[lanes], flat[lanes]
    heads = starts(rows, flat)
    many = np.diff(np.append(heads, len(rows)))
    return rows[heads], flat[heads], many * width


def _turns(arch: Architecture, address: U64, active: Bool, width: int) -> I32:
    """Cycles that L1 serves loads for: banks of 4 bytes as in shared memory, four lines a cycle, 32
    words on the way back.
    """
    served = wavefronts(arch, address & ~np.uint64(width - 1), active, width, "load").count
    looked_up = -(-distinct(address // np.uint64(LINE), active) // TAGS)
    least = np.full(len(served), max(width // 4, 1))
    return np.asarray(np.maximum.reduce([served, looked_up, least]), np.int32)


_FLOATS = re.compile(r"\.F(16|32|64)")  # RED.E.ADD.F32
_FLOAT = 5  # what a sum of floats takes where a packet takes two


def _half_packets(address: U64, active: Bool, of_floats: bool) -> I64:
    """What an atomic sends to L2, in halves of packets; floats at one address wait in turn."""
    halves = 2 * _packets(address, active)
    of_one = _FLOAT * _at_one(address, active)
    return np.maximum(halves, of_one) if of_floats else halves


def _at_one(address: U64, active: Bool) -> I64:
    """How many lanes meet at one address, at the most."""
    ordered = np.sort(np.where(active, address, _NOWHERE), axis=1)
    return np.asarray(_before(ordered).max(axis=1) + 1, np.int64)


def _before(ordered: U64) -> I64:
    """Of each lane how many lanes before it have its address, -1 where it is nowhere."""
    again = np.zeros(ordered.shape, np.int64)
    for lane in range(1, ordered.shape[1]):
        same = ordered[:, lane] == ordered[:, lane - 1]
        again[:, lane] = np.where(same, again[:, lane - 1] + 1, 0)
    again[ordered == _NOWHERE] = -1
    return again


def _packets(address: U64, active: Bool) -> I64:
    """What an atomic sends to L2: for each sector as many packets as lanes meet at one address."""
    ordered = np.sort(np.where(active, address, _NOWHERE), axis=1)
    rows = np.repeat(np.arange(len(ordered)), ordered.shape[1])
    sector = (ordered // np.uint64(SECTOR)).ravel()
    heads = starts(rows, sector)
    most = np.maximum.reduceat(_before(ordered).ravel(), heads) + 1
    return np.bincount(rows[heads], most, len(ordered)).astype(np.int64)


def _traffic(
    count: int,
    turns: I32,
    pairs: list[tuple[I64, U64, I64]],
    made: I32,
    start: Mapping[tuple[int, int], int],
) -> Traffic:
    """Sectors put together to lines."""
    empty = np.zeros(0, np.int64), np.zeros(0, np.uint64), np.zeros(0, np.int64)
    row, sector, touched = (np.concatenate(column) for column in zip(empty, *pairs, strict=True))
    order = np.lexsort((sector, row))
    row, sector, touched = row[order], sector[order], touched[order]
    bit, heads, first, line, address = lines_of(row, sector, count)
    partial = summed(np.where(touched < SECTOR, bit, 0), heads)
    return Traffic(first, line, summed(bit, heads), partial, turns, address, made, start)


def starts(*columns: Array) -> I64:
    """Where in sorted columns something else begins, the first row among them."""
    other = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return np.flatnonzero(np.r_[True, other][: len(columns[0])])


def lines_of(row: I64, sector: Array, count: int) -> tuple[I64, I64, I64, I32, Array]:
    """Sectors, sorted by the row of `count` that asks for them, put together to lines: the bit of
    each sector, where lines begin; where the lines of each row begin, their numbers; their
    addresses / 128.
    """
    line, bit = sector // 4, 1 << (sector % 4).astype(np.int64)
    heads = starts(row, line)
    address, dense = np.unique(line[heads], return_inverse=True)
    first = np.searchsorted(row[heads], np.arange(count + 1))
    return bit, heads, first.astype(np.int64), dense.astype(np.int32), address


def summed(values: I64, heads: I64) -> I32:
    """The sums of values from each of some rows up to the next."""
    return np.add.reduceat(values, heads).astype(np.int32) if len(heads) else _NO_LINES


def runs_of(trace: Trace) -> tuple[I64, I64, I64]:
    """Bytes that bulk copies bring to shared memory: the row of the handovers, address, size."""
    events = trace.handovers
    empty = np.zeros(0, np.int64)
    if events is None:
        return empty, empty, empty
    plain = np.flatnonzero((events.kind == HANDOVERS.index("load")) & (events.source >= 0))
    return plain, events.source[plain], events.size[plain]


def with_copies(traffic: Traffic, trace: Trace) -> tuple[Traffic, Mapping[int, int]]:
    """The requests of warps and, after them, of bulk copies: of each event of the handovers that
    is one the number of its request.
    """
    row, address, size = runs_of(trace)
    if not len(row):
        return traffic, {}
    lines = (address + size - 1) // LINE - address // LINE + 1
    of = np.repeat(np.arange(len(row)), lines)
    number = np.arange(len(of)) - np.repeat(np.cumsum(lines) - lines, lines)
    line = address[of] // LINE + number
    low = np.maximum(address[of], line * LINE) % LINE // SECTOR
    high = (np.minimum(address[of] + size[of], (line + 1) * LINE) - 1) % LINE // SECTOR
    mask = (2 << high) - (1 << low)
    every, request = np.unique(row, return_inverse=True)
    order = np.argsort(request[of], kind="stable")
    first = np.searchsorted(request[of][order], np.arange(len(every) + 1)) + traffic.first[-1]
    lies = np.union1d(traffic.address, line.astype(np.uint64))
    old = np.searchsorted(lies, traffic.address)[traffic.line]
    new = np.searchsorted(lies, line[order].astype(np.uint64))
    count = len(traffic.first) - 1
    made = replace(
        traffic,
        first=np.concatenate([traffic.first[:-1], first]).astype(np.int64),
        line=np.concatenate([old, new]).astype(np.int32),
        mask=np.concatenate([traffic.mask, mask[order]]).astype(np.int32),
        partial=np.concatenate([traffic.partial, np.zeros(len(new))]).astype(np.int32),
        turns=np.concatenate([traffic.turns, np.diff(first)]).astype(np.int32),
        address=lies,
    )
    return made, dict(zip(every.tolist(), range(count, count + len(every)), strict=True))
