"""`gpuviz record`: measure lessons on this GPU, for machines that have none."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from time import monotonic

from gpuviz.arch import architecture
from gpuviz.base.arrays import Array
from gpuviz.base.errors import Error, InputError, UnavailableError
from gpuviz.cli import consent
from gpuviz.cli.consent import refusal, settle
from gpuviz.cli.launches_to_record import (
    FOLDER,
    Variant,
    in_order,
    merge,
    of_lecture,
    of_the_table,
    taken,
    variants,
)
from gpuviz.cli.options import at_least_one, declare
from gpuviz.course import SCENES, lesson
from gpuviz.files import writing as files
from gpuviz.gpu import live
from gpuviz.gpu.client import Gpu
from gpuviz.gpu.consent import ConsentList
from gpuviz.gpu.faults import CountersUnavailable
from gpuviz.gpu.live import MeasureOptions
from gpuviz.launch.job import Job
from gpuviz.lectures.bundle import find
from gpuviz.ptx.emulator import Options
from gpuviz.ptx.options import OutOfTime
from gpuviz.recordings import lookup
from gpuviz.recordings.lookup import load
from gpuviz.recordings.measurement import DeviceFacts
from gpuviz.recordings.recording import SUFFIX, Entry, LaunchKey, Recording, read, write
from gpuviz.run import emulated
from gpuviz.story.foreign import codes_of
from gpuviz.story.lesson import Plan
from gpuviz.story.perform import job_of
from gpuviz.words.language import english
from gpuviz.words.terminal import err, out

_AHEAD = 3  # launches compiled and emulated while others are measured
_EMULATED = 20.0  # seconds for the results of a launch, while the GPU measures another


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    place, limit = {"type": Path}, {"type": at_least_one}
    declare(parser, "record", merge=place, time_limit=limit, output=place)


def run(arguments: argparse.Namespace) -> int:
    """Measure and write; 0, or 1 when some launches are not there."""
    if arguments.merge:
        return _merge(arguments)
    if not arguments.output:
        raise InputError(f"where to? give -o FOLDER, or -o FILE{SUFFIX}")
    lessons = SCENES if arguments.all else tuple(map(lesson, arguments.scene))
    lectures = [find(name) for name in arguments.lecture]
    told = (one for file in lectures for one in of_lecture(file, consent.agreed(arguments, file)))
    covered = of_the_table() if arguments.all else ()
    wanted = (*variants(lessons), *covered, *told)
    if not wanted and not arguments.lecture:
        raise InputError("what to record? give --all, --scene ID (see gpuviz list), or --lecture")
    return _check(arguments.output, wanted) if arguments.check else _record(arguments, wanted)


def _merge(arguments: argparse.Namespace) -> int:
    into = arguments.output or FOLDER
    told = merge(arguments.merge, into)
    out(
        f"{into}: {told.new} new, {told.kept} kept, {told.dropped} dropped that are no launch of "
        f"the course any more, {told.lacking} without a recording"
    )
    return 0


def _check(place: Path, wanted: tuple[Variant, ...]) -> int:
    """List what is not there; 1 when there is something."""
    if not (paths := found(place)):
        raise InputError(f"{place} holds no recordings (*{SUFFIX})")
    recordings = load(paths)
    missing = [
        (one.id, plan.role, dict(values), why)
        for one, values, plan, _ in taken(wanted, recordings.recordings[0].device.sm)
        if (why := recordings.find(plan).why)
    ]
    for lesson_id, role, values, why in missing:
        out(f"{lesson_id} {role} {values}: {why}")
    again = english("{n} launch to record again", "{n} launches to record again", len(missing))
    out(again if missing else "everything is recorded")
    return 1 if missing else 0


def _record(arguments: argparse.Namespace, wanted: tuple[Variant, ...]) -> int:
    check_place(arguments.output)
    with Gpu(arguments.device) as gpu:
        facts = gpu.facts()
        if facts.counters:
            raise CountersUnavailable(facts.counters)
        files = Files(arguments.output, facts)
        wanted = in_order(taken(wanted, facts.sm), lookup.shipped(), arguments.missing)
        left = [one for one in wanted if arguments.again or one not in files]
        agreed = _agreed(arguments, tuple(left), facts)
        options = MeasureOptions(arguments.repeat, places=True, peaks=gpu.peaks())
        limit = arguments.time_limit or math.inf
        done = begun = 0
        for (one, values, plan, _), entry in record_each(gpu, left, options, agreed, limit):
            begun += 1
            if isinstance(entry, Error):
                err(f"{one.id} {plan.role} {dict(values)}: {entry}")
            else:
                files.add(entry)
                done += 1
    return _told(arguments.output, facts.name, wanted, len(left), begun, done)


def _told(
    place: Path, gpu: str, wanted: tuple[Variant, ...], left: int, begun: int, done: int
) -> int:
    there = len(wanted) - left + done
    launches = english("{n} launch", "{n} launches", len(wanted))
    lessons = english("{n} lesson", "{n} lessons", len({one.id for one, *_ in wanted}))
    out(f"{there} of {launches} of {lessons}, measured on {gpu}: {place}")
    if begun < left:
        out(f"the time is over, {left - begun} are left: the same command goes on with them")
    return 0 if there == len(wanted) else 1


def _agreed(
    arguments: argparse.Namespace, wanted: tuple[Variant, ...], device: DeviceFacts
) -> ConsentList:
    """What may run of the launches; UnavailableError where the user has not agreed to all."""
    whose = ", ".join(Path(name).name for name in arguments.lecture)
    plans = (plan for one, _, plan, _ in wanted if one.launch)
    agreed, left = settle(codes_of(plans, device, whose), arguments.trust)
    if left:
        raise UnavailableError(refusal(left))
    return agreed


def record_each(
    gpu: Gpu,
    wanted: Iterable[Variant],
    options: MeasureOptions,
    agreed: ConsentList,
    time_limit: float,
) -> Iterator[tuple[Variant, Entry | Error]]:
    """Measure launches, and say of each what was found, until the time is over."""
    facts, end = gpu.facts(), monotonic() + time_limit
    for variant, prepared in _ahead(wanted, lambda one: _prepared(one[2], facts)):
        if monotonic() > end:
            return
        one, values, plan, key = variant
        try:
            ready = prepared.result()
            measured = live.measure(gpu, ready.job, options, agreed=agreed, expected=ready.expected)
        except Error as error:
            yield variant, error
        else:
            yield variant, Entry(one.id, plan.role, dict(values), key, measured)


def _ahead(
    wanted: Iterable[Variant], do: Callable[[Variant], Trial]
) -> Iterator[tuple[Variant, Future[Trial]]]:
    """Each variant with what is done of it, begun while earlier ones are worked on."""
    left = iter(wanted)
    with ThreadPoolExecutor(1) as thread:
        try:
            begun: list[tuple[Variant, Future[Trial]]] = []
            while True:
                more = islice(left, _AHEAD - len(begun))
                begun += [(one, thread.submit(do, one)) for one in more]
                if not begun:
                    return
                yield begun.pop(0)
        finally:
            thread.shutdown(cancel_futures=True)


def _prepared(plan: Plan, facts: DeviceFacts) -> Trial:
    """Compiled, and emulated where there is time for all of its blocks: then results are compared.

    Also where its lesson is content with some of them: a recording is made once.
    """
    job, arch = job_of(plan, facts.sm), architecture(facts.capability)
    options = Options(record=(), blocks="all", seconds=_EMULATED)
    try:
        return Trial(job, emulated.run(job, arch, level="ptx", options=options).outputs)
    except OutOfTime:
        return Trial(job, {})


@dataclass(frozen=True, eq=False)
class Trial:
    """A launch ready for the GPU, and the buffers that it should leave there."""

    job: Job
    expected: Mapping[str, Array]


@dataclass
class Files:
    """Where launches of a GPU are written: a file, or a folder with one for each lesson."""

    place: Path
    facts: DeviceFacts
    _held: dict[Path, dict[LaunchKey, Entry]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for path in found(self.place):
            held = read(path)
            if held.device.name != self.facts.name:
                raise InputError(
                    f"{path} holds measurements of {held.device.name}, and this is "
                    f"{self.facts.name}: name another place with -o"
                )
            self._held[path] = {one.launch: one for one in held.entries}

    def __contains__(self, variant: Variant) -> bool:
        """Whether it is there already."""
        return variant[3] in self._held.get(self._path(variant[0].id), {})

    def add(self, entry: Entry) -> None:
        """Write it."""
        path = self._path(entry.lesson)
        held = self._held.setdefault(path, {})
        held[entry.launch] = entry
        write(path, Recording(self.facts, tuple(held.values())))

    def _path(self, lesson: str) -> Path:
        return self.place if is_file(self.place) else self.place / f"{lesson}{SUFFIX}"


def is_file(place: Path) -> bool:
    """Whether one file is meant by the place of recordings, and not a folder."""
    return place.suffix == SUFFIX


def found(place: Path) -> tuple[Path, ...]:
    """The recordings that are there: the file, or all of a folder."""
    if is_file(place):
        return (place,) if place.exists() else ()
    return tuple(sorted(place.glob("*" + SUFFIX)))


def check_place(place: Path) -> None:
    """InputError where nothing can be written; a folder is made."""
    if not is_file(place):
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{place} cannot be made: {error.strerror}") from None
    files.check_place(place if is_file(place) else place / ("x" + SUFFIX))
