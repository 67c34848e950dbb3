"""What one multiprocessor is to run, as records of arrays, and what became of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gpuviz.base.arrays import F64, I32, I64
from gpuviz.base.errors import UnavailableError
from gpuviz.timing.facts import Facts
from gpuviz.timing.mbarriers import NO_STEPS, MbarrierSteps
from gpuviz.timing.schedule import Code, Pipe
from gpuviz.timing.streams import Streams
from gpuviz.timing.traffic import Traffic

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

PARTS = 4
BOARDS = 6
PIPES = len(Pipe)
NEAR_LINES = 40  # of 8 instructions, in the instruction cache of a scheduler
CODE_LINES = 256  # in that of the multiprocessor
SERIES = 2  # of groups: of asynchronous copies, and of products
GROUPS = 64  # that a scoreboard can count, and more
NEVER = 1e18

_TYPES = {"F64": np.float64, "I64": np.int64, "I32": np.int32}
_Record = TypeVar("_Record", bound="DataclassInstance")


class Sum(IntEnum):
    """What `Outcome.sums` counts: sectors that hit or miss L1, or are read from memory, and others;
    TOUCHED are those that memory would be read for, were nobody else there.
    """

    CYCLES = 0
    ISSUED = 1
    HITS = 2
    MISSES = 3
    DRAM_READS = 4
    LINES = 5
    TURNS = 6
    WRITTEN = 7
    TOUCHED = 8
    LSU_CYCLES = 9
    L2_CYCLES = 10
    DRAM_CYCLES = 11
    ATOMIC_CYCLES = 12


@dataclass(frozen=True, eq=False)
class Work:
    """The blocks that one multiprocessor runs, rounds of `each` that were looked at: their warps'
    streams and requests, and what they do at mbarriers.
    """

    code: Code
    streams: Streams
    traffic: Traffic
    blocks: tuple[int, ...]
    warps: int
    each: int
    mbarriers: MbarrierSteps = NO_STEPS

    @property
    def rounds(self) -> int:
        """How often the blocks that were looked at run: each time they touch other lines."""
        return -(-len(self.blocks) // self.each)

    @property
    def lines(self) -> int:
        """How many different lines they touch."""
        return max(len(self.traffic.address), 1) * self.rounds


@dataclass(frozen=True, eq=False)
class IssueLog:
    """What is recorded of each instruction issued (N,), in order: cycles, and numbers."""

    at: F64  # issued
    paced: F64  # its warp may go on, as the assembler wrote
    fetched: F64  # the warp's next instruction is at hand
    met: F64  # all have come to the barrier
    clear: F64  # the next instruction's operands are there
    free: F64  # until when units or a queue had kept it back
    ready: F64  # its operands were there
    begin: F64  # L1 and shared memory begin with it
    end: F64  # and have done
    result: F64  # is there
    l2_end: F64  # L2 has done
    l2_busy: F64  # how long it worked
    dram_end: F64
    dram_busy: F64
    left: F64  # `free` of the next instruction, where that is not recorded
    dram: F64  # sectors that memory is read for
    hit: I32  # sectors found in L1
    missed: I32
    place: I32  # slot * warps + warp
    number: I32  # of the warp among all that run
    instruction: I32  # row of the code
    request: I32  # that it makes, -1 for none
    cause: I32  # 2 * the event that the next one waits for (+ 1: for its operands to be read)
    next: I32  # the instruction that comes after it, where that is not recorded

    def __len__(self) -> int:
        return len(self.at)

    def __getitem__(self, rows: slice | I64 | I32) -> IssueLog:
        return IssueLog(*(getattr(self, f.name)[rows] for f in fields(self)))


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of it."""

    cycles: float  # until the last block has ended and all is written
    sums: F64  # by `Sum`
    waited: F64  # (I,) cycles that warps waited before each instruction
    issued: F64  # (I,) how often it was
    served: F64  # (I,) cycles that L1 and shared memory worked for each instruction
    begun: F64  # (B,) when each block was
    ended: F64
    touched: F64  # (L,) when each line was first asked of L2, -1 for never
    log: IssueLog | None = None  # what was recorded, where it was asked for


@dataclass(frozen=True, eq=False)
class Blocks:
    """The blocks to run, and of their warps (W,) where their streams begin and end, their first
    requests and steps at mbarriers; `apart` (B,) is what is added to a block's lines.
    """

    count: int
    first: I64
    end: I64
    request: I64
    step: I64
    apart: I32


@dataclass(eq=False)
class Clock:
    """The cycle it is, and what is `soon` the next in which something can happen; `turn` says which
    scheduler comes first. Blocks that came and are done; when the next may come, and the last warp
    has ended.
    """

    time: float = 0.0
    soon: float = 0.0
    turn: int = 0
    launched: int = 0
    done: int = 0
    next_launch: float = 0.0
    last_end: float = 0.0


@dataclass(frozen=True, eq=False)
class Slots:
    """Places of blocks (S,): which block runs (-1: none), how many of its warps have not ended, and
    wait at its barrier; from when it is free; until when its warps swap a word of shared memory.
    """

    block: I32
    alive: I32
    waiting: I32
    free: F64
    swapped: F64


@dataclass(frozen=True, eq=False)
class Warps:
    """Places of warps (P,), warp w of slot s at s * warps + w: the number of the one there among
    all, where in the streams it is `at`, its next request, and step at mbarriers; when it issued
    last, from when it can again (or -, since when it waits at a barrier), at which phase it is
    `asleep` (-1: none); until when its scoreboards (P * BOARDS) are set.
    """

    number: I32
    at: I64
    request: I64
    step: I64
    issued: F64
    ready: F64
    asleep: I32
    board: F64


@dataclass(eq=False)
class InstructionCaches:
    """Lines of 8 instructions: which are in the schedulers' own caches, and since when; from when
    each is in the multiprocessor's, and which are; until when one is `fetched` from beyond it.
    """

    near_line: I32
    near_time: F64
    far_time: F64
    line: I32
    fetched: float = 0.0


@dataclass(eq=False)
class Lines:
    """Lines of global memory (L,): sectors that are `valid` in L1, or were `seen`; when the latest
    of them arrive; whether L1 has `held` a place for it, `count` in all, in the order `lru` keeps
    (L + 1); the probability that it is `near`, in L2.
    """

    valid: I32
    seen: I32
    arrive: F64
    held: I32
    older: I32
    newer: I32
    near: F64
    count: int = 0


@dataclass(eq=False)
class MemoryPath:
    """Until when each stage of the way to memory has work: L1 and shared memory (`lsu`) and the
    `gate` before them, what L1 returns, L2, memory, writes, atomics, bulk copies (`copying`).
    `drawn` says which sectors come from memory; its work for bulk copies is `crowd`, at `crowd_at`.
    """

    lsu: float = 0.0
    gate: float = 0.0
    returned: float = 0.0
    l2: float = 0.0
    dram: float = 0.0
    writes: float = 0.0
    atomics: float = 0.0
    copying: float = 0.0
    drawn: float = 0.0
    crowd: float = 0.0
    crowd_at: float = 0.0


@dataclass(frozen=True, eq=False)
class Phases:
    """Phases of mbarriers, so many for `each` block: how much is `left` to come, until when what
    came takes, and the event that took longest.
    """

    each: int
    left: I32
    over: F64
    completed: I32


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of copies or products, two series for each warp: how many it has closed; when what is
    in each will have been brought, and by which event.
    """

    closed: I64
    brought: F64
    bringer: I32


@dataclass(eq=False)
class Recorder:
    """What is recorded from the cycle `since` on, as long as there is `room`; `before` that so many
    were issued. Of warps (P,) the last event, until when the next is kept back; the events that set
    scoreboards. The sums were so before the instruction that is issued now.
    """

    log: IssueLog
    room: int
    since: float
    last: I32
    kept_back: F64
    setter: I32
    before: float = 0.0
    hits: float = 0.0
    misses: float = 0.0
    reads: float = 0.0
    lsu: float = 0.0
    l2: float = 0.0
    dram: float = 0.0


@dataclass(frozen=True, eq=False)
class Multiprocessor:
    """One multiprocessor as it is in a cycle: `unit` (PARTS * PIPES) is until when each is busy."""

    blocks: Blocks
    clock: Clock
    slots: Slots
    warps: Warps
    unit: F64
    caches: InstructionCaches
    lines: Lines
    path: MemoryPath
    phases: Phases
    groups: Groups
    recorder: Recorder
    out: Outcome


def run(
    work: Work,
    facts: Facts,
    near: F64,
    simulate: Callable[..., float],
    room: int = 0,
    since: float = 0.0,
) -> Outcome:
    """Simulate the multiprocessor.

    `near` (L,) is the probability that a line is in L2 when it is first asked for. `room` is for
    how many instructions are recorded from the cycle `since` on, which only `simulation.RECORDED`
    does.
    """
    sm = _at_first(work, facts, near, room, since)
    cycles = simulate(work, facts, sm)
    if cycles < 0 and sm.phases.each:
        raise UnavailableError(
            "no time is predicted: as modelled, warps wait for each other for ever. Barriers of a "
            "part of a block are modelled as those of all of it"
        )
    log = sm.recorder.log
    count = int(np.count_nonzero(log.paced))
    return replace(sm.out, cycles=cycles, log=log[:count] if len(log) else None)


def _at_first(work: Work, facts: Facts, near: F64, room: int, since: float) -> Multiprocessor:
    """The multiprocessor before the first block comes."""
    blocks, lines, slots = _blocks(work), work.lines, facts.slots
    places, size = slots * work.warps, len(work.code.stall)
    series, cells = places * SERIES, PARTS * NEAR_LINES
    room = min(room, int((blocks.end - blocks.first).sum()))
    ring, boards, by_block = (np.zeros(n) for n in (lines + 1, places * BOARDS, blocks.count))
    return Multiprocessor(
        blocks,
        Clock(),
        _zeros(Slots, slots, block=_nothing(slots)),
        _zeros(Warps, places, ready=np.full(places, NEVER), asleep=_nothing(places), board=boards),
        np.zeros(PARTS * PIPES),
        InstructionCaches(
            _nothing(cells), np.zeros(cells), np.full(size // 8 + 3, -1.0), _nothing(CODE_LINES)
        ),
        _zeros(Lines, lines, older=ring.astype(np.int32), newer=ring.astype(np.int32), near=near),
        MemoryPath(),
        _phases(work),
        Groups(np.zeros(series, np.int64), np.zeros(series * GROUPS), _nothing(series * GROUPS)),
        Recorder(
            _zeros(IssueLog, room),
            room,
            since,
            _nothing(places),
            np.zeros(places),
            np.zeros(places * BOARDS, np.int32),
        ),
        _zeros(
            Outcome,
            size,
            cycles=0.0,
            sums=np.zeros(len(Sum)),
            begun=by_block,
            ended=by_block.copy(),
            touched=np.full(lines, -1.0),
        ),
    )


def _zeros(record: type[_Record], count: int, **given: Any) -> _Record:
    """A record of columns that are zero, except for what is given."""
    columns = {f.name: _TYPES.get(str(f.type)) for f in fields(record) if f.name not in given}
    return record(**given, **{name: np.zeros(count, of) for name, of in columns.items() if of})


def _blocks(work: Work) -> Blocks:
    """The blocks in order; a warp that issues nothing has an empty stream."""
    count = len(work.blocks)
    warps: list[tuple[int, int, int, int]] = []
    for key in ((block, warp) for block in work.blocks for warp in range(work.warps)):
        stream, step = work.streams.of.get(key, -1), work.mbarriers.start.get(key, 0)
        if stream < 0:
            warps.append((0, 0, 0, 0))
            continue
        first, end = work.streams.start[stream : stream + 2].tolist()
        warps.append((first, end, work.traffic.start[key], step))
    begin, end, request, at_step = np.array(warps, np.int64).reshape(-1, 4).T.copy()
    apart = np.arange(count) // work.each * (work.lines // work.rounds)
    return Blocks(count, begin, end, request, at_step, apart.astype(np.int32))


def _phases(work: Work) -> Phases:
    """The phases of all blocks, before anything has come."""
    each = work.mbarriers.phases
    needs = np.zeros((len(work.blocks), each), np.int32)
    for n, block in enumerate(work.blocks):
        needed = work.mbarriers.needs.get(block, needs[n])
        needs[n, : len(needed)] = needed
    return Phases(each, needs.ravel(), np.zeros(needs.size), _nothing(needs.size))


def _nothing(count: int) -> I32:
    return np.full(count, -1, np.int32)
