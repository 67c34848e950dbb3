"""Race check: shared-memory words that warps of a block touch with no barrier in between.

The emulator runs the warps of a block in step, so a missing barrier changes no result by itself.
The requests are enough to see it: between two barriers of a block, a word written by one warp must
not be read or written by another. `RaceCheck` looks while a launch runs, `hazards` at a trace.

Lanes of one warp are taken to be ordered (`__syncwarp` leaves
no record), every barrier to hold for the whole block, and flags in memory to order nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gpuviz.arrays import I32, I64, Bool
from gpuviz.observe import Report
from gpuviz.ptx.recorders import RequestRecorder
from gpuviz.trace import LANES, Finding, Launch, MemoryInstruction, Requests, Trace, lane_mask

Kind = Literal["read after write", "write after read", "write after write"]
KINDS: tuple[Kind, ...] = ("read after write", "write after read", "write after write")
Instructions = tuple[MemoryInstruction, ...]
_READ, _WRITE, _ATOMIC = 0, 1, 2
_ROLE = {"load": _READ, "store": _WRITE, "copy": _WRITE, "atomic": _ATOMIC, "reduction": _ATOMIC}


@dataclass(frozen=True)
class Hazard:
    """Two statements that race, in the order in which the emulator ran them.

    Attributes
    ----------
    kind : "read after write": the second may read before the first has written, and so on
    first, second : what accesses the words (of a line that was unrolled, one of its copies)
    block, phase : linear id of the block, and barriers passed before, of the first case
    threads : linear ids of the two threads of the first case
    address : byte offset in shared memory of the first case
    count : how many words are at stake, each counted once in a phase of a block
    """

    kind: Kind
    first: MemoryInstruction
    second: MemoryInstruction
    block: int
    phase: int
    threads: tuple[int, int]
    address: int
    count: int


class RaceCheck(RequestRecorder):
    """Reports the hazards of some blocks (linear ids) as findings when the blocks have ended.

    At most `limit` requests of a batch of blocks are looked at.
    """

    def __init__(self, blocks: Iterable[int], limit: int = 2_000_000) -> None:
        super().__init__(blocks, limit, space="shared")

    def launch_begin(self, launch: Launch, report: Report) -> None:
        """Know where threads are, and whom to tell."""
        self._launch, self._report = launch, report

    def blocks_end(self, first: int, count: int) -> None:
        """Report; no later access can race with those of blocks that have ended."""
        for hazard in _hazards(self.memory_instructions, self.requests()):
            self._report(_finding(self._launch, hazard))
        self.clear()


def hazards(trace: Trace) -> tuple[Hazard, ...]:
    """Those of the recorded blocks: every pair of racing lines, once a kind, as first seen."""
    return _hazards(trace.instructions, trace.of(space="shared"))


def _hazards(instructions: Instructions, requests: Requests) -> tuple[Hazard, ...]:
    """Those among requests to shared memory."""
    touched = _touched(instructions, requests)
    if not len(touched.word):
        return ()
    pairs = _pairs(touched)
    kinds = range(len(KINDS))
    found = [one for kind in kinds for one in _of_kind(instructions, touched, pairs, kind)]
    return tuple(hazard for _, hazard in sorted(found, key=lambda pair: pair[0]))


@dataclass(frozen=True, eq=False)
class _Touched:
    """Who touches what, (E,) each: one row for a warp, a site and a word in one phase.

    `place` numbers block, phase and word together; rows are sorted by it. `site` is the first
    instruction that does the same on the same line. `first` and `last` are the positions in the
    trace of the earliest and the latest of these accesses.
    """

    place: I64
    block: I64
    phase: I32
    word: I64
    warp: I64
    thread: I64
    site: I64
    role: I64
    first: I64
    last: I64


def _touched(instructions: Instructions, requests: Requests) -> _Touched:
    """The words of shared memory that requests touch."""
    unit, width = _unit(instructions)
    row, lane = np.nonzero(lane_mask(requests.active))
    parts = np.maximum(width[requests.instruction[row]] // unit, 1)
    part = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    row, lane = np.repeat(row, parts), np.repeat(lane, parts)
    word = requests.address[row, lane].astype(np.int64) // unit * unit + part * unit
    block, phase = requests.block[row], requests.phase[row]
    warp, site = (
        requests.warp[row].astype(np.int64),
        _sites(instructions)[requests.instruction[row]],
    )
    place = _numbered(block, phase.astype(np.int64), word)
    order = np.lexsort((row, site, warp, place))
    keys = np.stack([place, warp, site])[:, order]
    fresh = np.ones(len(order), bool)
    fresh[1:] = (np.diff(keys, axis=1) != 0).any(axis=0)
    starts = np.flatnonzero(fresh)
    ends = np.append(starts[1:], len(order))[: len(starts)] - 1
    one = order[starts]
    role = np.array([_ROLE[i.op] for i in instructions], np.int64)
    return _Touched(
        place[one],
        block[one],
        phase[one],
        word[one],
        warp[one],
        warp[one] * LANES + lane[one],
        site[one],
        role[site[one]],
        row[one],
        row[order[ends]],
    )


def _numbered(*parts: I64) -> I64:
    """(E,) one number, from 0 on without gaps, for each combination of several (E,) numbers."""
    key = np.zeros_like(parts[0])
    for part in parts:
        key = key * (int(part.max(initial=0)) + 1) + part
    return np.asarray(np.unique(key, return_inverse=True)[1]).reshape(-1)


def _sites(instructions: Instructions) -> I64:
    """(I,) the first instruction that does the same on the same line: unrolling makes copies."""
    keys = [(i.function, i.line, i.op, i.space) if i.line else i.pc for i in instructions]
    return np.array([keys.index(key) for key in keys], np.int64)


def _unit(instructions: Instructions) -> tuple[int, I64]:
    """Bytes of the cells to compare, words or less where accesses are narrower; (I,) widths."""
    width = np.array([i.width for i in instructions], np.int64)
    narrow = [i.width for i in instructions if i.space == "shared"]
    return min((4, *narrow)), width


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Rows of `_Touched` that race: a write (or atomic) and something else, (P,) each."""

    write: I64
    other: I64


def _pairs(touched: _Touched) -> _Pairs:
    """Every write with every access to the same place by another warp."""
    counts = np.bincount(touched.place)
    start = np.cumsum(counts) - counts
    writes = np.flatnonzero(touched.role != _READ)
    many = counts[touched.place[writes]]
    write = np.repeat(writes, many)
    offset = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
    other = start[touched.place[write]] + offset
    keep = touched.warp[write] != touched.warp[other]
    keep &= ~((touched.role[write] == _ATOMIC) & (touched.role[other] == _ATOMIC))
    return _Pairs(write[keep], other[keep])


def _of_kind(
    instructions: Instructions, touched: _Touched, pairs: _Pairs, kind: int
) -> Iterator[tuple[int, Hazard]]:
    """The hazards of one kind with the place in the trace of their first case."""
    first, second = _ordered(touched, pairs, kind)
    both = np.stack([touched.site[first], touched.site[second]])
    for a, b in np.unique(both, axis=1).T.tolist():
        rows = np.flatnonzero((both[0] == a) & (both[1] == b))
        earliest = rows[np.lexsort((touched.thread[first[rows]], touched.first[second[rows]]))[0]]
        one, two = int(first[earliest]), int(second[earliest])
        late = touched.last if KINDS[kind] == "write after read" else touched.first
        yield (
            max(int(touched.first[one]), int(late[two])),
            Hazard(
                KINDS[kind],
                instructions[a],
                instructions[b],
                int(touched.block[one]),
                int(touched.phase[one]),
                (int(touched.thread[one]), int(touched.thread[two])),
                int(touched.word[one]),
                len(np.unique(touched.place[first[rows]])),
            ),
        )


def _ordered(touched: _Touched, pairs: _Pairs, kind: int) -> tuple[I64, I64]:
    """The pairs of one kind, in the order they ran."""
    write, other, read = pairs.write, pairs.other, touched.role[pairs.other] == _READ
    if KINDS[kind] == "read after write":
        keep: Bool = read & (touched.last[other] > touched.first[write])
        return write[keep], other[keep]
    if KINDS[kind] == "write after read":
        keep = read & (touched.first[other] < touched.last[write])
        return other[keep], write[keep]
    before = (touched.first[write] < touched.first[other]) | (
        (touched.first[write] == touched.first[other]) & (write < other)
    )
    keep = ~read & before
    return write[keep], other[keep]


_VERBS = {
    "read after write": ("written", "read"),
    "write after read": ("read", "written"),
    "write after write": ("written", "written"),
}


def _finding(launch: Launch, hazard: Hazard) -> Finding:
    """A hazard in a sentence."""
    did, does = _VERBS[hazard.kind]
    one, two = (launch.thread_index(thread) for thread in hazard.threads)
    where = f"line {hazard.first.line}" if hazard.first.line else f"PTX {hazard.first.ptx_line}"
    also = f"line {hazard.second.line}" if hazard.second.line else f"PTX {hazard.second.ptx_line}"
    message = (
        f"{hazard.kind}: shared memory at {hazard.address:#x} is {did} by thread {one} "
        f"({where}) and {does} by thread {two} of another warp ({also}) with no barrier "
        "between: put __syncthreads() there"
    )
    return Finding(
        "error",
        f"race, {hazard.kind}",
        message,
        hazard.second.line,
        hazard.second.ptx_line,
        launch.block_index(hazard.block),
        two,
        hazard.address,
        hazard.count,
    )
