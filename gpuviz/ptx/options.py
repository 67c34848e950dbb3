"""Limits and wishes of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from gpuviz.base.waiting import SECONDS
from gpuviz.ptx.limits import Limits

Engine = Literal["auto", "compiled", "numpy"]
Blocks = Literal["auto", "all", "classes", "sample"]
RECORD_LIMIT = 2_000_000  # requests kept at most, and stretches of the path


@dataclass(frozen=True)
class Options:
    """Limits and wishes of a run.

    Attributes
    ----------
    record : linear ids of the blocks whose requests are kept
    blocks : which of them are executed: "all"; one of each class of blocks that provably do the
        same ("classes", see `gpuviz.ptx.classes`: counts are exact, outputs those of few blocks;
        where nothing can be proved it is "auto"); a "sample", from which counts are estimated;
        "auto": all if there is time for it, else classes, else a sample
    max_blocks : emulate only that many blocks, spread over the grid, and say so
    seconds : how long the launch may take; what it takes to place arguments does not count
    instructions : how many thread instructions it may take, None for any number
    patient : whether to use all of the time before giving up
    threads : the compiled engine runs on so many, 0 for all cores
    memory : bytes, for everything but the buffers
    path : whether to keep the way of the recorded blocks through the program, too
    checks : what is looked for (`gpuviz.traces.checks`), by the NumPy engine: accesses outside of
        all memory end the run whatever is asked for; unless `thorough`, they are looked for only
        where that engine runs the launch anyway
    goes_on : whether the NumPy engine goes on after accesses outside of all buffers, or near the
        end of shared memory: reads give 0, writes are lost, each is a finding; whether a run that
        another fault ends keeps what it did
    engine : who executes the launch
    progress : hears the fraction done, 0 to 1
    """

    record: tuple[int, ...] = (0,)
    blocks: Blocks = "auto"
    max_blocks: int | None = None
    seconds: float = SECONDS
    instructions: int | None = None
    patient: bool = True
    threads: int = 0
    memory: int = 2 << 30
    record_limit: int = RECORD_LIMIT
    path: bool = False
    checks: tuple[str, ...] = ()
    thorough: bool = True
    goes_on: bool = False
    engine: Engine = "auto"
    progress: Callable[[float], None] = field(default=lambda fraction: None)
    cancel: Callable[[], bool] = field(default=lambda: False)

    def limits(self) -> Limits:
        """When to stop; time begins now."""
        return Limits(self.cancel, self.progress, self.seconds, self.instructions, self.patient)
