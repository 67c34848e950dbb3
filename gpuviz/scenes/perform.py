"""From a lesson and its parameters to the story: compile, run, tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from gpuviz.arch import architecture
from gpuviz.arguments import parse
from gpuviz.compile import Program, entry_name, gallery, own_program
from gpuviz.compile import prebuilt as shipped
from gpuviz.errors import Cancelled, UnavailableError
from gpuviz.ptx.emulator import Options
from gpuviz.runners import emulated, session
from gpuviz.runners.base import Cancel, Level, Progress, Run
from gpuviz.runners.consent import Whose
from gpuviz.runners.job import Job
from gpuviz.runners.measurement import Measurement
from gpuviz.runners.session import Library
from gpuviz.runners.sweep_file import KERNEL as SWEPT
from gpuviz.scenes.base import Lesson, Plan, Story, Values
from gpuviz.scenes.check import check_values

Measured = Callable[[Plan], Measurement | None]


@dataclass(frozen=True, eq=False)
class Performance:
    """A lesson performed: its story, the runs it tells of (by role), and what was launched."""

    story: Story
    runs: Mapping[str, Run]
    plans: tuple[Plan, ...]


def perform(
    lesson: Lesson,
    values: Values,
    *,
    arch: str = "sm_90",
    level: Level = "sass",
    progress: Progress = lambda fraction: None,
    cancel: Cancel = lambda: False,
    measured: Measured | None = None,
    prebuilt: bool = False,
    library: Library | None = None,
    checks: tuple[str, ...] = (),
) -> Performance:
    """Run every launch of a lesson and tell its story.

    Launches are looked up in `library`, by default in what ships; `measured` finds what a GPU made
    of a launch in place of its recordings.
    `prebuilt` launches the PTX that ships, which is there at once; it has no machine code.
    `checks` are looked for (see `gpuviz.checks`) where the NumPy engine runs a launch anyway.

    Raises
    ------
    InputError : the values make no sense
    UnavailableError : `prebuilt`, and there is no such PTX of a kernel with these values
    UnavailableError, CompileError, KernelFault, Cancelled : from the runs
    """
    checked = check_values(lesson, values)
    library = library or session.shipped()
    plans = lesson.plan(checked)
    runs: dict[str, Run] = dict(lesson.given(arch))
    for number, plan in enumerate(plans):
        if cancel():
            raise Cancelled("stopped")

        def part(fraction: float, done: int = number) -> None:
            progress((done + fraction) / len(plans))

        options = Options(
            record=plan.record,
            path=plan.path,
            checks=checks,
            thorough=False,
            progress=part,
            cancel=cancel,
        )
        job = job_of(plan, arch, prebuilt, library)
        run = emulated.run(job, architecture(arch), level=level, options=options)
        runs[plan.role] = replace(
            run,
            measurement=measured(plan) if measured else library.recordings.find(plan).measurement,
            shape_times=library.shape_times if plan.kernel == SWEPT else None,
        )
    progress(1.0)
    return Performance(lesson.tell(checked, runs), runs, plans)


def job_of(plan: Plan, arch: str, prebuilt: bool = False, library: Library | None = None) -> Job:
    """The launch of a plan, compiled for an architecture; taken prebuilt when that is asked for,
    or where there is no compiler; a user's own file then from the programs of `library`, if they
    have it.

    A file of a kernel is a stranger's: whoever named it may have had it from somewhere.
    """
    own, library = Path(plan.kernel), library or session.shipped()
    whose: Whose = "stranger" if own.is_absolute() else "course"
    if own.is_absolute():
        program = own_program(own, arch, dict(plan.defines), library.programs, library.reach)
    elif prebuilt:
        program = _shipped(plan)
    else:
        program = gallery(plan.kernel, dict(plan.defines), arch)
    return Job(
        program,
        entry_name(program.kernels, plan.entry),
        plan.grid,
        plan.block,
        tuple(map(parse, plan.arguments)),
        plan.dynamic_shared,
        whose,
    )


def _shipped(plan: Plan) -> Program:
    """The PTX that ships for a launch.

    Raises
    ------
    UnavailableError : there is none for these macros, or it is of another source
    """
    found = shipped(plan.kernel, dict(plan.defines))
    if found is None:
        raise UnavailableError(
            f"{plan.kernel} is not shipped prebuilt with these values: it has to be compiled"
        )
    return found
