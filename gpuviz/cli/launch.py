"""LAUNCH on the command line: a kernel file with its geometry and arguments, or a lesson."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gpuviz.base.errors import InputError
from gpuviz.base.waiting import TimeLeft
from gpuviz.cli.no_kernel import refuse
from gpuviz.cli.options import HOW
from gpuviz.compile import (
    HostLaunch,
    Program,
    compile_arch,
    entry_name,
    in_clusters,
    launch_at,
    launches_in,
    lines_of,
    load_program,
)
from gpuviz.files.folders import CAPTURE
from gpuviz.launch.argument_texts import Scope
from gpuviz.launch.capture import CapturedLaunch, unpacked
from gpuviz.launch.host_launch import contents_guessed, guessed_by, proposed_by
from gpuviz.launch.job import Job
from gpuviz.launch.settings import Settings, load
from gpuviz.launch.texts import BLOCK, GRID, Kernel, LaunchTexts, sizes_of
from gpuviz.launch.unresolved import entry_of, guessed_template, unresolved, why_not
from gpuviz.ptx.options import Options
from gpuviz.traces.geometry import Triple
from gpuviz.words.terminal import err, passing

if TYPE_CHECKING:
    from gpuviz.story.kernel_launch import KernelLaunch

_EVERY = 0.2  # seconds
LONG = 1 << 21  # letters of PTX; of a longer text the kernel that is launched is read alone


def built(
    arguments: argparse.Namespace, path: Path, settings: Settings, entry: str = ""
) -> Program:
    """The program of a file, compiled by these settings; with an entry `f<float>` that one."""
    return load_program(
        path,
        arch=compile_arch(arguments.arch),
        defines=settings.macros,
        include=settings.include,
        instances=(entry,) if "<" in entry else (),
        options=settings.options,
        compiler=arguments.compiler,
    )


def settings_of(arguments: argparse.Namespace, path: Path) -> Settings:
    """How a file is compiled: as the arguments say, and else as its settings do."""
    kept = load(path)
    return replace(
        kept,
        macros={**kept.macros, **pairs(arguments.define, "--define")},
        include=(*arguments.include, *kept.include),
        options=kept.with_options(tuple(arguments.option)),
    )


def pairs(texts: list[str], option: str) -> dict[str, str]:
    """`K=V` texts as a dictionary (V is empty when there is no `=`)."""
    found = {}
    for text in texts:
        key, _, value = text.partition("=")
        if not key:
            raise InputError(f"{option} {text!r} has no name: give it as NAME=VALUE")
        found[key] = value
    return found


def _of_lesson(arguments: argparse.Namespace) -> dict[str, Job]:
    """The launches of a lesson. Lessons are imported only where one is asked for."""
    from gpuviz.course import lesson
    from gpuviz.story.lesson import check_values
    from gpuviz.story.perform import accepted, job_of

    chosen = lesson(arguments.scene)
    plans = chosen.plan(check_values(chosen, dict(pairs(arguments.set, "--set"))))
    taken = accepted(plans, arguments.arch)
    return {plan.role: job_of(plan, arguments.arch) for plan in taken}


def check_idle(arguments: argparse.Namespace) -> None:
    """Refuse options that would change nothing."""
    if arguments.scene and arguments.file:
        raise InputError("give either a FILE or --scene, not both")
    sizes = ("grid", "block", "dynamic_shared", "cluster")
    of_files = ("entry", *sizes, "define", "arg", "launch", "include", "option")
    if idle := [name for name in of_files if arguments.scene and vars(arguments)[name]]:
        option = "--" + idle[0].replace("_", "-")
        raise InputError(f"{option} is for a FILE: a lesson is changed by --set NAME=VALUE")


def jobs(arguments: argparse.Namespace) -> dict[str, Job]:
    """The launches asked for, by role ("" for a kernel file)."""
    check_idle(arguments)
    if arguments.scene:
        return _of_lesson(arguments)
    if not arguments.file:
        raise InputError("nothing to launch: give a FILE with --grid and --block, or --scene ID")
    return {"": _of_file(arguments)}


def _of_file(arguments: argparse.Namespace) -> Job:
    """As the command line says, then as the launch in the file does, then as its settings do."""
    path = Path(arguments.file)
    if path.suffix == CAPTURE:
        return _captured(arguments, path).job()
    refuse(path)
    settings = settings_of(arguments, path)
    found = _written(arguments, path, settings)
    wanted = arguments.entry or (found and (found.instance or found.kernel)) or settings.kernel
    program = built(arguments, path, settings, "" if found else wanted)
    there = partial(launches_in, path, "", settings.include)
    entry = _entry(program, wanted, None if arguments.entry else found, there)
    if len(program.ptx) > LONG:
        program = program.alone(entry)
    kernel = Kernel.of(program, entry)
    kept = own = settings.launch_of(program.kernels, entry)
    kept = proposed_by(found, kernel).over(kept) if found else kept
    shaped = (arguments.grid or kept.grid) and (arguments.block or kept.block)
    if not (shaped or found or arguments.entry):
        needs = "a launch of a FILE needs --grid and --block, as in --grid 64 --block 256"
        raise InputError(needs + _own(program, there()))
    said_here = told(arguments, kernel)
    said = said_here.over(kept)
    _check_used(arguments, kernel, said)
    guesses = _guesses(said, kernel, found)
    texts = said.over(guesses)
    made = kernel.launch(texts)
    shape = {w: getattr(guesses, w) for w in ("grid", "block") if not getattr(said, w)}
    named = {one: text for one, text in guesses.arguments.items() if one not in said.arguments}
    held = contents_guessed(found, kernel) if found else {}
    held = {one: text for one, text in held.items() if said.arguments[one[:-2]] == text}
    for guessed in (
        [f"--{what} {text}" for what, text in shape.items()],
        [f"{name}: {text}" for name, text in {**made.proposed, **named, **held}.items()],
    ):
        if guessed:
            err(f"not said, and proposed: {', '.join(guessed)}")
    if found and (template := guessed_template(found, entry)):
        err(f"not said, and proposed: {template['template']}")
        named |= template
    if arguments.cluster:
        program = in_clusters(program, entry, sizes_of(arguments.cluster, "cluster", Scope({})))
    job = Job(program, entry, made.grid, made.block, made.arguments, made.shared, "named")
    loose = kernel.unsaid(said_here.over(own), said)
    roomy = kernel.dynamic and not texts.shared
    every = shape | dict(made.proposed) | named | held
    return replace(job, loose=loose, loose_shared=roomy, guesses=every)


def _entry(
    program: Program,
    wanted: str,
    found: HostLaunch | None,
    there: Callable[[], Sequence[HostLaunch]],
) -> str:
    """The kernel that is meant by a name, or by a launch; InputError says why there is none."""
    try:
        return entry_of(program.kernels, found) if found else entry_name(program.kernels, wanted)
    except InputError as error:
        why = why_not(program, wanted, found) if found or wanted else _own(program, there())
        raise InputError(f"{str(error).rstrip()}\n{why.lstrip('; ')}".rstrip()) from None


def shown(arguments: argparse.Namespace) -> KernelLaunch:
    """The launch of a FILE, for it to be shown.

    Raises
    ------
    InputError : of blocks in clusters, which only a kernel's text can say
    """
    from gpuviz.story.kernel_launch import KernelLaunch

    path = Path(arguments.file).absolute()
    if path.suffix == CAPTURE:
        one = _captured(arguments, path)
        sizes = one.grid, one.block
        return KernelLaunch(one.path, one.entry, one.name, *sizes, one.arguments, one.shared)
    if arguments.cluster:
        raise InputError("--cluster cannot be shown: write __cluster_dims__ at the kernel")
    return KernelLaunch.of(path, _of_file(arguments), settings_of(arguments, path))


def _captured(arguments: argparse.Namespace, path: Path) -> CapturedLaunch:
    """A launch out of a capture: the only one, or the one whose number --launch gives."""
    found = unpacked(path)
    number = arguments.launch or (len(found) == 1 and 1)
    if not 1 <= number <= len(found):
        shapes = (
            f"{n}: {one.name}, {_sizes(one.grid)} x {_sizes(one.block)}"
            for n, one in enumerate(found, 1)
        )
        raise InputError(
            f"{path.name} has {len(found)} launches, say which: --launch N; {'; '.join(shapes)}"
        )
    for note in found[number - 1].notes:
        err(note)
    return found[number - 1]


def _sizes(sizes: Triple) -> str:
    return ",".join(map(str, sizes))


def _own(program: Program, there: Sequence[HostLaunch]) -> str:
    """The launches that a file has of its own, and those that cannot be, to end a message with."""
    said = f"; or --launch LINE, one of the file's own: {lines_of(there)}" if there else ""
    left = (one for one in unresolved(program, there) if not one.sole)
    return "\n".join((said, *(f"not launched: {one}" for one in left)))


def _guesses(said: LaunchTexts, kernel: Kernel, found: HostLaunch | None) -> LaunchTexts:
    """What may do where neither user, settings nor host code say it."""
    made = guessed_by(found, kernel) if found else LaunchTexts()
    made = made.over(kernel.shape).over(LaunchTexts(GRID, BLOCK))
    if said.block and not made.arguments and not found:  # a grid of two is for its own
        made = replace(made, grid=GRID)
    return made


def _written(arguments: argparse.Namespace, path: Path, settings: Settings) -> HostLaunch | None:
    """The launch of the file's host code that is asked for; where none is said its only one, or
    that of the kernel which is named: the first of which the text says how large it is.
    """
    if arguments.launch:
        return launch_at(path, arguments.launch, settings.include)
    if arguments.grid or arguments.block or settings.launches:
        return None
    there = launches_in(path, arguments.entry or "", settings.include)
    if len(there) > 1 and not arguments.entry:
        return None
    sized = [one for one in there if all(one.sizes)]
    chosen = next(iter((*sized, *there)), None)
    if chosen is not None:
        others = lines_of([one for one in there if one is not chosen])
        more = f"; --launch LINE chooses another: {others}" if len(there) > 1 else ""
        err(f"launched as the host code does at {_place(chosen, path)}{more}")
    return chosen


def _place(launch: HostLaunch, path: Path) -> str:
    return f"line {launch.line}" + (f" of {launch.file}" if launch.file != path.name else "")


def told(arguments: argparse.Namespace, kernel: Kernel) -> LaunchTexts:
    """What the command line says of a launch.

    Raises
    ------
    InputError : arguments in order that are not as many as the kernel takes
    """
    known = {one.name for one in (*kernel.taken, *kernel.leaves)}
    given = kernel.by_name(arguments.arg)
    named = pairs(arguments.set, "--set")
    data = {one.name for one in kernel.data}
    return LaunchTexts(
        arguments.grid or "",
        arguments.block or "",
        arguments.dynamic_shared or "",
        given | {k: v for k, v in named.items() if k in known and k not in data},
        {k: v for k, v in named.items() if k.split(".")[0] in data},
        {k: v for k, v in named.items() if k not in known and k.split(".")[0] not in data},
    )


def _check_used(arguments: argparse.Namespace, kernel: Kernel, texts: LaunchTexts) -> None:
    """Refuse names that would change nothing."""
    written = (texts.grid, texts.block, texts.shared, *texts.arguments.values())
    used = set(
        re.findall(r"\w+", " ".join((*written, *texts.data.values(), *texts.sizes.values())))
    )
    for name in pairs(arguments.set, "--set"):
        if name in texts.sizes and name not in used:
            data = ", ".join(one.name for one in kernel.data) or "none"
            raise InputError(
                f"--set {name} changes nothing: no size or argument has {name} in it, and there is "
                f"no such __constant__ or __device__ variable (there are: {data})"
            )


class ProgressLine:
    """Tells of a fraction done, and of the time that is left."""

    def __init__(self, what: str = "emulating") -> None:
        self._what, self._left = what, TimeLeft()
        self._told = time.monotonic()

    def __call__(self, fraction: float) -> None:
        """So much is done."""
        left, now = self._left.at(fraction), time.monotonic()
        if fraction >= 1:
            passing("")
        elif left and now - self._told >= _EVERY:
            self._told = now
            passing(f"{self._what}: {fraction:.0%}, about {left} left (Ctrl+C stops)")


def options_of(arguments: argparse.Namespace) -> Options:
    """What an engine is told; nothing is recorded or checked."""
    named = arguments.blocks in HOW
    return Options(
        record=(),
        blocks=arguments.blocks if named else "all",
        max_blocks=None if named else arguments.blocks,
        seconds=arguments.seconds,
        progress=ProgressLine(),
        engine=arguments.engine,
    )
