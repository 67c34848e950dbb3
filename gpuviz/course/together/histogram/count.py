"""The counting of one block, request by request: who counts in which bins, and in what turn."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.base.arrays import I32, I64, U64, Bool
from gpuviz.base.errors import InputError
from gpuviz.draw.ease import passed
from gpuviz.memory import atomics
from gpuviz.memory.banks import cells, schedule
from gpuviz.memory.coalescing import comes_in_rounds, segments, transactions
from gpuviz.memory.counts import Count
from gpuviz.memory.lanes import lower_alike
from gpuviz.run.run import Run
from gpuviz.story.measured import LaunchTime, time_of
from gpuviz.traces.trace import LANES, MemoryInstruction, Requests, Trace, lane_mask

_WORD = 4
_ATOMIC = ("atomic", "reduction")


@dataclass(frozen=True)
class Cost:
    """What one way of counting costs in all: sectors of atomics in global memory, wavefronts of
    atomics and of everything else in shared memory, bytes of it a block, instructions, time.
    """

    sectors: int
    atomic: int
    around: int
    bytes: int
    instructions: int
    time: LaunchTime | None

    @property
    def wavefronts(self) -> int:
        """All of shared memory."""
        return self.atomic + self.around


def cost_of(run: Run) -> Cost:
    """The cost of a launch."""
    totals = run.counts.totals
    return Cost(
        totals[Count.GLOBAL_ATOMIC_SECTORS] + totals[Count.GLOBAL_REDUCTION_SECTORS],
        totals[Count.SHARED_ATOMIC_WAVEFRONTS],
        totals[Count.SHARED_LOAD_WAVEFRONTS] + totals[Count.SHARED_STORE_WAVEFRONTS],
        run.resources.static_shared_bytes if run.resources else 0,
        run.trace.warp_instructions,
        time_of(run),
    )


@dataclass(frozen=True, eq=False)
class CountRequests:
    """The requests that count: the first one whose lanes wait longest, then all others in the order
    in which the block made them.
    """

    instruction: MemoryInstruction  # the atomic, `load` the load of the values in front of it
    load: MemoryInstruction
    # bins, copies: how many bins there are, and copies of each.
    bins: int
    copies: int
    warp: I64  # (R,) who asks
    # active, bin, copy: (R, 32) the lanes, and where each counts.
    active: Bool
    bin: I64
    copy: I64
    # cost, ideal: (R,) sectors (global) or wavefronts (shared) of each, and how few there could be.
    cost: I64
    ideal: I64
    turn: I64  # (R, 32) when each lane is served: its round or its wavefront
    noun: str  # what a transaction of global memory is called (a key of `request_words`)
    lanes_meet: bool  # whether lanes that want one counter of shared memory hinder each other
    locks: bool  # whether atomics lock, which is not modelled

    @property
    def shared(self) -> bool:
        """Whether the bins lie in shared memory."""
        return self.instruction.space == "shared"

    @property
    def turns(self) -> int:
        """Rounds or wavefronts of the first request."""
        return int(self.turn[0, self.active[0]].max()) + 1

    @cached_property
    def cell(self) -> I64:
        """(R, 32) the counter of each lane: copies are rows, bins columns."""
        return self.copy * self.bins + self.bin

    @cached_property
    def after(self) -> I32:
        """(R + 1, copies * bins) every counter after so many requests."""
        size = self.bins * self.copies
        row = np.broadcast_to(np.arange(len(self.cell))[:, None], self.cell.shape)
        flat = row[self.active] * size + self.cell[self.active]
        each = np.bincount(flat, minlength=len(self.cell) * size).reshape(-1, size)
        return np.concatenate([np.zeros((1, size), np.int32), each.cumsum(0)]).astype(np.int32)

    def partly(self, served: float) -> I32:
        """The counters while the first request is served: so many of its turns are over."""
        done = self.active[0] & (self.turn[0] < passed(served))
        return np.bincount(self.cell[0, done], minlength=self.after.shape[1]).astype(np.int32)

    def counts(self, served: float, done: float) -> I32:
        """Every counter when so many turns of the first request, and so many requests are over."""
        if done <= 1:
            return self.partly(served)
        return np.asarray(self.after[min(passed(done), len(self.cell))])


def counting_of(run: Run, arch: Architecture, bins: int, copies: int) -> CountRequests:
    """The counting of block 0 of a run with so many bins, each in so many copies.

    Raises
    ------
    InputError : the trace has no atomic of block 0
    """
    did = _counts(run.trace)
    rows = run.trace.of(block=0, line=did.line, space=did.space)
    rows = rows.select(_of(run.trace, rows, _ATOMIC))
    rows = rows.select(_longest_first(_turns(arch, did, rows), lane_mask(rows.active)))
    active = lane_mask(rows.active)
    word = np.where(active, _offset(run.trace, did, rows), 0) // _WORD
    load = next(i for i in run.trace.instructions if i.line == did.line and i.op == "load")
    cost, ideal = _costs(arch, did, rows.address, active)
    return CountRequests(
        did,
        load,
        bins,
        copies,
        rows.warp.astype(np.int64),
        active,
        word // copies,
        word % copies,
        cost,
        ideal,
        _turns(arch, did, rows),
        arch.transaction(),
        atomics.way_of(did.form, arch) != "increment",
        atomics.way_of(did.form, arch) == "lock",
    )


def _turns(arch: Architecture, did: MemoryInstruction, rows: Requests) -> I64:
    """(R, 32) when each lane of each request is served."""
    active = lane_mask(rows.active)
    every = zip(rows.address, active, strict=True)
    return np.stack([turns_of(arch, did, address, on) for address, on in every])


def _longest_first(turn: I64, active: Bool) -> I64:
    """(R,) the order in which one of the requests with the most turns comes first."""
    longest = int(np.where(active, turn, -1).max(axis=1).argmax())
    others = np.delete(np.arange(len(turn)), longest)
    return np.concatenate([np.array([longest], np.int64), others])


def _counts(trace: Trace) -> MemoryInstruction:
    """The atomic that counts values: the first of the program."""
    found = next((i for i in trace.instructions if i.op in _ATOMIC), None)
    if found is None or not len(trace.of(block=0)):
        raise InputError("the trace has no atomic of block 0; record block 0")
    return found


def _of(trace: Trace, rows: Requests, ops: tuple[str, ...]) -> Bool:
    return np.array([i.op in ops for i in trace.instructions], bool)[rows.instruction]


def _offset(trace: Trace, did: MemoryInstruction, rows: Requests) -> I64:
    """(R, 32) bytes from the start of the counters."""
    if did.space == "shared":
        return rows.address.astype(np.int64)
    first = int(rows.address[0][rows.lanes(0)][0])
    buffer = trace.launch.buffer_at(first)
    return rows.address.astype(np.int64) - (buffer.address if buffer else first)


def _costs(
    arch: Architecture, did: MemoryInstruction, address: U64, active: Bool
) -> tuple[I64, I64]:
    """(R,) sectors or wavefronts of requests, and the ideal."""
    if did.space == "shared":
        found = atomics.turns(arch, did.form, address, active, did.width)
        return found.wavefronts, found.ideal
    moved = transactions(arch, address, active, did.width, did.op)
    return moved.count, moved.ideal


def turns_of(arch: Architecture, did: MemoryInstruction, address: U64, active: Bool) -> I64:
    """(32,) when each lane of one atomic request is served, as the costs are counted."""
    if did.space == "global" and comes_in_rounds(arch, did.op):
        return _in_turn(address, active)
    if did.space == "shared" and not atomics.serves_at_once(did.form, arch):
        return _in_turn(cells(arch, address, did.width).bank, active)
    waves = (
        schedule(arch, address, active, did.width, did.op)
        if did.space == "shared"
        else tuple(s.lanes for s in segments(arch, address, active, did.width, did.op))
    )
    turn = np.zeros(LANES, np.int64)
    for number, lanes in enumerate(waves):
        turn[lanes] = number
    return turn


def _in_turn(wanted: U64, active: Bool) -> I64:
    """(32,) how many lower lanes want the same."""
    return np.asarray(lower_alike(wanted[None], active[None])[0])
