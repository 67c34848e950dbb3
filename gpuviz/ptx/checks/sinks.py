"""The sinks that do the checks of `gpuviz.checks`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gpuviz.observe import Sink
from gpuviz.ptx.checks.heap import HeapCheck
from gpuviz.ptx.checks.init import InitCheck
from gpuviz.ptx.checks.race import RaceCheck
from gpuviz.ptx.checks.sync import SyncCheck

# Each is told whether the lanes of a warp run in lockstep (compute capability below 7.0).
SINKS: dict[str, Callable[[bool], Sink]] = {
    "memory": lambda lockstep: HeapCheck(),
    "race": RaceCheck,
    "init": lambda lockstep: InitCheck(),
    "sync": lambda lockstep: SyncCheck(),
}


def sinks(checks: Iterable[str], lockstep: bool) -> tuple[Sink, ...]:
    """The sinks of some checks."""
    return tuple(SINKS[name](lockstep) for name in checks)
