"""What lasts for a whole launch while its batches of blocks come and go."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gpuviz.errors import Cancelled, KernelFault
from gpuviz.ptx.decode.decoder import decode
from gpuviz.ptx.simt.access import Recorder
from gpuviz.ptx.simt.builtins import HEAP_BYTES
from gpuviz.ptx.simt.code import FunctionCode
from gpuviz.ptx.simt.program import Program
from gpuviz.ptx.text.ir import Function, Instruction
from gpuviz.trace import Branch, Finding, Launch, Sink

PRINT_LIMIT = 1 << 20  # characters, as CUDA's printf buffer holds 1 MiB
POLL_SECONDS = 0.05
FEW = 512  # threads: an instruction of fewer takes as long, so it is charged as much


@dataclass
class BranchCount:
    """Running totals of one branch instruction."""

    instruction: Instruction
    warps: int = 0
    divergent: int = 0
    taken: int = 0
    not_taken: int = 0

    def record(self) -> Branch:
        """As the trace keeps it."""
        at = self.instruction
        return Branch(
            at.pc, at.line, at.ptx_line, self.warps, self.divergent, self.taken, self.not_taken
        )


@dataclass
class Execution:
    """Decoded code, counters, findings and output of one launch."""

    program: Program
    launch: Launch
    sinks: tuple[Sink, ...]
    recorder: Recorder
    budget: int
    cancel: Callable[[], bool]
    heap: int = 0  # address of the device heap, 0 when the kernel has none
    codes: dict[str, FunctionCode] = field(default_factory=dict)
    branches: dict[int, BranchCount] = field(default_factory=dict)
    findings: dict[tuple[str, int], Finding] = field(default_factory=dict)
    executed: dict[int, int] = field(default_factory=dict)
    threads: dict[tuple[int, int], int] = field(default_factory=dict)
    thread_instructions: int = 0
    warp_instructions: int = 0
    steps: int = 0
    _spent: int = 0
    _printed: list[str] = field(default_factory=list)
    _print_size: int = 0
    _heap_used: int = 0
    _next_poll: float = 0.0

    def code(self, function: Function) -> FunctionCode:
        """The decoded form of a function."""
        if function.name not in self.codes:
            code = decode(function, len(self.codes), self.program)
            self.codes[function.name] = code
        return self.codes[function.name]

    def poll(self) -> None:
        """Stop with `Cancelled` if the caller wants to; asks at most every few milliseconds."""
        now = time.monotonic()
        if now >= self._next_poll:
            self._next_poll = now + POLL_SECONDS
            if self.cancel():
                raise Cancelled("stopped")

    def spend(self, threads: int, warps: int, count: int, at: Instruction) -> None:
        """Count a block of `count` instructions, `at` first; stop a kernel that never ends."""
        self.thread_instructions += count * threads
        self.warp_instructions += count * warps
        self.executed[at.pc] = self.executed.get(at.pc, 0) + warps
        self.threads[at.pc, count] = self.threads.get((at.pc, count), 0) + threads
        self._spent += count * max(threads, FEW)
        if self._spent > self.budget:
            text = self.program.module.line_text(at.ptx_line)
            raise KernelFault(
                f"stopped after {self.thread_instructions:,} thread instructions, still in the "
                f"loop at {at.where} ({text}): the kernel may never end. If it does, raise the "
                f"budget of {self.budget:,} (fewer than {FEW} threads in step count as {FEW})"
            )

    def branch(
        self, at: Instruction, warps: int, divergent: int, taken: int, not_taken: int
    ) -> None:
        """Add to the totals of a branch."""
        count = self.branches.get(at.pc)
        if count is None:
            count = self.branches[at.pc] = BranchCount(at)
        count.warps += warps
        count.divergent += divergent
        count.taken += taken
        count.not_taken += not_taken

    def find(self, finding: Finding) -> None:
        """Keep the first finding of a kind at a place, and count the others."""
        key = finding.kind, finding.ptx_line
        first = self.findings.get(key, finding)
        count = finding.count + (self.findings[key].count if key in self.findings else 0)
        self.findings[key] = Finding(**{**first.__dict__, "count": count})

    def print(self, text: str) -> None:
        """Keep what the kernel prints, up to a limit."""
        if self._print_size < PRINT_LIMIT:
            self._printed.append(text)
            self._print_size += len(text)

    @property
    def printed(self) -> str:
        """All text printed so far."""
        return "".join(self._printed)

    def allocate(self, sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
        """Addresses of new heap blocks, 0 for those that no longer fit."""
        ends = self._heap_used + np.cumsum(sizes)
        starts = (ends - sizes + self.heap).astype(np.uint64)
        fits = ends <= HEAP_BYTES
        if fits.any():
            self._heap_used = int(ends[fits][-1])
        return np.where(fits, starts, np.uint64(0))
