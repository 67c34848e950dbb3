"""Limits and wishes of a run."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from gpuviz.base.errors import Cancelled, KernelFault
from gpuviz.base.waiting import SECONDS, Cancel, Progress, go_on, quiet

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
    clock: Callable[[], float] = time.monotonic

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
        spent = (self.clock() - self.started) / self.seconds
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


Engine = Literal["auto", "compiled", "numpy"]
Blocks = Literal["auto", "all", "classes", "sample"]
RECORD_LIMIT = 2_000_000  # requests kept at most, and stretches of the path


@dataclass(frozen=True)
class Options:
    """Limits and wishes of a run."""

    record: tuple[int, ...] = (0,)  # linear ids of the blocks whose requests are kept
    # Which of them are executed: "all"; one of each class of blocks that provably do the same
    # ("classes", see `gpuviz.ptx.equivalence`: counts are exact, outputs those of few blocks; where
    # nothing can be proved it is "auto"); a "sample", from which counts are estimated; "auto": all
    # if there is time for it, else classes, else a sample.
    blocks: Blocks = "auto"
    max_blocks: int | None = None  # emulate only that many blocks, spread over the grid, and say so
    # How long the launch may take; what it takes to place arguments does not count.
    seconds: float = SECONDS
    instructions: int | None = None  # how many thread instructions it may take, None for any number
    patient: bool = True  # whether to use all of the time before giving up
    threads: int = 0  # the compiled engine runs on so many, 0 for all cores
    memory: int = 2 << 30  # bytes, for everything but the buffers
    record_limit: int = RECORD_LIMIT
    path: bool = False  # whether to keep the way of the recorded blocks through the program, too
    # What is looked for (`gpuviz.traces.check_table`), by the NumPy engine: accesses outside of all
    # memory end the run whatever is asked for; unless `thorough`, they are looked for only where
    # that engine runs the launch anyway.
    checks: tuple[str, ...] = ()
    thorough: bool = True
    # Whether the NumPy engine goes on after accesses outside of all buffers, or near the end of
    # shared memory: reads give 0, writes are lost, each is a finding; whether a run that another
    # fault ends keeps what it did.
    goes_on: bool = False
    engine: Engine = "auto"  # who executes the launch
    # What `seconds` are of: of everybody, or those of the thread alone, however busy the machine.
    clock: Callable[[], float] = time.monotonic
    # Hears the fraction done, 0 to 1.
    progress: Progress = quiet
    cancel: Cancel = go_on

    def limits(self) -> Limits:
        """When to stop; time begins now."""
        wanted = self.cancel, self.progress, self.seconds, self.instructions, self.patient
        return Limits(*wanted, started=self.clock(), clock=self.clock)
