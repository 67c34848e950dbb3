"""One executed request to shared memory: its wavefronts, and what they bring to which lane."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.base.arrays import I64, U64, Bool
from gpuviz.memory.banks import (
    Conflict,
    conflict,
    schedule,
    served_groups,
    wavefronts,
    word_by_word,
)
from gpuviz.traces.trace import LANES, MemoryInstruction, Requests, Trace

_WORD = 4


@dataclass(frozen=True, eq=False)
class Deliveries:
    """Words that lanes want of the banks: (D,) `lane`, `word`, and the wavefront that brings it.

    `banks` is how many banks there are, `turns` how many wavefronts.
    """

    lane: I64
    word: I64
    turn: I64
    banks: int
    turns: int

    @cached_property
    def bank(self) -> I64:
        """(D,) the bank each word lies in."""
        return np.asarray(self.word % self.banks, dtype=np.int64)

    @cached_property
    def rows(self) -> I64:
        """(R,) rows of words that hold a wanted one."""
        return np.unique(self.word // self.banks)

    @cached_property
    def shown(self) -> I64:
        """(R * B,) every word of these rows."""
        return (self.rows[:, None] * self.banks + np.arange(self.banks)).ravel()

    @cached_property
    def shared(self) -> Bool:
        """(D,) whether more than one lane gets the word in that wavefront: a broadcast."""
        key = self.turn * (int(self.word.max(initial=0)) + 1) + self.word
        _, which, count = np.unique(key, return_inverse=True, return_counts=True)
        return np.asarray(count[which] > 1, dtype=bool)


@dataclass(frozen=True, eq=False)
class BankRequest:
    """A request to shared memory."""

    # instruction, block, warp: what was executed, and by whom.
    instruction: MemoryInstruction
    block: int
    warp: int
    # address, active: (32,) offset in shared memory, and the lanes that take part.
    address: I64
    active: Bool
    waves: tuple[I64, ...]  # lanes served by each wavefront
    ideal: int  # wavefronts if no two lanes collided
    worst: Conflict | None  # the worst collision, or None
    groups: tuple[I64, ...]  # lanes that are served together, in order
    brought: Deliveries  # every word that a lane wants, and the wavefront that brings it

    @property
    def is_store(self) -> bool:
        """Whether data goes to memory."""
        return self.instruction.op != "load"

    @property
    def count(self) -> int:
        """Wavefronts."""
        return len(self.waves)

    @cached_property
    def words(self) -> I64:
        """(W,) distinct words asked for."""
        return np.unique(self.brought.word)

    @cached_property
    def busy(self) -> I64:
        """(B,) banks that are asked for something."""
        return np.unique(self.brought.bank)

    def group_of(self, wave: int) -> int:
        """The group that a wavefront serves, -1 when it serves nobody."""
        lanes = self.waves[wave]
        found = (i for i, g in enumerate(self.groups) if len(lanes) and lanes[0] in g)
        return next(found, -1)


def bank_requests(
    trace: Trace, arch: Architecture, block: int, warp: int
) -> tuple[BankRequest, ...]:
    """The shared-memory requests of one warp, in the order it made them."""
    rows = trace.of(block=block, warp=warp, space="shared")
    return tuple(one_request(trace, arch, rows, i) for i in range(len(rows)))


def one_request(trace: Trace, arch: Architecture, rows: Requests, row: int) -> BankRequest:
    """One row of requests to shared memory."""
    did, address = trace.instructions[rows.instruction[row]], rows.address[row]
    active = rows.lanes(row)
    how = (active, did.width, did.op)
    waves = schedule(arch, address, *how)
    counted = wavefronts(arch, address[None], active[None], did.width, did.op)
    groups = served_groups(arch, address, *how)
    return BankRequest(
        did,
        int(rows.block[row]),
        int(rows.warp[row]),
        address.astype(np.int64),
        active,
        waves,
        int(counted.ideal[0]),
        conflict(arch, address, *how),
        tuple(groups),
        _deliveries(arch, address, did.width, waves),
    )


def _deliveries(arch: Architecture, address: U64, width: int, waves: tuple[I64, ...]) -> Deliveries:
    """Lane, word and wavefront of every word that is moved.

    A lane that is served several times (wide accesses of 1.x) gets one word each time, else all.
    """
    words = max(1, width // _WORD)
    times = np.zeros(LANES, np.int64)
    rows: list[tuple[int, int, int]] = []
    piecewise = word_by_word(arch)
    for turn, lanes in enumerate(waves):
        for lane in lanes.tolist():
            first = int(address[lane]) // _WORD
            part = range(times[lane], times[lane] + 1) if piecewise else range(words)
            rows += [(lane, first + k, turn) for k in part]
        times[lanes] += 1
    who, word, when = np.array(rows, np.int64).reshape(-1, 3).T
    return Deliveries(who, word, when, arch.banks, len(waves))
