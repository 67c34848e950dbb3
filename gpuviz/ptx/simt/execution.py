"""What lasts for a whole launch while its batches of blocks come and go."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from gpuviz.ptx.options import Limits
from gpuviz.ptx.simt.code import FunctionCode
from gpuviz.ptx.simt.global_memory import Heap
from gpuviz.ptx.simt.printf import PrintfOutput
from gpuviz.ptx.simt.program import Program
from gpuviz.ptx.text.ir import Instruction
from gpuviz.traces.observe import Listeners
from gpuviz.traces.trace import Launch

POLL_SECONDS = 0.05


@dataclass
class Execution:
    """The program, who listens, what was executed so far, output and heap of one launch.

    `codes` are the functions decoded so far, by name: it grows while the launch runs. Where it
    `goes_on`, an access outside of all buffers is a finding and ends nothing.
    """

    program: Program
    launch: Launch
    kernel: FunctionCode
    codes: Mapping[str, FunctionCode]
    told: Listeners
    heap: Heap
    limits: Limits
    goes_on: bool = False
    printed: PrintfOutput = field(default_factory=PrintfOutput)
    thread_instructions: int = 0
    warp_instructions: int = 0
    _next_poll: float = 0.0

    def spend(self, threads: int, warps: int, count: int, at: Instruction) -> None:
        """Count a block of `count` instructions, `at` first; see every few milliseconds whether to
        stop.
        """
        self.thread_instructions += count * threads
        self.warp_instructions += count * warps
        now = time.monotonic()
        if now >= self._next_poll or self.limits.instructions is not None:
            self._next_poll = now + POLL_SECONDS
            if self.limits.exceeded(lambda: self.thread_instructions):
                text = self.program.module.line_text(at.ptx_line)
                loop = f", still in the loop at {at.where} ({text})"
                raise self.limits.error(self.thread_instructions, loop)

    def forget_places(self) -> None:
        """Memory has moved: no function may use cell indices that it keeps."""
        for code in self.codes.values():
            code.forget_places()
