"""The table of the checks of `gpuviz.traces.check_table`: what carries out each."""

from collections.abc import Callable, Iterable

from gpuviz.ptx.checks.arrays import ArrayCheck
from gpuviz.ptx.checks.clusters import ClusterRaceCheck
from gpuviz.ptx.checks.heap import HeapCheck
from gpuviz.ptx.checks.init import InitCheck
from gpuviz.ptx.checks.race import RaceCheck
from gpuviz.ptx.checks.sync import SyncCheck
from gpuviz.ptx.simt.program import Program
from gpuviz.traces.observe import Sink

# Each is told whether the lanes of a warp run in lockstep (compute capability below 7.0).
SINKS: dict[str, Callable[[bool, Program], tuple[Sink, ...]]] = {
    "memory": lambda lockstep, program: (HeapCheck(), ArrayCheck(program)),
    "race": lambda lockstep, program: (
        RaceCheck(lockstep, program.memory.bounds())
        if program.cluster.size == 1
        else ClusterRaceCheck(program),
    ),
    "init": lambda lockstep, program: (InitCheck(program.reserved, program.cluster),),
    "sync": lambda lockstep, program: (SyncCheck(),),
}


def sinks(checks: Iterable[str], lockstep: bool, program: Program) -> tuple[Sink, ...]:
    """The sinks of some checks."""
    return tuple(sink for name in checks for sink in SINKS[name](lockstep, program))
