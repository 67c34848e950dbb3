"""mbarriers: objects of 64 bits in shared memory that count arrivals and bytes, phase by phase.

What the bits mean is nobody's business but the hardware's; here they are: arrivals a phase expects
(0-19), those still pending (20-39), bytes that are still to come (40-61, signed), whether it is
one at all (62), and the parity of the phase (63). A phase is over when nothing is pending and no
byte is to come. Source: PTX ISA, "Parallel Synchronization and Communication Instructions:
mbarrier".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import I64, Array, Bool
from gpuviz.base.errors import KernelFault
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.shared_addresses import SharedAddresses
from gpuviz.ptx.text.ir import Instruction

MOST = (1 << 20) - 1  # arrivals, and bytes
_FIELD, _BYTES = np.uint64(MOST), np.uint64((1 << 22) - 1)
_VALID, _PHASE = np.uint64(1 << 62), np.uint64(1 << 63)


@dataclass(eq=False)
class State:
    """(K,) mbarriers: what they expect, what is pending, bytes to come, the parity of the phase."""

    expected: I64
    pending: I64
    bytes: I64
    phase: I64

    @classmethod
    def of(cls, word: Array) -> State:
        """What words hold."""
        raw = word.astype(np.uint64)
        coming = (raw >> np.uint64(40) & _BYTES).astype(np.int64)
        return cls(
            (raw & _FIELD).astype(np.int64),
            (raw >> np.uint64(20) & _FIELD).astype(np.int64),
            np.where(coming >> 21, coming - (1 << 22), coming),
            (raw >> np.uint64(63)).astype(np.int64),
        )

    def words(self) -> Array:
        """Likewise, the other way."""
        made = self.expected.astype(np.uint64) | self.pending.astype(np.uint64) << np.uint64(20)
        coming = (self.bytes & int(_BYTES)).astype(np.uint64)
        phase = self.phase.astype(np.uint64) << np.uint64(63)
        return np.asarray(made | coming << np.uint64(40) | phase | _VALID)


def initialise(g: Group, at: SharedAddresses, count: I64) -> None:
    """Begin the first phase, of so many arrivals."""
    none = np.zeros_like(count)
    _cells(g)[_index(g, at)] = State(count, count, none, none).words()
    g.machine.polling.idle = 0


def invalidate(g: Group, at: SharedAddresses) -> None:
    """They are mbarriers no more."""
    _cells(g)[_index(g, at)] = 0


def read(g: Group, at: SharedAddresses, by: Instruction) -> State:
    """What mbarriers are in; KernelFault when some are none."""
    word = _cells(g)[_index(g, at)]
    none = word & _VALID == 0
    if none.any():
        one = int(np.argmax(none))
        lane = int(at.lane[one])
        message = (
            f"no mbarrier has been initialised at {int(at.offset[one]):#x} of shared memory "
            f"({by.opcode.text}, {by.where}, {g.who(lane)})"
        )
        remedy = "let one thread call mbarrier.init, then synchronise, before anybody uses it"
        raise g.fault("sync", "no mbarrier", message, by, lane, remedy)
    return State.of(word)


def change(
    g: Group, at: SharedAddresses, by: Instruction, arrivals: I64, coming: I64, drop: bool = False
) -> Array:
    """Bytes more are to come (fewer, when negative), then arrivals; (K,) the words before.

    Lanes come one after the other where a phase ends between them. `drop` takes arrivals away from
    the phases to come as well.
    """
    index = _index(g, at)
    which, place = np.unique(index, return_inverse=True)
    wanted = np.bincount(place, arrivals, len(which))
    state = read(g, at, by)
    if len(which) < len(index) and (wanted[place] > state.pending).any():
        before = np.zeros(len(index), np.uint64)
        turn = _turns(place)
        for number in range(int(turn.max()) + 1):
            some = turn == number
            part = SharedAddresses(at.lane[some], at.row[some], at.offset[some])
            before[some] = change(g, part, by, arrivals[some], coming[some], drop)
        return before
    _check(g, at, by, wanted[place] > state.pending, state)
    earlier = _before(place, arrivals)
    before = State(state.expected, state.pending - earlier, state.bytes, state.phase).words()
    one = np.unique(place, return_index=True)[1]
    total = wanted.astype(np.int64)
    made = State(*(x[one] for x in (state.expected, state.pending, state.bytes, state.phase)))
    made.pending = made.pending - total
    made.bytes = made.bytes + np.bincount(place, coming, len(which)).astype(np.int64)
    over_full = np.abs(made.bytes) > MOST
    if over_full.any():
        lane = int(at.lane[one[np.argmax(over_full)]])
        raise KernelFault(
            f"an mbarrier counts at most {MOST:,} bytes ({by.opcode.text}, {by.where}, "
            f"{g.who(lane)}): {int(np.abs(made.bytes).max()):,} are to come"
        )
    if drop:
        made.expected = made.expected - total
    over = (made.pending == 0) & (made.bytes == 0)
    made.pending = np.where(over, made.expected, made.pending)
    made.phase = np.where(over, 1 - made.phase, made.phase)
    _cells(g)[which] = made.words()
    g.machine.polling.idle = 0
    return before


def _turns(place: I64) -> I64:
    """The how-manieth of its place each is."""
    return _before(place, np.ones(len(place), np.int64))


def _before(place: I64, amount: I64) -> I64:
    """What came to the same place earlier."""
    order = np.argsort(place, kind="stable")
    total = np.cumsum(amount[order]) - amount[order]
    starts = np.flatnonzero(np.diff(place[order], prepend=-1))
    base = np.repeat(total[starts], np.diff([*starts, len(order)]))
    found = np.empty_like(total)
    found[order] = total - base
    return found


def _check(g: Group, at: SharedAddresses, by: Instruction, bad: Bool, state: State) -> None:
    if bad.any():
        one = int(np.argmax(bad))
        lane = int(at.lane[one])
        message = (
            f"more arrivals than an mbarrier expects: {int(state.pending[one])} of "
            f"{int(state.expected[one])} are pending in its phase ({by.opcode.text}, {by.where}, "
            f"{g.who(lane)})"
        )
        remedy = "initialise it with the number of arrivals of a phase"
        raise g.fault("sync", "mbarrier", message, by, lane, remedy)


def pending(word: Array) -> Array:
    """mbarrier.pending_count of what an arrival gave."""
    return State.of(word).pending.astype(np.uint32)


def _cells(g: Group) -> Array:
    return g.machine.memory.shared.cells.of(8)


def _index(g: Group, at: SharedAddresses) -> I64:
    return at.byte(g) >> 3
