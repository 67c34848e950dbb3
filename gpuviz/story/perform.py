"""From a lesson and its parameters to the story: compile, run, narrate."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any

from gpuviz.arch import architecture
from gpuviz.arguments import parse
from gpuviz.base.errors import Cancelled, LaunchError, UnavailableError
from gpuviz.base.waiting import SECONDS, Cancel, Progress, go_on, quiet
from gpuviz.compile import Program, entry_name, gallery, own_program
from gpuviz.compile import prebuilt as shipped
from gpuviz.launch.job import Job, Whose, check_limits
from gpuviz.processes.calls import here
from gpuviz.processes.memory import available
from gpuviz.ptx.options import Options
from gpuviz.recordings.measurement import DeviceFacts, Measurement
from gpuviz.run import session
from gpuviz.run.run import Companion, Level, Run
from gpuviz.run.session import Library
from gpuviz.story.lesson import Lesson, Plan, Runs, Story, Values, check_values
from gpuviz.story.lesson_sweeps import measured_in, tables

_BYTES, _MOST = 256 << 20, 128  # all launches of a lesson: values that change none cost nothing
_LARGEST = 512 << 20  # of the newest, which is being looked at
_KEPT: dict[Hashable, tuple[Run, int]] = {}
_LOCK = Lock()


def kept(key: Hashable, made: Callable[[], Run]) -> Run:
    """The run known by a key, or one that is made now."""
    with _LOCK:
        found = _KEPT.pop(key, None)
    run, size = found or _weighed(made())
    with _LOCK:
        if size < _LARGEST:
            _KEPT[key] = run, size  # the newest is the last
        while len(_KEPT) > 1 and (
            len(_KEPT) > _MOST or sum(weight for _, weight in _KEPT.values()) > _BYTES
        ):
            _KEPT.pop(next(iter(_KEPT)))
    return run


def _weighed(run: Run) -> tuple[Run, int]:
    """A run, and about how many bytes it holds: what it left behind, and its recorded requests."""
    path = len(run.trace.path.stretch) if run.trace.path else 0
    recorded = len(run.trace.requests) * 320 + path * 20
    arrays = (*run.inputs.values(), *run.outputs.values())
    return run, recorded + sum(array.nbytes for array in arrays)


Measured = Callable[[Plan], Measurement | None]

CallRun = Callable[..., Run]  # `calls.here`, or what stands in its place
_STRANGER = 1 << 30  # bytes that the emulation of a lecture's kernel may take


@dataclass(frozen=True, eq=False)
class Performance:
    """A lesson performed: its story, the runs it tells of (by role), and what was launched.

    Companions (`Plan.companion`), and what is `later`, are among the plans; among the runs once
    they are emulated.
    """

    story: Story
    runs: Mapping[str, Run]
    plans: tuple[Plan, ...]

    @property
    def waiting(self) -> tuple[Plan, ...]:
        """What is to be emulated next: what is later, then companions, which take long."""
        missing = tuple(plan for plan in self.plans if plan.role not in self.runs)
        return tuple(plan for plan in missing if not plan.companion_of) or missing


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
    seconds: float = SECONDS,
    begun: Performance | None = None,
    hasty: bool = False,
    call: CallRun = here,
) -> Performance:
    """Run every launch of a lesson and tell its story.

    Launches are looked up in `library`, by default in what ships; `measured` finds what a GPU made
    of a launch in place of its recordings.
    `prebuilt` launches the PTX that ships, which is there at once; it has no machine code.
    `checks` are looked for (`check_table`) where the NumPy engine runs a launch anyway;
    what takes longer than so many `seconds` is counted from some of its blocks.
    Companions are emulated only where a performance that has been `begun` is gone on with: that
    may take many seconds, and a story does not wait for it. One that is `hasty` does not wait for
    what only a table needs, either (`Plan.later`).
    `call` calls what takes long, in this process or elsewhere (`processes.calls`).

    Raises
    ------
    InputError : the values make no sense
    UnavailableError, CompileError, KernelFault, Cancelled : from the runs, or `prebuilt`, and there
        is no such PTX of a kernel with these values
    """
    checked, library = check_values(lesson, values), library or session.shipped()
    plans = begun.plans if begun else accepted(lesson.plan(checked), arch, prebuilt, library)
    find = measured or (lambda plan: library.recordings.find(plan).measurement)
    beside = [plan for plan in plans if plan.companion_of]
    at_once = [plan for plan in plans if not (plan.companion_of or (hasty and plan.later))]
    wanted = begun.waiting if begun else at_once
    runs: dict[str, Run] = dict(begun.runs if begun else lesson.given(arch))
    for plan, part in _in_turn(wanted, progress, cancel):
        options = _options(plan, checks, seconds, part, cancel)
        run = _run(plan, arch, level, options, prebuilt, library, call)
        others = tuple(map(find, plan.others))
        runs[plan.role] = replace(
            run, measurement=find(plan), companion_of=plan.companion_of, others=others
        )
    runs = _in_order(runs, plans)
    for plan in beside:
        made = Companion(plan.role, plan.size_words, find(plan), runs.get(plan.role))
        runs[plan.companion_of] = replace(runs[plan.companion_of], companion=made)
    runs |= _swept(lesson, checked, runs, level, arch, library.gpu, measured is None)
    progress(1.0)
    return Performance(lesson.narrate(checked, runs), runs, plans)


def _in_order(runs: Runs, plans: Sequence[Plan]) -> dict[str, Run]:
    """The runs as they are launched, companions at the end: whichever came first."""
    whole = [plan.role for plan in plans if not plan.companion_of]
    place = {plan.role: len(whole) for plan in plans} | {role: n for n, role in enumerate(whole)}
    return dict(sorted(runs.items(), key=lambda one: place.get(one[0], -1)))


def _in_turn(
    plans: Sequence[Plan], progress: Progress, cancel: Cancel
) -> Iterator[tuple[Plan, Progress]]:
    """Launch after launch, each with how its part of the progress is told."""
    for number, plan in enumerate(plans):
        if cancel():
            raise Cancelled("stopped")

        def part(fraction: float, done: int = number) -> None:
            progress((done + fraction) / len(plans))

        yield plan, part


def _options(
    plan: Plan, checks: tuple[str, ...], seconds: float, progress: Progress, cancel: Cancel
) -> Options:
    """How a launch is emulated."""
    return Options(
        record=plan.record,
        blocks=plan.run_blocks,
        path=plan.path,
        checks=() if plan.companion_of else tuple(dict.fromkeys((*plan.checks, *checks))),
        thorough=False,
        seconds=seconds,
        progress=progress,
        cancel=cancel,
    )


def _swept(
    lesson: Lesson,
    values: Values,
    runs: Runs,
    level: Level,
    arch: str,
    gpu: DeviceFacts | None,
    look_up: bool,
) -> dict[str, Run]:
    """The runs with the tables of a lesson's sweep, which has the times that nothing else has."""
    swept = tables(lesson, values, arch, level, gpu)

    def known(role: str, run: Run) -> Run:
        found = run.measurement or (measured_in(swept, values, role) if look_up else None)
        return replace(run, swept=swept, measurement=found)

    return {role: known(role, run) for role, run in runs.items()} if swept else {}


def accepted(
    plans: tuple[Plan, ...], arch: str, prebuilt: bool = False, library: Library | None = None
) -> tuple[Plan, ...]:
    """The launches of a lesson as they are run on an architecture (see `Plan.otherwise`).

    A companion that is too large for it is left out.
    """

    def taken(plan: Plan) -> Plan | None:
        if not (plan.otherwise or plan.optional or plan.companion_of):
            return plan
        return plan.otherwise if _refused(job_of(plan, arch, prebuilt, library), arch) else plan

    return tuple(one for plan in plans if (one := taken(plan)) is not None)


def _refused(job: Job, arch: str) -> bool:
    try:
        check_limits(job, architecture(arch))
    except LaunchError:
        return True
    return False


def _run(
    plan: Plan,
    arch: str,
    level: Level,
    options: Options,
    prebuilt: bool,
    library: Library,
    call: CallRun,
) -> Run:
    """The emulation of a plan, wherever it is called; it is kept."""
    job = job_of(plan, arch, prebuilt, library)

    def made() -> Run:
        wanted = replace(options, progress=quiet, cancel=go_on)
        told = {"progress": options.progress, "cancel": options.cancel}
        return call(_run_of, plan, job, arch, level, wanted, memory=_room(library), **told)

    if any("=@" in argument for argument in plan.arguments):
        return made()  # its files may have changed
    program, known = job.program, replace(plan, role="", others=(), later=False)
    text = program.source, program.ptx, program.cubin, program.origin, program.note
    return kept((known, text, arch, level, options.checks), made)


def _run_of(*asked: Any, progress: Progress, cancel: Cancel) -> Run:
    """As `emulating.run_of`; the emulator is loaded where this is called."""
    from gpuviz.story.emulating import run_of

    return run_of(*asked, progress=progress, cancel=cancel)


def _room(library: Library) -> int:
    """Bytes of address space that an emulation may take; not all of it is ever used."""
    return _STRANGER if library.reach is not None else 2 * available()


def job_of(plan: Plan, arch: str, prebuilt: bool = False, library: Library | None = None) -> Job:
    """The launch of a plan, compiled for an architecture; taken prebuilt when that is asked for,
    or where there is no compiler; a user's own file then from the programs of `library`, if they
    have it.

    A file of a kernel is a stranger's: whoever named it may have had it from somewhere.
    """
    own, library = Path(plan.kernel), library or session.shipped()
    whose: Whose = "stranger" if own.is_absolute() else "course"
    if own.is_absolute():
        program = own_program(
            own,
            arch,
            dict(plan.defines),
            library.programs,
            library.reach,
            plan.options,
            library.texts.get(own),
        )
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
        size=plan.size,
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
