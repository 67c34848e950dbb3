"""Predicted times and traffic beside measured ones: a row a launch and state of the caches."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from gpuviz.base.errors import Cancelled, Error
from gpuviz.ptx.options import Options
from gpuviz.recordings.measured_file import MeasuredLaunch
from gpuviz.recordings.stall_reasons import METRICS, PREFIX, waits
from gpuviz.run.predicted import launched
from gpuviz.run.stalls import Stalls, predicted_waits, stalls_of
from gpuviz.run.verification import Measurements, job_of
from gpuviz.timing.device import H200, Device
from gpuviz.timing.explanation import Limits, limits
from gpuviz.timing.interval import GROUPS, SHORT_US, class_of
from gpuviz.timing.prediction import Prediction, SampledLaunch, predict
from gpuviz.timing.timeline import timeline_of

DIFFERENT = 0.1  # times of a pair that differ by more have an order
# What is asked for, in hundredths: more than a median and a 90th percentile may be; at least.
ERRORS = {"time": (12.0, 30.0), "l2_to_l1": (2.0, 10.0), "dram": (3.0, 15.0)}
SHARES = {"pairs": 95.0, "limiter": 85.0}
FEW = 0.8  # of the warps that fit: fewer are there when blocks are not launched fast enough
_THROUGHPUT = {
    "sm_throughput_percent": "compute",
    "l1_throughput_percent": "l1",
    "l2_throughput_percent": "l2",
    "dram_throughput_percent": "dram",
}
_STALLS = {
    "long_scoreboard": "latency",
    "barrier": "barrier",
    "lg_throttle": "l1",
    "short_scoreboard": "l1",
    "mio_throttle": "l1",
    "drain": "l2",
    "wait": "latency",
    "branch_resolving": "fetch",
    "no_instruction": "fetch",
    "imc_miss": "fetch",
    "not_selected": "compute",
    "math_pipe_throttle": "compute",
    "dispatch_stall": "compute",
}
_COUNTED_AS = {**GROUPS, "atomics": "l2"} | {n: n for n in ("latency", "barrier", "launch")}


@dataclass(frozen=True)
class Quantity:
    """What was predicted, and what measured; None where nothing was, or nothing is claimed."""

    predicted: float
    measured: float | None

    @property
    def error(self) -> float | None:
        """Predicted over measured, less 1; None where there is nothing to compare."""
        if self.measured is None:
            return None
        if self.measured == 0:
            return 0.0 if self.predicted == 0 else None
        return self.predicted / self.measured - 1.0


@dataclass(frozen=True)
class Row:
    """One launch with caches flushed before ("cold") or not ("warm")."""

    launch: str
    kernel: str
    state: str
    microseconds: Quantity
    l2_to_l1: Quantity
    dram: Quantity
    limiter: str
    line: int
    counters: tuple[str, ...]
    seconds: float
    kind: str  # of launches whose times err alike (`timing.interval`)
    stalls: Stalls = field(default_factory=dict)

    @property
    def agrees(self) -> bool | None:
        """Whether counters name what limits; None where nothing was counted."""
        if not self.counters:
            return None
        return _COUNTED_AS.get(self.limiter, self.limiter) in self.counters


@dataclass(frozen=True)
class TimeComparison:
    """The rows of a file, and by launch why there are none."""

    rows: tuple[Row, ...]
    failed: Mapping[str, str]


def compare_times(
    measured: Measurements,
    device: Device = H200,
    progress: Callable[[str], None] = lambda name: None,
    options: Options | None = None,
) -> TimeComparison:
    """Predict every launch of a file, and put times and traffic side by side."""
    found: list[Row] = []
    failed: dict[str, str] = {}
    for launch in measured.launches:
        progress(launch.name)
        try:
            found += _rows(measured, launch, device, options or Options())
        except Cancelled:
            raise
        except Error as reason:
            failed[launch.name or launch.source] = str(reason)
    return TimeComparison(tuple(found), failed)


def _rows(
    measured: Measurements, launch: MeasuredLaunch, device: Device, options: Options
) -> list[Row]:
    job = job_of(measured, launch)
    began = time.monotonic()
    known = launched(job, measured.arch, device, options)
    size = sum(b.size for b in known.trace.launch.buffers)
    cold = predict(known, device)
    seconds = time.monotonic() - began
    warm = predict(known, device, cold=False)
    # What a launch left in L2 is gone when it is measured again, unless it is little.
    timed = warm if size <= device.warm_bytes else cold
    fits = launch_fits(known, device)
    # Waits were counted in runs after others, which find in L2 what those left there.
    waited = warm if _found_in_l2(launch.warm) else timed
    states = (("cold", launch.cold, cold, cold, cold), ("warm", launch.warm, timed, warm, waited))
    return [
        _row(
            *(launch, state, counters, fits, took, limits(counted), seconds),
            _waits(waiting, launch.stalls.get(state, {})),
        )
        for state, counters, took, counted, waiting in states
        if counters
    ]


def _found_in_l2(counters: Mapping[str, float | None]) -> bool:
    """Whether most of what was read was there already."""
    hit, asked = (counters.get(f"l2_read_sectors_{name}") for name in ("hit", "from_sm"))
    return (hit or 0.0) > 0.5 * (asked or math.inf)


def _waits(prediction: Prediction, told: Mapping[str, float | None]) -> Stalls:
    """What warps wait for; nothing where nobody counted it. Reasons a file leaves out are 0."""
    if not told:
        return {}
    read = {PREFIX + reason: n for reason, n in told.items() if n is not None}
    counted = waits(dict.fromkeys(METRICS, 0.0) | read)
    return stalls_of(predicted_waits(timeline_of(prediction)), counted)


def launch_fits(known: SampledLaunch, device: Device) -> float:
    """Warps that could reside on a multiprocessor all the time, in hundredths of the most; 0 where
    there are fewer blocks than would fit.
    """
    if known.sample.blocks < known.resident * device.multiprocessors:
        return 0.0
    return 100.0 * known.resident * known.trace.launch.warps_per_block / known.arch.max_warps


def _row(
    launch: MeasuredLaunch,
    state: str,
    counters: Mapping[str, float | None],
    fits: float,
    prediction: Prediction,
    limit: Limits,
    seconds: float,
    stalls: Stalls,
) -> Row:
    nanoseconds = counters.get("duration_ns")
    return Row(
        launch.name or launch.source,
        launch.entry or launch.source,
        state,
        Quantity(prediction.microseconds, None if nanoseconds is None else nanoseconds / 1e3),
        Quantity(prediction.l2_to_l1, counters.get("l2_to_l1_sectors")),
        Quantity(
            prediction.dram_read, counters.get("dram_read_sectors") if state == "cold" else None
        ),
        limit.limiter,
        limit.line,
        _counted(counters, launch.stalls.get(state, {}), fits),
        seconds,
        class_of(prediction, limit.limiter),
        stalls,
    )


def _counted(
    counters: Mapping[str, float | None], stalls: Mapping[str, float | None], fits: float
) -> tuple[str, ...]:
    """What the largest throughput and the largest stall are of. Where far fewer warps were resident
    than fit, blocks were not launched as fast as they ended: "launch".
    """
    found = []
    for table, values in ((_THROUGHPUT, counters), (_STALLS, stalls)):
        known = {name: value for name in table if (value := values.get(name)) is not None}
        if known:
            found.append(table[max(known, key=known.__getitem__)])
    if (counters.get("achieved_occupancy_percent") or fits) < FEW * fits:
        found.append("launch")
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True)
class Spread:
    """Absolute errors in hundredths: how many, their mean, median, 90th percentile, the largest."""

    count: int
    median: float
    p90: float
    mean: float
    worst: float


@dataclass(frozen=True)
class TimeClass:
    """The times of a class of launches: their errors, and between which multiples of what was
    modelled eight of ten were measured.
    """

    errors: Spread
    low: float
    high: float


@dataclass(frozen=True)
class Summary:
    """All rows in a few numbers, in hundredths; None where there is nothing to say."""

    time: Spread | None
    l2_to_l1: Spread | None
    dram: Spread | None
    pairs: float | None
    limiter: float | None
    classes: Mapping[str, TimeClass] = field(default_factory=dict)

    @property
    def missed(self) -> tuple[str, ...]:
        """Which bars are missed."""
        spreads = {"time": self.time, "l2_to_l1": self.l2_to_l1, "dram": self.dram}
        shares = {"pairs": self.pairs, "limiter": self.limiter}
        found = [
            name
            for name, spread in spreads.items()
            if spread and not (spread.median < ERRORS[name][0] and spread.p90 < ERRORS[name][1])
        ]
        low = [n for n, share in shares.items() if share is not None and share < SHARES[n]]
        return (*found, *low)


def summary(rows: Sequence[Row]) -> Summary:
    """The rows in a few numbers; times count above `SHORT_US`."""
    long = [r for r in rows if (r.microseconds.measured or 0.0) > SHORT_US]
    known = [r.agrees for r in rows if r.agrees is not None]
    ordered = [right for state in ("cold", "warm") for right in _pairs(rows, state)]
    return Summary(
        spread([r.microseconds.error for r in long]),
        spread([r.l2_to_l1.error for r in rows if r.l2_to_l1.measured]),
        spread([r.dram.error for r in rows]),
        100.0 * sum(ordered) / len(ordered) if ordered else None,
        100.0 * sum(known) / len(known) if known else None,
        classes(rows),
    )


def classes(rows: Sequence[Row]) -> dict[str, TimeClass]:
    """Times by class, and of "all" that are not short."""
    found: dict[str, list[float]] = {}
    for row in rows:
        error = row.microseconds.error
        if error is not None:
            for name in (row.kind,) if row.kind == "short" else (row.kind, "all"):
                found.setdefault(name, []).append(error)
    made = {}
    for name, errors in sorted(found.items()):
        low, high = np.quantile(1.0 / (1.0 + np.array(errors)), (0.1, 0.9))
        if of := spread(errors):
            made[name] = TimeClass(of, float(low), float(high))
    return made


def _pairs(rows: Sequence[Row], state: str) -> list[bool]:
    """Of all launches of one kernel that differ clearly: whether the faster is called so."""
    timed = [r for r in rows if r.state == state and r.microseconds.measured]
    found = []
    for a, b in combinations(timed, 2):
        first, second = a.microseconds.measured or 0.0, b.microseconds.measured or 0.0
        if a.kernel == b.kernel and max(first, second) > (1 + DIFFERENT) * min(first, second):
            predicted = a.microseconds.predicted < b.microseconds.predicted
            found.append(predicted == (first < second))
    return found


def spread(errors: Sequence[float | None]) -> Spread | None:
    """Errors, absolutely; None where there are none."""
    known = 100.0 * np.abs([e for e in errors if e is not None])
    if not len(known):
        return None
    median, p90 = np.quantile(known, (0.5, 0.9))
    return Spread(len(known), float(median), float(p90), float(known.mean()), float(known.max()))
