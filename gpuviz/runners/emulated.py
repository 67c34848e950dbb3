"""Run a launch without a GPU: emulate its PTX, count what its memory accesses cost."""

from __future__ import annotations

from dataclasses import replace

from gpuviz.arch import Architecture
from gpuviz.arguments import materialise
from gpuviz.memory.counting import Counter
from gpuviz.ptx.emulator import Options, emulate
from gpuviz.ptx.parser import parse
from gpuviz.runners.base import Level, Run
from gpuviz.runners.job import Job, check_limits
from gpuviz.runners.names import source_parameters


def run(job: Job, arch: Architecture, *, level: Level = "ptx", options: Options | None = None
        ) -> Run:
    """Emulate a launch and predict its counts on an architecture.

    Raises
    ------
    LaunchError, UnsupportedError, KernelFault, Cancelled : as `emulate` and `check_limits` do
    """
    check_limits(job, arch)
    module = parse(job.program.ptx)
    counter = Counter(arch)
    arguments = [materialise(spec, number) for number, spec in enumerate(job.arguments)]
    names = source_parameters(job.program.source, job.entry, len(arguments))
    result = emulate(
        module, job.entry, job.grid, job.block, arguments, dynamic_shared=job.dynamic_shared,
        sinks=(counter,), options=options, names=names, arch=arch.sm,
        source=job.program.source)
    trace = replace(result.trace, notes=result.trace.notes + (
        (job.program.note,) if job.program.note else ()))
    return Run(trace, counter.result(), result.outputs, arch.sm, level, "", job.resources)

