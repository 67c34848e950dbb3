"""The emulation of a lesson's launch, with what its story tells of time: all that takes long of a
performance, in whatever process it is called.
"""

import re
from contextlib import suppress
from dataclasses import replace

from gpuviz.arch import Architecture, architecture
from gpuviz.base.errors import UnavailableError
from gpuviz.base.waiting import Cancel, Progress
from gpuviz.launch.job import Job
from gpuviz.ptx.options import Options
from gpuviz.run import emulated
from gpuviz.run.run import Level, Run
from gpuviz.source.kernel_names import source_parameters
from gpuviz.story.lesson import Plan

_LARGE = 32 << 20  # bytes of a launch's arrays that are let go where nobody reads them
_BEFORE = 4 << 20  # likewise of what they held before it
_MOST = 256 << 20  # bytes of them that are kept for who reads them


def run_of(
    plan: Plan,
    job: Job,
    arch: str,
    level: Level,
    options: Options,
    *,
    progress: Progress,
    cancel: Cancel,
) -> Run:
    """The emulation of a plan, without arrays that nobody reads; raises as `emulated.run`."""
    options = replace(options, progress=progress, cancel=cancel)
    how = emulated.through if plan.goes_on else emulated.run
    run = how(job, architecture(arch), level=level, options=options)
    if job.whose == "stranger" and run.trace.findings:
        from gpuviz.run.roomy import as_proposed
        from gpuviz.run.tried import tried

        run = tried(
            as_proposed(run, replace(job, guesses=_guessed(plan, job))),
            job,
            architecture(arch),
            options,
        )
    size = sum(array.nbytes for array in run.outputs.values())
    unread = plan.companion_of or (not plan.outputs and size >= _LARGE) or not run.whole
    too_large = size > _MOST and job.whose == "stranger"  # a lesson's story needs what it reads
    if unread or too_large:
        run = replace(run, outputs={}, inputs={})
    elif size > (_MOST // 2 if plan.outputs else _BEFORE):
        run = replace(run, inputs={})
    return _over_time(plan, job, architecture(arch), options, run)


def _guessed(plan: Plan, job: Job) -> dict[str, str]:
    """What nobody said of a launch, and what was taken for it."""
    names = source_parameters(job.program.source, job.entry, len(plan.arguments))
    texts = dict(zip(names, plan.arguments, strict=False))
    texts |= {"grid": ",".join(map(str, plan.grid)), "block": ",".join(map(str, plan.block))}
    return {one: texts.get(re.split(r"[.\[]", one)[0], "") for one in plan.guesses}


def _over_time(plan: Plan, job: Job, arch: Architecture, options: Options, run: Run) -> Run:
    """The run with what its story tells of time; the model of it is loaded where one does."""
    if plan.timeline:
        from gpuviz.run import predicted

        each = plan.timeline == "each"
        run = replace(run, timelines=predicted.timelines(job, arch, options, run, each))
    if plan.explained:
        from gpuviz.run.predicted import explain

        with suppress(UnavailableError):  # no device of the architecture is modelled
            found = explain(
                job, arch, options=options, progress=options.progress, cancel=options.cancel
            )
            run = replace(run, explained=found)
    return run
