"""What a GPU measured of a lesson's runs, or the words that say that there is nothing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gpuviz.arch import Architecture
from gpuviz.memory.counts import Count
from gpuviz.panels.figures import Figure
from gpuviz.panels.panel import Ink
from gpuviz.panels.table import Column
from gpuviz.recordings.measurement import Measurement
from gpuviz.run.run import Run
from gpuviz.words.language import duration, grouped, tr

_MODELLED = "9.0"  # whose multiprocessor is modelled over time


@dataclass(frozen=True)
class LaunchTime:
    """The median time of a launch: microseconds, the badge of its source, the device and the day.

    `size` is how big the launch is where that is another one than the one drawn, else "".
    `overhead` says that the time is mostly that of launching, "" where it is not. A time of
    `elsewhere` is of a device of another architecture than the one drawn: it is named with it.
    """

    microseconds: float
    badge: str
    device: str
    size: str = ""
    overhead: str = ""
    elsewhere: bool = False
    date: str = ""

    @property
    def where(self) -> str:
        """The device and the day."""
        return f"{self.device}, {self.date}" if self.date else self.device

    @property
    def attributed(self) -> str:
        """The time, and whose it is where that is another device than the one drawn."""
        if not self.elsewhere:
            return self.text
        return tr("on {device}: {time}", device=self.device, time=self.text)

    @property
    def whole(self) -> str:
        """The time and what is to be known of it."""
        return f"{self.text}, {self.overhead}" if self.overhead else self.text

    @property
    def text(self) -> str:
        """`12.4 µs` or `1.24 ms`."""
        return duration(self.microseconds)


def time_of(run: Run) -> LaunchTime | None:
    """How long a run's launch took on a GPU; None when none has run it.

    Where the launch has a companion, it is that one's time.
    """
    beside = run.companion
    found, size = (beside.measurement, beside.size) if beside else (run.measurement, "")
    return timed(found, size, run.arch)


def timed(found: Measurement | None, size: str, arch: str) -> LaunchTime | None:
    """What was measured of a launch of a size, as a time; None when nothing was."""
    if found is None or found.timing is None:
        return None
    elsewhere = found.device.sm != arch
    return LaunchTime(
        found.timing.median, found.badge, found.gpu, size, found.overhead, elsewhere, found.date
    )


def badge_of(times: Iterable[LaunchTime | None]) -> str:
    """The badge of a column of times."""
    found = next((t for t in times if t is not None), None)
    return tr("unavailable") if found is None else found.badge


def device_of(times: Iterable[LaunchTime | None]) -> str:
    """The device that was timed, and when; or why there is no time."""
    found = next((t for t in times if t is not None), None)
    return tr("no GPU and no recording") if found is None else found.where


def no_time(arch: Architecture) -> str:
    """Why no time of a launch is modelled, in words."""
    if arch.version == _MODELLED:
        return tr("No time is modelled without machine code: there is none here.")
    return tr("No time is modelled of {arch}: with 9.0 it is.", arch=arch)


def time_figures(time: LaunchTime | None) -> tuple[Figure, ...]:
    """How long a launch took, to stand beside what was counted; nothing where none was timed."""
    if time is None:
        return ()
    launch = time.attributed if time.elsewhere else tr("launch {time}", time=time.text)
    brief = ", ".join(filter(None, (launch, time.size.partition(", ")[0])))  # never of which launch
    said = ", ".join(filter(None, (launch, time.size, time.overhead)))
    whole = said if time.elsewhere else f"{said}, {time.where}"
    ink: Ink = "muted" if time.overhead else "ink"
    return (Figure(whole, ink, badge=badge_of([time]), shorter=(said, brief)),)


def rate_figures(run: Run) -> tuple[Figure, ...]:
    """How many bytes a second the launch's threads got or gave, and its time, which is left out
    first: a rate can be compared with that of a larger launch.
    """
    time = time_of(run)
    if time is None:
        return ()
    totals = run.counts.totals
    asked = totals[Count.GLOBAL_LOAD_BYTES] + totals[Count.GLOBAL_STORE_BYTES]
    rate = tr("useful: {rate}", rate=f"{grouped(asked / time.microseconds / 1000)} GB/s")
    (whole,) = time_figures(time)
    return Figure(rate, whole.ink, badge=whole.badge), replace(whole, badge="")


def time_column(
    times: Sequence[LaunchTime | None], always: bool = False, named: bool = False
) -> tuple[Column, ...]:
    """The column of times of a table; none where nothing was timed, unless it is `always` there.

    The device is `named` where other times stand beside these, or it is not the one drawn.
    """
    there = [t for t in times if t]
    if not there and not always:
        return ()
    cells = tuple(t.text if t else "–" for t in times)
    ink: Ink = "good" if there else "muted"
    title = there[0].device if there and (named or there[0].elsewhere) else tr("time")
    sizes = dict.fromkeys(t.size for t in there if t.size)
    origin = ", ".join((tr("time: {device}", device=device_of(times)), *sizes))
    remarks = tuple(t.overhead if t else "" for t in times)
    made = Column((title,), cells, badge=badge_of(times), ink=ink, remarks=remarks, origin=origin)
    return (made,)
