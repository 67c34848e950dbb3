"""What one multiprocessor is to run, as arrays, and what became of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import F64, I32
from gpuviz.base.errors import UnavailableError
from gpuviz.timing import simulation as sim
from gpuviz.timing.handovers import NOTHING, Handed
from gpuviz.timing.schedule import Code
from gpuviz.timing.streams import Streams
from gpuviz.timing.traffic import Traffic


@dataclass(frozen=True, eq=False)
class Work:
    """The blocks that one multiprocessor runs, rounds of `each` that were looked at: their warps'
    streams and requests.
    """

    code: Code
    is_memory: I32
    streams: Streams
    traffic: Traffic
    blocks: tuple[int, ...]
    warps: int
    each: int
    hands: I32
    groups: I32
    handed: Handed = NOTHING

    @property
    def rounds(self) -> int:
        """How often the blocks that were looked at run: each time they touch other lines."""
        return -(-len(self.blocks) // self.each)

    @property
    def lines(self) -> int:
        """How many different lines they touch."""
        return max(len(self.traffic.address), 1) * self.rounds


@dataclass(frozen=True, eq=False)
class Noted:
    """Of each instruction issued, in order, (N, ...) the `cycles` and `numbers` that `simulation`
    names.
    """

    cycles: F64
    numbers: I32


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of it.

    Attributes
    ----------
    cycles : until the last block has ended and all is written
    sums : by the names in `simulation`
    waited, issued : (I,) cycles that warps waited before each instruction, how often it was issued
    served : (I,) cycles that L1 and shared memory worked for each instruction
    begun, ended : (B,) when each block did
    touched : (L,) when each line was first asked of L2, -1 for never
    noted : what was recorded, where it was asked for
    """

    cycles: float
    sums: F64
    waited: F64
    issued: F64
    served: F64
    begun: F64
    ended: F64
    touched: F64
    noted: Noted | None = None


def run(
    work: Work,
    facts: F64,
    busy: F64,
    latency: F64,
    near: F64,
    simulate: Callable[..., float],
    room: int = 0,
    since: float = 0.0,
) -> Outcome:
    """Simulate the multiprocessor.

    `busy` and `latency` (I,) are those of each instruction, `near` (L,) the probability that a line
    is in L2 when it is first asked for. `room` is for how many instructions are recorded from the
    cycle `since` on, which only `simulation.RECORDED` does.
    """
    streams, traffic, code = work.streams, work.traffic, work.code
    count, warps, slots = len(work.blocks), work.warps, int(facts[sim.SLOTS])
    first, end, made, hand = (np.zeros(count * warps, np.int64) for _ in range(4))
    phases = work.handed.phases
    needs = np.zeros((count, phases), np.int32)
    for n, block in enumerate(work.blocks):
        needed = work.handed.needs.get(block, needs[n])
        needs[n, : len(needed)] = needed
        for w in range(warps):
            stream = streams.of.get((block, w), -1)
            if stream >= 0:
                first[n * warps + w], end[n * warps + w] = streams.start[stream : stream + 2]
                made[n * warps + w] = traffic.start[block, w]
                hand[n * warps + w] = work.handed.start.get((block, w), 0)
    lines, places, size = work.lines, slots * warps, len(code.stall)
    apart = np.arange(count) // work.each * (lines // work.rounds)
    sums = np.zeros(sim.SUMS)
    waited, issued, served = np.zeros(size), np.zeros(size), np.zeros(size)
    begun, ended, touched = np.zeros(count), np.zeros(count), np.full(lines, -1.0)
    near_lines = sim.PARTS * sim.NEAR_LINES
    grouped = places * sim.SERIES * sim.GROUPS
    room = min(room, int((end - first).sum()))
    noted = np.zeros(room * sim.CYCLES_NOTED), np.zeros(room * sim.NUMBERS_NOTED, np.int32)
    facts = facts.copy()
    facts[sim.FROM] = since
    cycles = simulate(
        # what is known
        *(facts, busy, latency, near),
        *(code.stall, code.sets, code.reads, code.waits, code.kind, code.pipe, code.jumps),
        *(streams.code, first, end, made, traffic.made, work.is_memory),
        *(traffic.first, traffic.line, traffic.mask, traffic.partial, traffic.turns),
        *(apart.astype(np.int32), count, warps),
        # warps, blocks, units, instruction caches, lines: as they are at the moment
        *(np.zeros(places, np.int64), _whole(places), np.zeros(places), np.zeros(places)),
        *(np.zeros(places, np.int64), np.zeros(places * sim.BOARDS)),
        np.zeros(sim.PARTS * sim.PIPES),
        *(_whole(slots), _whole(slots), _whole(slots), np.zeros(slots)),
        *(_whole(near_lines) - 1, np.zeros(near_lines), np.full(size // 8 + 3, -1.0)),
        _whole(sim.CODE_LINES) - 1,
        *(
            _whole(lines),
            _whole(lines),
            np.zeros(lines),
            _whole(lines + 1),
            _whole(lines + 1),
            _whole(lines),
        ),
        # what becomes of it
        *(sums, waited, issued, begun, ended, touched, served),
        # what is recorded of it
        *(room, *noted, _whole(places), _whole(places * sim.BOARDS), np.zeros(places)),
        # mbarriers and bulk copies
        *(work.hands, hand, work.handed.phase, work.handed.request, phases),
        *(needs.ravel(), np.zeros(needs.size), _whole(needs.size) - 1),
        *(np.zeros(places, np.int64), _whole(places)),
        # groups of asynchronous copies and products
        *(work.groups, np.zeros(places * sim.SERIES, np.int64)),
        *(np.zeros(grouped), _whole(grouped) - 1),
    )
    if cycles < 0 and phases:
        raise UnavailableError(
            "no time is predicted: as modelled, warps wait for each other for ever. Barriers of a "
            "part of a block are modelled as those of all of it"
        )
    record = None
    if room:
        at = noted[0].reshape(-1, sim.CYCLES_NOTED)
        count = int(np.count_nonzero(at[:, sim.PACED]))
        record = Noted(at[:count], noted[1].reshape(-1, sim.NUMBERS_NOTED)[:count])
    return Outcome(cycles, sums, waited, issued, served, begun, ended, touched, record)


def _whole(count: int) -> I32:
    return np.zeros(count, np.int32)
