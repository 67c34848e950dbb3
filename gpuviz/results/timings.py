"""Durations of launches, and what they come to: a table of times and rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gpuviz.base.arrays import F64
from gpuviz.recordings.measurement import Measurement, Peaks
from gpuviz.results.badges import caption
from gpuviz.results.count_columns import ratio
from gpuviz.results.rows import timed_badge
from gpuviz.results.table import Table
from gpuviz.run.throughput import Throughput, Work, throughput
from gpuviz.words.language import THIN, duration, texts, three, time_unit, tr

LEAST = 0.1  # percent of a peak: what is less is as good as nothing
KEPT = 400  # launches that are plotted and counted in the statistics


@dataclass(frozen=True, eq=False)
class Series:
    """The last durations of one run, in microseconds.

    `size` is how big a launch is, in words; `launches` counts all of them, `badge` and `caption`
    say where they come from, `work` is what one launch does, `differences` the largest difference
    of each result to the emulator's. `overhead` says that a launch is mostly the launching.
    """

    microseconds: F64
    badge: str
    caption: str
    launches: int = 0
    work: Work | None = None
    peaks: Peaks | None = None
    differences: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    size: str = ""
    overhead: str = ""

    @property
    def median(self) -> float:
        """The middle duration."""
        return float(np.median(self.microseconds))

    @property
    def spread(self) -> float:
        """Half of the way from the first to the third quartile."""
        low, high = np.percentile(self.microseconds, (25, 75))
        return float(high - low) / 2

    @property
    def minimum(self) -> float:
        """The shortest duration."""
        return float(self.microseconds.min())

    @property
    def rates(self) -> Throughput | None:
        """Bytes and operations a second at the median, None when the work is not known."""
        return throughput(self.work, self.median) if self.work is not None else None

    def more(self, microseconds: F64) -> Series:
        """With further durations; the oldest are forgotten."""
        joined = np.concatenate([self.microseconds, microseconds])[-KEPT:]
        return replace(self, microseconds=joined, launches=self.launches + len(microseconds))


def series_of(measurement: Measurement, work: Work | None, size: str = "") -> Series | None:
    """The durations of a measurement of a launch this big, None when nothing was timed."""
    timing = measurement.timing
    if timing is None or len(timing.microseconds) == 0:
        return None
    return Series(
        timing.microseconds[-KEPT:],
        measurement.kind,
        caption(measurement),
        len(timing.microseconds),
        work,
        measurement.peaks,
        measurement.differences,
        measurement.notes,
        size,
        measurement.overhead,
    )


@dataclass(frozen=True)
class Line:
    """One line of the table: what it is called, and a cell for each column.

    Cells that are `quiet` tell little: a time that is mostly the launching.
    """

    name: str
    cells: tuple[str, ...]
    hint: str = ""
    quiet: tuple[bool, ...] = ()


NAMES: Mapping[str, str] = texts("rows")["series"]
HINTS: Mapping[str, str] = texts("rows")["series_hints"]
RATES = ("useful", "moved", "flops")
Cells = Sequence[str]


def lines_of(series: Sequence[Series]) -> list[Line]:
    """Times and rates of some runs; with two of them, how many times as much the second is."""
    median = _line(
        "median", [duration(s.median) for s in series], _ratio([s.median for s in series])
    )
    median = replace(median, quiet=tuple(bool(s.overhead) for s in series))
    spread = Line(
        "", _with(["± " + _spread(s) for s in series], _waver(series)), tr(HINTS["median"])
    )
    lines = [
        *_joined(median, spread),
        _line(
            "shortest", [duration(s.minimum) for s in series], _ratio([s.minimum for s in series])
        ),
    ]
    for which, name in enumerate(RATES):
        lines += _rates(name, series, which)
    if any(s.differences for s in series):
        lines.append(_line("result", [_difference(s) for s in series], [""]))
    return lines


def by_run(titles: Sequence[str], series: Sequence[Series]) -> list[Line]:
    """One line a run, for more runs than there is room for columns; ratios are to the first."""
    return [
        Line(
            title,
            (f"{duration(s.median)}  ± {_spread(s)}", ratio(series[0].median, s.median)),
            tr(HINTS["median"]),
            (bool(s.overhead),),
        )
        for title, s in zip(titles, series, strict=True)
    ]


def _line(name: str, cells: Cells, end: Cells) -> Line:
    return Line(tr(NAMES[name]), _with(cells, end), tr(HINTS[name]))


def _with(cells: Cells, end: Cells) -> tuple[str, ...]:
    """A last column when two runs are compared."""
    return (*cells, *end) if len(cells) == 2 else tuple(cells)


def _joined(line: Line, more: Line) -> list[Line]:
    """One line where there is room for both: when there is one run."""
    if len(line.cells) > 1:
        return [line, more]
    both = tuple(f"{a}  {b}" for a, b in zip(line.cells, more.cells, strict=True))
    return [replace(line, cells=both)]


def _spread(series: Series) -> str:
    """In the unit of the median, without naming it again."""
    return f"{series.spread / time_unit(series.median)[0]:.2g}"


def _ratio(values: Sequence[float | None]) -> Cells:
    return [ratio(*values)] if len(values) == 2 else []


def _waver(series: Sequence[Series]) -> Cells:
    """How far the spreads of both let the ratio of the medians waver."""
    if len(series) != 2 or not all(s.median for s in series):
        return [""]
    a, b = series
    share = float(np.hypot(a.spread / a.median, b.spread / b.median))
    return [f"± {share * b.median / a.median:.1g}"]


def _rates(name: str, series: Sequence[Series], which: int) -> list[Line]:
    values = [_part(s.rates, which) for s in series]
    if not any(values):
        return []
    said = ["–" if v is None else three(v / 1e9) for v in values]
    line = _line(name, said, _ratio(values))
    shares = [_of_peak(s.peaks, v, which) for s, v in zip(series, values, strict=True)]
    if not any(shares):
        return [line]
    return _joined(line, Line("", _with(shares, [""]), tr(HINTS[name])))


def _part(rates: Throughput | None, which: int) -> float | None:
    return None if rates is None else (rates.asked, rates.moved, rates.flops)[which]


def _of_peak(peaks: Peaks | None, value: float | None, which: int) -> str:
    """What share of the device's peak a rate is; moved bytes have no peak to be compared with."""
    if peaks is None or value is None or which == 1:
        return ""
    peak = peaks.flops_per_second if which == 2 else peaks.bytes_per_second
    percent = 100 * value / peak
    return f"{three(percent)}{THIN}%" if percent >= LEAST else f"< {LEAST}{THIN}%"


def _difference(series: Series) -> str:
    """In words when there is none: that is what one hopes to read."""
    if not series.differences:
        return "–"
    most = max(series.differences.values())
    return tr("equal") if most == 0 else tr("off by {most}", most=f"{most:.3g}")


HEAD = ("run", "size", "launch", "microseconds", "badge")


def times_table(series: Mapping[str, Series], known: Mapping[str, Measurement]) -> Table:
    """A row a launch, numbered from the first one of its run; each says where it is from."""
    rows: list[tuple[str, ...]] = []
    for run, one in series.items():
        source = timed_badge(known[run]) if run in known else one.badge
        first = one.launches - len(one.microseconds) + 1
        rows += [
            (run, one.size, str(first + number), f"{time:.6g}", source)
            for number, time in enumerate(one.microseconds.tolist())
        ]
    return Table(HEAD, tuple(rows))
