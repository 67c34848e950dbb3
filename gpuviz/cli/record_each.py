"""Launches measured one after the other, each written as soon as it is done: one that is stopped
goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from time import monotonic

from gpuviz.arch import architecture
from gpuviz.base.arrays import Array
from gpuviz.base.errors import Error, InputError
from gpuviz.cli.launches_to_record import Variant
from gpuviz.files import writing as files
from gpuviz.gpu import live
from gpuviz.gpu.client import Gpu
from gpuviz.gpu.consent import ConsentList
from gpuviz.gpu.live import MeasureOptions
from gpuviz.launch.job import Job
from gpuviz.ptx.emulator import Options
from gpuviz.ptx.options import OutOfTime
from gpuviz.recordings.measurement import DeviceFacts
from gpuviz.recordings.recording import SUFFIX, Entry, LaunchKey, Recording, read, write
from gpuviz.run import emulated
from gpuviz.story.lesson import Plan
from gpuviz.story.perform import job_of

_AHEAD = 3  # launches compiled and emulated while others are measured


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


_EMULATED = 20.0  # seconds for the results of a launch, while the GPU measures another


@dataclass(frozen=True, eq=False)
class Trial:
    """A launch ready for the GPU, and the buffers that it should leave there."""

    job: Job
    expected: Mapping[str, Array]


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
