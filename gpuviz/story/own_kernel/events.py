"""What the warps of a block did, in order: requests to memory, and the barriers between them.

There may be millions: what is known of all of them is in arrays; a request is made into a record
with its transactions or wavefronts when it is looked at.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.base.arrays import I8, I32, I64, Bool
from gpuviz.base.keeping import kept_with_first
from gpuviz.memory.bank_request import BankRequest
from gpuviz.memory.bank_request import one_request as one_bank_request
from gpuviz.memory.request import Request, one_request
from gpuviz.ptx.text.parser import parse
from gpuviz.story.script import KINDS, StepKind
from gpuviz.traces.trace import MemoryInstruction, Path, Requests, Trace

ALL = -1  # every warp of the block
_KEPT = 64  # requests looked at last
_BARRIERS = ("bar.sync", "barrier.sync", "bar.red", "barrier.red", "barrier.cta", "bar.cta")


@dataclass(frozen=True, eq=False)
class Events:
    """The events of one warp of a block, or of all its warps."""

    # trace, arch, block, warp: whose they are; `warp` may be `ALL`.
    trace: Trace
    arch: Architecture
    block: int
    warp: int
    rows: Requests  # (R,) the requests among them
    row: I64  # (N,) which of the rows an event is; -1 for a barrier
    phase: I32  # (N,) barriers that the block had passed before

    def __len__(self) -> int:
        """How many there are."""
        return len(self.row)

    @cached_property
    def kinds(self) -> I8:
        """(N,) what they are, by `KINDS`."""
        of = [KINDS.index(kind_of(did)) for did in self.trace.instructions]
        return self._of_rows(of, KINDS.index("barrier")).astype(np.int8)

    def kind(self, number: int) -> StepKind:
        """What one of them is."""
        return KINDS[int(self.kinds[number])]

    @cached_property
    def lines(self) -> I32:
        """(N,) their lines of the CUDA source, 0 where it is not known."""
        known = self._of_rows([did.line for did in self.trace.instructions], 0)
        at = np.flatnonzero(self.row < 0)
        known[at] = self._barrier_lines(self.phase[at])
        return known.astype(np.int32)

    @cached_property
    def instruction(self) -> I32:
        """(N,) which of the trace's instructions each is, -1 for a barrier."""
        return self._of_rows(list(range(len(self.trace.instructions))), -1).astype(np.int32)

    def _of_rows(self, of: list[int], barrier: int) -> I64:
        """(N,) a number that instructions have, and one that barriers have."""
        each = np.array([*of, barrier], np.int64)
        which = self.rows.instruction[self.row] if len(self.rows) else np.zeros(len(self), np.int64)
        return np.asarray(each[np.where(self.row < 0, len(of), which)])

    def _barrier_lines(self, passed: I32) -> I64:
        """Where the so-manieth barrier of the block stands, as the path of a warp tells."""
        path = self.trace.path
        if path is None or not len(passed):
            return np.zeros(len(passed), np.int64)
        mine = path.of(self.block, max(self.warp, 0))
        lines = np.array([_barrier_line(self.trace, s.pc, s.count) for s in self.trace.stretches])
        met = lines[mine.stretch] if len(mine.stretch) else np.zeros(0, np.int64)
        met = met[met >= 0]
        if not len(met):
            return np.zeros(len(passed), np.int64)
        return np.asarray(met[np.minimum(passed, len(met) - 1)])

    @cached_property
    def did(self) -> Callable[[int], MemoryInstruction | None]:
        """The instruction of an event, None for a barrier."""
        rows, every = self.rows.instruction, self.trace.instructions
        return lambda n: None if self.row[n] < 0 else every[int(rows[self.row[n]])]

    def request_on(self, line: int, space: str, turn: int) -> int | None:
        """The first request of a line (0: any) to a memory ("": any); of its instruction the one
        of that turn, counted from 1, or the last. None where there is no such request.
        """
        here = np.flatnonzero((self.row >= 0) & ((line == 0) | (self.lines == line)))
        which = self.rows.instruction[self.row[here]]
        spaces = [did.space for did in self.trace.instructions]
        fits = np.array([space in ("", name) for name in spaces], bool)[which]
        if not fits.any():
            return None
        every = here[which == which[fits.argmax()]]
        return int(every[min(turn, len(every)) - 1])

    def warp_of(self, number: int) -> int:
        """Who makes the request of an event; for a barrier of all warps, nobody (`ALL`)."""
        row = int(self.row[number])
        return self.warp if row < 0 else int(self.rows.warp[row])

    @cached_property
    def request(self) -> Callable[[int], Request | BankRequest | None]:
        """The request of an event, None for a barrier and where nothing of its memory is known."""
        return lru_cache(maxsize=_KEPT)(self._request)

    def _request(self, number: int) -> Request | BankRequest | None:
        did, row = self.did(number), int(self.row[number])
        if did is None:
            return None
        if did.space == "shared":
            return one_bank_request(self.trace, self.arch, self.rows, row)
        if did.space != "global":
            return None
        return one_request(self.trace, self.arch, self.rows, row)

    @cached_property
    def path(self) -> Path | None:
        """The way of the warp through the program, None where it is not known or of all warps."""
        known = self.trace.path
        return None if known is None or self.warp == ALL else known.of(self.block, self.warp)


def events_of(trace: Trace, arch: Architecture, block: int, warp: int) -> Events:
    """The events of a warp, or of `ALL`, of one block."""
    rows = trace.of(block=block, warp=None if warp == ALL else warp)
    if (np.diff(rows.phase) < 0).any():  # told warp by warp: nobody is past a barrier before others
        rows = rows.select(np.argsort(rows.phase, kind="stable"))
    passed = np.diff(rows.phase, prepend=0)
    row = np.repeat(np.arange(len(rows)), passed + 1)
    ends = np.cumsum(passed + 1) - 1 if len(rows) else np.zeros(0, np.int64)
    is_row: Bool = np.zeros(len(row), bool)
    is_row[ends] = True
    behind = (ends[row] - np.arange(len(row))).astype(np.int32)  # barriers still before its request
    return Events(
        trace,
        arch,
        block,
        warp,
        rows,
        np.where(is_row, row, -1),
        np.asarray(rows.phase[row] - behind, np.int32),
    )


def every_warp(events: Events) -> Events:
    """Those of all warps of the same block."""
    return events if events.warp == ALL else _every(events.trace, events.arch, events.block)


@kept_with_first(2)
def _every(trace: Trace, arch: Architecture, block: int) -> Events:
    return events_of(trace, arch, block, ALL)


def kind_of(did: MemoryInstruction) -> StepKind:
    """How a request is shown on a time line."""
    if did.op in ("atomic", "reduction"):
        return "atomic"
    if did.space == "shared":
        return "shared"
    return "store" if did.op == "store" else "load"


@lru_cache(maxsize=8)
def _barriers(ptx: str) -> dict[int, int]:
    """The CUDA line of each barrier of blocks, by its number in the program."""
    functions = parse(ptx).functions if ptx else ()
    every = (one for function in functions for one in function.body)
    return {one.pc: one.line for one in every if one.opcode.text.startswith(_BARRIERS)}


def _barrier_line(trace: Trace, pc: int, count: int) -> int:
    """The CUDA line of the barrier that a stretch has, -1 where it has none."""
    return next((line for at, line in _barriers(trace.ptx).items() if pc <= at < pc + count), -1)
