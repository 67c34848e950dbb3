"""Transactions that loads ask for, and how many of them are different: what L2 has to deliver.

What an earlier load asked for may still be in L1. How much of it is depends on what else runs; the
model gives the number asked for and the number of different ones, a GPU's counters what came.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gpuviz.base.arrays import I64
from gpuviz.memory.counts import Count
from gpuviz.memory.request import Request
from gpuviz.panels.bar import Bar
from gpuviz.panels.figures import Figure
from gpuviz.panels.table import Column, Columns
from gpuviz.run.run import Run
from gpuviz.story.measured import LaunchTime, time_column, time_figures, time_of
from gpuviz.words.language import grouped, tr

_PIECE = 32  # bytes
FROM_L2 = "l2_to_l1_sectors"  # a counter (gpuviz.gpu.counters)


@dataclass(frozen=True, eq=False)
class LoadTraffic:
    """Loads of one variant: transactions `asked` for, and pieces of 32 bytes that are `distinct`.

    `again` are the pieces asked for once more, `came` how much of each kind there is already, 0 to
    1. `from_l2` is the share that L2 delivered of the sectors of a launch on a GPU, None where
    nobody has counted; `badge` says where that is from.
    """

    asked: int
    distinct: int
    again: int
    time: LaunchTime | None = None
    from_l2: float | None = None
    badge: str = ""
    came: tuple[float, float] = (1.0, 1.0)


def pieces(request: Request) -> I64:
    """The 32-byte pieces of device memory that a request's transactions cover."""
    strip, base = request.strip, request.buffer.address
    spans = zip(strip.start.tolist(), strip.size.tolist(), strict=True)
    return np.concatenate([np.arange(base + a, base + a + n, _PIECE) // _PIECE for a, n in spans])


def measured_of(run: Run) -> tuple[LaunchTime | None, float | None, str]:
    """Of a launch, or of its companion: its time, the share that came from L2, and their badge."""
    found = run.companion.measurement if run.companion else run.measurement
    if found is None:
        return None, None, ""
    values = found.values()
    asked, came = values.get(Count.GLOBAL_LOAD_SECTORS), values.get(FROM_L2)
    share = came / asked if asked and came is not None else None
    return time_of(run), share, found.badge


def columns(every: Sequence[LoadTraffic], noun: str, asked: tuple[str, ...]) -> tuple[Column, ...]:
    """The columns of a table; those of a GPU where one has counted. `asked` titles the first."""
    of, sectors = Columns(every), noun == "sector"
    name = tr("different sectors") if sectors else tr("different 32 B pieces")

    def bars(one: LoadTraffic) -> Bar:
        return Bar(one.distinct, one.again, one.came, "accent")

    return (
        of(asked, lambda one: grouped(one.asked), bold=True, badge=tr("model")),
        of((name, tr("different")), lambda one: grouped(one.distinct), bold=True),
        of.bars(tr("asked for once, and again"), bars, wide=9.0),
        *_delivered(every),
        *time_column([one.time for one in every]),
    )


def timed(time: LaunchTime | None) -> tuple[Figure, ...]:
    """How long a launch took, without its size where there are few letters beside a map."""
    if time is None:
        return ()
    brief = time.attributed if time.elsewhere else tr("launch {time}", time=time.text)
    (whole,) = time_figures(time)
    return (replace(whole, shorter=(*whole.shorter, brief)),)


def _delivered(every: Sequence[LoadTraffic]) -> tuple[Column, ...]:
    """What L2 delivered of the sectors asked for; the rest was found in L1."""
    counted = next((one for one in every if one.from_l2 is not None), None)
    if counted is None:
        return ()
    cells = tuple("–" if one.from_l2 is None else f"{100 * one.from_l2:.3g} %" for one in every)
    name = tr("from L2")  # of the launch that is timed, which the column of times names
    return (Column((name,), cells, badge=counted.badge, ink="good", optional=2, origin=name),)
