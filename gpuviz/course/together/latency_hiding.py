"""How warps hide latency: by arithmetic, as recorded, and as modelled over time (Little's law)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.base.arrays import F64, Bool
from gpuviz.draw.axis import logarithmic
from gpuviz.panels.figures import Figure, FigureRow
from gpuviz.panels.panel import Ink
from gpuviz.panels.plot import Curve, Element, Plot, Points
from gpuviz.recordings.measurement import Measurement
from gpuviz.run.run import Run
from gpuviz.timing.timeline import Timeline
from gpuviz.timing.warp_states import State
from gpuviz.words.language import grouped, tr


def cycles_of(arch: Architecture) -> float:
    """Cycles in which a multiprocessor serves one instruction of one warp: 4 on a G80."""
    return arch.warp / arch.float_lanes


@dataclass(frozen=True)
class Latency:
    """Warps that take turns while loads are under way."""

    warps: int  # resident ones
    # Instructions a warp has to execute between a load and the use of what it loads.
    independent: int
    cycles: float  # that one of them takes
    wait: int  # cycles from a load to its data

    @property
    def turn(self) -> float:
        """Cycles for which one warp keeps the lanes busy before it has to wait."""
        return self.independent * self.cycles

    @property
    def needed(self) -> int:
        """Warps with which the lanes never wait."""
        return ceil(self.wait / self.turn - 1e-9)

    @property
    def period(self) -> float:
        """Cycles from a warp's turn to its next one."""
        return max(float(self.wait), self.warps * self.turn)

    @property
    def busy(self) -> float:
        """Fraction of the time in which the lanes compute."""
        return self.warps * self.turn / self.period

    def starts(self, periods: int) -> F64:
        """(periods, warps) cycle at which each warp's turns start: one after another, in order."""
        first = np.arange(self.warps) * self.turn
        return np.asarray(np.arange(periods)[:, None] * self.period + first)


LOADS = (1, 2, 4, 8)
WARPS = (1, 2, 4, 8, 16, 32)  # of the blocks of the sweep
ELEMENTS = 256  # that each thread loads: the sweep lasts long enough to be timed
_FLOAT = 4


@dataclass(frozen=True, eq=False)
class Variant:
    """A kernel with so many loads at once: registers, blocks that fit, and what that hides."""

    loads: int
    registers: int
    blocks: int
    latency: Latency

    @property
    def under_way(self) -> int:
        """Bytes that all resident warps together have asked for and wait for."""
        return self.latency.warps * self.loads * 32 * _FLOAT


def rates_of(run: Run) -> F64 | None:
    """(6, 4) gigabytes a second that each block of the sweep loaded, by warps and loads at once.

    None when no GPU noted when its blocks started and ended.
    """
    lasted = _lasted(run)
    moved = np.array(WARPS)[:, None] * 32 * _FLOAT * ELEMENTS
    return None if lasted is None else np.asarray(moved / lasted)


def waits_of(run: Run) -> F64 | None:
    """(6, 4) cycles from one round of loads of a warp to its next one, by warps and loads at once.

    None as in `rates_of`, or where the clock is not known.
    """
    lasted, found = _lasted(run), run.measurement
    if lasted is None or found is None or not (clock := clock_ghz(found)):
        return None
    return np.asarray(lasted * clock * np.array(LOADS) / ELEMENTS)


def clock_ghz(found: Measurement) -> float:
    """The clock of the multiprocessors while they were timed, in cycles a nanosecond."""
    clocks = found.timing.clocks if found.timing else ()
    return (float(np.mean(clocks)) if clocks else found.device.clock_mhz) / 1000


def _lasted(run: Run) -> F64 | None:
    """(6, 4) nanoseconds from the start to the end of each block of the sweep."""
    placement = run.measurement.placement if run.measurement is not None else None
    if placement is None or len(placement.block) != len(WARPS) * len(LOADS):
        return None
    lasted = np.empty(len(placement.block))
    lasted[placement.block] = np.maximum(placement.end_ns - placement.start_ns, 1)
    return lasted.reshape(len(WARPS), len(LOADS))


LINE = 128  # bytes that a warp asks for at a time
_FIRST = 64.0  # bytes, where the axis begins


@dataclass(frozen=True, eq=False)
class UnderWay:
    """`warps` on a multiprocessor, each with `each` loads of a line under way at a time."""

    warps: int
    each: int
    timeline: Timeline

    @cached_property
    def _loads(self) -> Bool:
        events = self.timeline.events
        return np.asarray((events.hit + events.missed) > 0)

    @cached_property
    def latency(self) -> float:
        """Cycles from a request to its answer, on average."""
        events = self.timeline.events
        return float((events.result - events.at)[self._loads].mean())

    @cached_property
    def rate(self) -> float:
        """Bytes a cycle that come to the multiprocessor, while all warps are at it."""
        events = self.timeline.events
        came = events.result[self._loads]
        return float(LINE * len(came) / (came.max() - events.at[self._loads].min()))

    @property
    def under_way(self) -> float:
        """Bytes that have been asked for and have not come, on average: Little's law."""
        return self.latency * self.rate

    @property
    def arithmetic(self) -> str:
        """Little's law with its numbers."""
        return tr(
            "by arithmetic: {n} bytes under way / {latency} cycles = {rate} bytes a cycle",
            n=grouped(round(self.under_way)),
            latency=f"{self.latency:.0f}",
            rate=f"{self.rate:.3g}",
        )

    @property
    def lines(self) -> str:
        """Lines under way, in words."""
        many = self.under_way / LINE
        return f"{many:.0f}" if many >= 100 else f"{many:.1f}"

    def waits(self, end: float) -> float:
        """The part of their time up to a cycle in which warps wait for answers, as the key says."""
        taken = self.timeline.spans.time_in(0.0, min(end, self.timeline.recorded))
        far = taken[[State.L1, State.L2, State.MEMORY]].sum()
        return float(far / max(taken.sum(), 1.0))

    def figures(self) -> FigureRow:
        """Under way, latency, rate."""
        return FigureRow(
            (
                Figure(tr("{n} bytes under way", n=grouped(round(self.under_way))), "accent", True),
                Figure(tr("latency {n} cycles", n=f"{self.latency:.0f}")),
                Figure(tr("{n} bytes a cycle", n=f"{self.rate:.3g}"), "good"),
            )
        )


def roof_of(every: Sequence[UnderWay]) -> float:
    """The most bytes a cycle that any of them gets."""
    return max(one.rate for one in every)


@dataclass(frozen=True, eq=False)
class Group:
    """What is drawn alike: discs, or rings where they are `hollow`."""

    every: Sequence[UnderWay]
    ink: Ink
    hollow: bool = False


def law(
    one: UnderWay,
    groups: Sequence[Group],
    named: Sequence[Element],
    tip: Callable[[UnderWay], str],
    grown: float,
    caption: str,
    roofed: bool = True,
) -> Plot:
    """Bytes a cycle over bytes under way: the slope of the latency of `one`, and the roof, where
    one was reached.
    """
    every = [each for group in groups for each in group.every]
    roof, most = roof_of(every), max(each.under_way for each in every)
    knee = roof * one.latency
    end = 2.0 ** float(np.ceil(np.log2(max(most, knee) * 1.3)))
    x = logarithmic((tr("bytes under way"),), _FIRST, end, 4.0)
    low, high = np.floor(np.log2(_FIRST / one.latency)), np.ceil(np.log2(roof * 1.3))
    y = logarithmic((tr("bytes a cycle"),), 2.0 ** float(low), 2.0 ** float(high), 4.0)
    slope = Curve((_FIRST, knee), (_FIRST / one.latency, roof), "muted", 2, dash=True)
    flat = Curve((knee, x.high), (roof, roof), "muted", 2, dash=True)
    points = (_points(group, tip, grown) for group in groups)
    told = named if grown >= 1 else ()  # no names of points that are not there yet
    return Plot(x, y, (slope, *[flat] * roofed, *points, *told), captions=(caption,))


def _points(group: Group, tip: Callable[[UnderWay], str], grown: float) -> Points:
    every = group.every
    return Points(
        [one.under_way for one in every],
        [one.rate for one in every],
        group.ink,
        7 if group.hollow else 5,
        grown,
        group.hollow,
        tip=lambda i: tip(every[i]),
        answers=True,
    )
