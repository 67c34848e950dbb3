"""What lasts for a whole launch while its batches of blocks come and go."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gpuviz.errors import Cancelled, KernelFault
from gpuviz.observe import Listeners
from gpuviz.ptx.simt.code import FunctionCode
from gpuviz.ptx.simt.heap import Heap
from gpuviz.ptx.simt.printf import Printed
from gpuviz.ptx.simt.program import Program
from gpuviz.ptx.text.ir import Instruction
from gpuviz.trace import Launch

POLL_SECONDS = 0.05
FEW = 512  # threads: an instruction of fewer takes as long, so it is charged as much


@dataclass
class Execution:
    """The program, who listens, what was executed so far, output and heap of one launch.

    `codes` are the functions decoded so far, by name: it grows while the launch runs.
    """

    program: Program
    launch: Launch
    kernel: FunctionCode
    codes: Mapping[str, FunctionCode]
    told: Listeners
    heap: Heap
    budget: int
    cancel: Callable[[], bool]
    printed: Printed = field(default_factory=Printed)
    thread_instructions: int = 0
    warp_instructions: int = 0
    _spent: int = 0
    _next_poll: float = 0.0

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
        self._spent += count * max(threads, FEW)
        if self._spent > self.budget:
            text = self.program.module.line_text(at.ptx_line)
            raise KernelFault(
                f"stopped after {self.thread_instructions:,} thread instructions, still in the "
                f"loop at {at.where} ({text}): the kernel may never end. If it does, raise the "
                f"budget of {self.budget:,} (fewer than {FEW} threads in step count as {FEW})"
            )

    def forget_places(self) -> None:
        """Memory has moved: no function may use cell indices that it keeps."""
        for code in self.codes.values():
            code.forget_places()
