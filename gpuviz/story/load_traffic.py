"""Transactions that loads ask for, and how many of them are different: what L2 has to deliver.

What an earlier load asked for may still be in L1. How much of it is depends on what else runs; the
model gives the number asked for and the number of different ones, a GPU's counters what came.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import I64
from gpuviz.memory.counts import Count
from gpuviz.memory.request import Request
from gpuviz.memory.units import counted
from gpuviz.panels.panel import Values
from gpuviz.panels.time_bars import TimeBars
from gpuviz.run.run import Run
from gpuviz.story.measured import LaunchTime, time_bars, time_of
from gpuviz.words.language import tr

_PIECE = 32  # bytes
FROM_L2 = "l2_to_l1_sectors"  # a counter (gpuviz.gpu.counters)


@dataclass(frozen=True, eq=False)
class LoadTraffic:
    """Loads of one variant: its name, the transactions `asked` for, pieces of 32 bytes that are
    `distinct`. `from_l2` is the share that L2 delivered of the sectors of a launch on a GPU, None
    where nobody has counted.
    """

    name: str
    asked: int
    distinct: int
    time: LaunchTime | None = None
    from_l2: float | None = None


def pieces(request: Request) -> I64:
    """The 32-byte pieces of device memory that a request's transactions cover."""
    strip, base = request.strip, request.buffer.address
    spans = zip(strip.start.tolist(), strip.size.tolist(), strict=True)
    return np.concatenate([np.arange(base + a, base + a + n, _PIECE) // _PIECE for a, n in spans])


def measured_of(run: Run) -> tuple[LaunchTime | None, float | None]:
    """Of a launch, or of its companion: its time, and the share that came from L2."""
    found = run.companion.measurement if run.companion else run.measurement
    if found is None:
        return None, None
    values = found.values()
    asked, came = values.get(Count.GLOBAL_LOAD_SECTORS), values.get(FROM_L2)
    share = came / asked if asked and came is not None else None
    return time_of(run), share


def traffic_times(
    every: Sequence[LoadTraffic], noun: str, now: int, over: float, picks: Sequence[Values]
) -> TimeBars:
    """How long the launches took, with what they ask for and how much of that L2 had to send."""
    launches = [(one.name, one.time) for one in every]
    return time_bars(launches, now, [_note(one, noun) for one in every], over, picks=picks)


def _note(one: LoadTraffic, noun: str) -> tuple[str, ...]:
    asked = tr("{count} asked for", count=counted(noun, one.asked))
    if one.from_l2 is None:
        return (asked,)
    share = f"{100 * one.from_l2:.3g} %"
    return f"{asked} · {tr('{share} from L2', share=share)}", asked
