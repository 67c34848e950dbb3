"""When a launch is to be stopped: its time is up, its instructions are, or nobody wants it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from gpuviz.base.errors import Cancelled, KernelFault

_GLANCE = 0.1  # of the time: then the rest is estimated from what is done
_HALF = 0.5


class OutOfTime(KernelFault):
    """A launch takes longer than it may."""


@dataclass
class Limits:
    """Asked a few times a second.

    `done` is the fraction of the blocks that have ended. Unless `patient`, time is up as soon as it
    is plain that it will not do.
    """

    cancel: Callable[[], bool]
    report: Callable[[float], None]
    seconds: float
    instructions: int | None = None
    patient: bool = True
    started: float = field(default_factory=time.monotonic)
    done: float = 0.0

    def progress(self, fraction: float) -> None:
        """So much is done."""
        self.done = fraction
        self.report(fraction)

    def exceeded(self, executed: Callable[[], int]) -> bool:
        """Whether to stop.

        Raises
        ------
        Cancelled : the caller wants to
        """
        if self.cancel():
            raise Cancelled("stopped")
        return self._too_many(executed()) or self.late

    def _too_many(self, executed: int) -> bool:
        return self.instructions is not None and executed > self.instructions

    @property
    def late(self) -> bool:
        """Whether time is up, or will be before all is done."""
        spent = (time.monotonic() - self.started) / self.seconds
        if self.done >= 1:
            return False
        if self.patient:
            return spent > 1
        if not self.done:
            return spent > _HALF
        return spent > _GLANCE and spent / self.done > 1

    def error(self, executed: int, loop: str) -> KernelFault:
        """What to raise; `loop` says where it was, or is ""."""
        what = f"stopped after {executed:,} thread instructions"
        if self._too_many(executed):
            limit = f"the limit of {self.instructions:,} thread instructions"
            return KernelFault(f"{what}{loop}: the kernel may never end. If it does, raise {limit}")
        limit = f"{self.seconds:,.4g} seconds"
        if self.done:
            remedy = f"it takes longer than {limit}: raise its budget, or have fewer blocks run"
            return OutOfTime(f"{what}, with {self.done:.1%} of the blocks done: {remedy}")
        why = f"the kernel may never end. If it does, raise the budget of {limit}"
        return OutOfTime(f"{what}{loop}: {why}")
