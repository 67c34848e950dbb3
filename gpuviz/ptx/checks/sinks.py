"""The sinks that do the checks of `gpuviz.checks`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gpuviz.observe import Sink
from gpuviz.ptx.checks.heap import HeapCheck
from gpuviz.ptx.checks.init import InitCheck
from gpuviz.ptx.checks.race import RaceCheck
from gpuviz.ptx.checks.sync import SyncCheck

# Each is told whether the lanes of a warp run in lockstep (compute capability below 7.0), and
# where the system's part of shared memory begins (0: nobody asks for it).
SINKS: dict[str, Callable[[bool, int], Sink]] = {
    "memory": lambda lockstep, system: HeapCheck(),
    "race": lambda lockstep, system: RaceCheck(lockstep),
    "init": lambda lockstep, system: InitCheck(system),
    "sync": lambda lockstep, system: SyncCheck(),
}


def sinks(checks: Iterable[str], lockstep: bool, system: int = 0) -> tuple[Sink, ...]:
    """The sinks of some checks."""
    return tuple(SINKS[name](lockstep, system) for name in checks)
