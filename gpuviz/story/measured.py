"""What a GPU measured of a lesson's runs, or the words that say that there is nothing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gpuviz.arch import Architecture
from gpuviz.memory.counts import Count
from gpuviz.panels.figures import Figure
from gpuviz.panels.panel import Ink, Values
from gpuviz.panels.time_bars import TimeBar, TimeBars
from gpuviz.recordings.measurement import Measurement
from gpuviz.run.run import Run
from gpuviz.words.language import duration, grouped, tr

_PASSING = 0.6  # of the closing act, in which times pass; then they stand
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


Launch = tuple[str | tuple[str, ...], LaunchTime | None]  # wordings of its name, and its time


def time_bars(
    launches: Iterable[Launch],
    now: int | None = None,
    notes: Sequence[str | tuple[str, ...]] = (),
    over: float = 1.0,
    log: bool = False,
    picks: Sequence[Values] = (),
) -> TimeBars:
    """How long launches took, on one axis; `notes` say what each has that others have not.

    `over` is how much of the closing act is: times pass in the first part of it.
    """
    named = list(launches)
    times = [time for _, time in named]
    noted = [*notes, *("",) * (len(named) - len(notes))]
    bars = [
        TimeBar(_wordings(name), *_timed(time), _wordings(note), bool(time and time.overhead))
        for (name, time), note in zip(named, noted, strict=True)
    ]
    device = device_of(times)
    if any(times):
        device = tr("time of a launch: {device}", device=device)
    sizes = " · ".join(dict.fromkeys(t.size for t in times if t and t.size))
    remark = next((t.overhead for t in times if t and t.overhead), "")
    grey = tr("grey: {remark}", remark=remark) if remark else ""
    forms = ((device, sizes, grey), (device, grey), (device, sizes), (device,))
    where = tuple(" · ".join(filter(None, one)) for one in forms)
    return TimeBars(tuple(bars), where, now, passed(over), log, tuple(picks))


def passed(over: float) -> float:
    """How much of the longest time has passed when so much of the closing act has."""
    return min(over / _PASSING, 1.0)


def _timed(time: LaunchTime | None) -> tuple[float | None, str]:
    return (None, "") if time is None else (time.microseconds, time.badge)


def _wordings(said: str | tuple[str, ...]) -> tuple[str, ...]:
    return (said,) if isinstance(said, str) else said
