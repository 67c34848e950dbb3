"""Launches that Nsight Compute profiled, as lessons of one's own kernels with a recording: their
source lies beside the report.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from gpuviz.base.errors import InputError
from gpuviz.launch.settings import load
from gpuviz.recordings import ncu
from gpuviz.recordings.measurement import CounterValue, DeviceFacts, Measurement
from gpuviz.recordings.ncu import ProfiledLaunch
from gpuviz.recordings.recording import Entry, Recording, key_of
from gpuviz.run.profiled import beside, job_of
from gpuviz.story.kernel_launch import KernelLaunch
from gpuviz.story.lesson import Lesson
from gpuviz.story.own_kernel.story import lesson_of

MOST = 12  # launches of a report that are opened


@dataclass(frozen=True, eq=False)
class OpenedReport:
    """The launches of a report that could be built again, and what was counted of them."""

    lessons: tuple[Lesson, ...]
    recording: Recording


def opened(report: Path) -> OpenedReport:
    """The first launches of a report.

    Raises
    ------
    InputError : it cannot be read, its source is not beside it, or none of them is of that source
    FormatError, UnavailableError : as `ncu.read`
    """
    profiled, date = ncu.read(report), datetime.fromtimestamp(report.stat().st_mtime, UTC)
    source, lessons, entries = beside(report, profiled), dict[str, Lesson](), []
    settings = load(source)
    why = InputError(f"{report.name} holds no launch: was anything profiled?")
    for number, one in enumerate(profiled[:MOST]):
        try:
            job = job_of(source, settings, profiled, number)
        except InputError as error:  # a kernel of another file
            why = error
            continue
        lesson = lesson_of(KernelLaunch.of(source, job, settings))
        (plan,) = lesson.launches(lesson.defaults())
        lessons.setdefault(lesson.id, lesson)
        found = _measured(one, date.date().isoformat())
        entries.append(Entry(lesson.id, plan.role, {}, key_of(plan), found))
    if not entries:
        raise why
    return OpenedReport(tuple(lessons.values()), Recording(_device(profiled[0]), tuple(entries)))


def _device(one: ProfiledLaunch) -> DeviceFacts:
    """What a report tells of a device."""
    return DeviceFacts(0, one.device, one.capability, "", "", 1, 0, 0)


def _measured(one: ProfiledLaunch, date: str) -> Measurement:
    counters = {key: CounterValue(value) for key, value in one.counters.items()}
    return Measurement("recorded", date, _device(one), counters)
