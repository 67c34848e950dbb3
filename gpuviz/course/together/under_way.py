"""What a multiprocessor has asked for and waits for, as modelled over time: Little's law."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuviz.base.arrays import Bool
from gpuviz.draw.axis import logarithmic
from gpuviz.panels.figures import Figure, FigureRow
from gpuviz.panels.panel import Ink
from gpuviz.panels.plot import Curve, Element, Plot, Points
from gpuviz.timing.timeline import Timeline
from gpuviz.timing.warp_states import State
from gpuviz.words.language import grouped, tr

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
