"""`gpuviz record`: measure lessons on this GPU, for machines that have none."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from gpuviz import files
from gpuviz.arch import architecture
from gpuviz.cli import lecture_reach
from gpuviz.cli.consent import add_trust, refusal, settle
from gpuviz.cli.device import add_device
from gpuviz.cli.launch import at_least_one
from gpuviz.errors import Error, InputError, UnavailableError
from gpuviz.language import english
from gpuviz.lectures.bundle import find, unpacked
from gpuviz.lectures.reading import read
from gpuviz.ptx.emulator import Options
from gpuviz.runners import emulated, live
from gpuviz.runners.agreed import Agreed
from gpuviz.runners.faults import CountersUnavailable
from gpuviz.runners.gpu.client import Gpu
from gpuviz.runners.live import MeasureOptions
from gpuviz.runners.measurement import Measurement
from gpuviz.runners.recorded import load
from gpuviz.runners.recording import SUFFIX, Entry, LaunchKey, Recording, key_of, write
from gpuviz.scenes import SCENES, lesson
from gpuviz.scenes.base import Lesson, Plan, Values
from gpuviz.scenes.check import check_values
from gpuviz.scenes.foreign import codes_of
from gpuviz.scenes.perform import accepted, job_of
from gpuviz.terminal import err, out
from gpuviz.views.performed import lesson_for

EXAMPLE = """examples:
  gpuviz record --all -o h200.gpurec
  gpuviz record --all --check -o h200.gpurec     is it complete and up to date? needs no GPU
  gpuviz record --scene coalescing --scene banks -o two.gpurec
  gpuviz record --lecture strides.gpuviz-lecture -o strides.gpurec"""
Variant = tuple[Lesson, Values, Plan, LaunchKey]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--scene",
        action="append",
        default=[],
        metavar="ID",
        help="a lesson (may be given several times)",
    )
    parser.add_argument("--all", action="store_true", help="every lesson")
    parser.add_argument(
        "--lecture",
        action="append",
        default=[],
        metavar="FILE",
        help="what the slides of a lecture launch and --all does not hold (may be "
        "given several times)",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="measure nothing: list the launches that FILE does not hold, or not any more",
    )
    parser.add_argument(
        "--repeat",
        type=at_least_one,
        default=100,
        metavar="N",
        help="launches to time (default %(default)s)",
    )
    lecture_reach.add_allow(parser)
    add_device(parser)
    add_trust(parser)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE" + SUFFIX)


def run(arguments: argparse.Namespace) -> int:
    """Measure and write; 0, or 1 when some launches could not be measured."""
    lessons = SCENES if arguments.all else tuple(map(lesson, arguments.scene))
    lectures = [find(name) for name in arguments.lecture]
    told = (
        one for file in lectures for one in of_lecture(file, lecture_reach.agreed(arguments, file))
    )
    wanted = (*variants(lessons), *told)
    if not wanted and not arguments.lecture:
        raise InputError("what to record? give --all, --scene ID (see gpuviz list), or --lecture")
    return _check(arguments.output, wanted) if arguments.check else _record(arguments, wanted)


def _check(path: Path, wanted: tuple[Variant, ...]) -> int:
    """List what a file lacks; 1 when there is something."""
    recordings = load([path])
    missing = [
        (one.id, plan.role, dict(values), why)
        for one, values, plan, _ in _taken(wanted, recordings.recordings[0].device.sm)
        if (why := recordings.find(plan).why)
    ]
    for lesson_id, role, values, why in missing:
        out(f"{lesson_id} {role} {values}: {why}")
    again = english("{n} launch to record again", "{n} launches to record again", len(missing))
    out(again if missing else "everything is recorded")
    return 1 if missing else 0


def _record(arguments: argparse.Namespace, wanted: tuple[Variant, ...]) -> int:
    files.check_place(arguments.output)
    with Gpu(arguments.device) as gpu:
        facts = gpu.facts()
        if facts.counters:
            raise CountersUnavailable(facts.counters)
        wanted = _taken(wanted, facts.sm)
        agreed = _agreed(arguments, wanted, facts.sm)
        options = MeasureOptions(arguments.repeat, places=True, peaks=gpu.peaks())
        found = [_entry(gpu, options, agreed, *variant) for variant in wanted]
    entries = tuple(entry for entry in found if entry is not None)
    write(arguments.output, Recording(facts, entries))
    launches = english("{n} launch", "{n} launches", len(found))
    lessons = english("{n} lesson", "{n} lessons", len({one.id for one, *_ in wanted}))
    out(f"{len(entries)} of {launches} of {lessons}, measured on {facts.name}: {arguments.output}")
    return 0 if len(entries) == len(found) else 1


def _taken(wanted: tuple[Variant, ...], arch: str) -> tuple[Variant, ...]:
    """Without what the architecture refuses, or has no need of (`Plan.instead`)."""
    return tuple(one for one in wanted if one[2] in accepted(one[0].plan(one[1]), arch))


def _agreed(arguments: argparse.Namespace, wanted: tuple[Variant, ...], arch: str) -> Agreed:
    """What may run of the launches; UnavailableError where the user has not agreed to all."""
    whose = ", ".join(Path(name).name for name in arguments.lecture)
    plans = (plan for one, _, plan, _ in wanted if one.launch)
    agreed, left = settle(codes_of(plans, arch, whose), arguments.trust)
    if left:
        raise UnavailableError(refusal(left))
    return agreed


def variants(lessons: tuple[Lesson, ...]) -> Iterator[Variant]:
    """Every different launch of the default values and the presets of lessons."""
    seen: set[tuple[str, LaunchKey]] = set()
    for one in lessons:
        for given in ({}, *(preset.values for preset in one.presets)):
            values = check_values(one, given)
            for plan in one.plan(values):
                key = key_of(plan)
                if (one.id, key) not in seen:
                    seen.add((one.id, key))
                    yield one, values, plan, key


def of_lecture(file: Path, agreed: frozenset[Path] = frozenset()) -> Iterator[Variant]:
    """Every launch of a lecture's slides that is none of a lesson's `variants`."""
    seen = {(one.id, key) for one, _, _, key in variants(SCENES)}
    text, _ = unpacked(file)
    views = [slide.view for slide in read(text, agreed).slides if slide.view]
    for view in views:
        one = lesson_for(view)
        both = [{**view.values, **view.compare_values}] if view.compared else []
        for values in (check_values(one, given) for given in (view.values, *both)):
            for plan in one.plan(values):
                key = key_of(plan)
                if (one.id, key) not in seen:
                    seen.add((one.id, key))
                    yield one, values, plan, key


def _entry(
    gpu: Gpu,
    options: MeasureOptions,
    agreed: Agreed,
    one: Lesson,
    values: Values,
    plan: Plan,
    key: LaunchKey,
) -> Entry | None:
    """One launch measured; None, and a word on stderr, when it cannot be."""
    try:
        measurement = _measured(gpu, options, agreed, plan)
    except Error as error:
        err(f"{one.id} {plan.role} {dict(values)}: {error}")
        return None
    return Entry(one.id, plan.role, dict(values), key, measurement)


def _measured(gpu: Gpu, options: MeasureOptions, agreed: Agreed, plan: Plan) -> Measurement:
    facts = gpu.facts()
    job, arch = job_of(plan, facts.sm), architecture(facts.capability)
    predicted = emulated.run(job, arch, level="ptx", options=Options(record=()))
    return live.measure(
        gpu, job, options, agreed=agreed, expected=predicted.outputs if predicted.whole else None
    )
