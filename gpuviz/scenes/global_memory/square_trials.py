"""The seven published trials of the square array: what they cost then, and what they cost now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.draw import table
from gpuviz.draw.figures import sourced
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.memory.coalescing import transactions
from gpuviz.runners.base import Run
from gpuviz.scenes.measured import Timed, time_columns, time_of
from gpuviz.scenes.request.requests import Request, requests_of
from gpuviz.scenes.request.words import nouns
from gpuviz.trace import LANES, Trace, lane_mask

Triple = tuple[int, int, int]  # STRIDE, OFFSET, GROUP_SIZE
# "Threads and blocks in detail" (2013): mean of 1000 launches on a GeForce 8600 GTS, in ms.
PUBLISHED: Mapping[Triple, float] = {
    (32, 0, 512): 14.5,
    (16, 0, 512): 14.7,
    (8, 0, 512): 86.0,
    (32, 1, 512): 93.5,
    (32, 0, 16): 14.4,
    (32, 0, 8): 22.1,
    (8, 1, 8): 85.5,
}
THEN = architecture("sm_11")  # of the GeForce 8600 GTS


@dataclass(frozen=True, eq=False)
class Trial:
    """One trial: what block 0 loads, on average for 32 elements (a whole warp's worth).

    Attributes
    ----------
    triple : STRIDE, OFFSET, GROUP_SIZE
    published : ms, None for a trial of one's own
    requests : load requests
    then, bytes_then : transactions and their bytes on the published card's architecture
    now, noun : transactions on the architecture chosen, and what they are called there
    first : warp 0's first load, as the published card served it
    """

    triple: Triple
    published: float | None
    requests: float
    then: float
    bytes_then: float
    now: float
    noun: str
    first: Request
    time: Timed | None


def trial_of(triple: Triple, run: Run) -> Trial:
    """One trial, counted from the requests of block 0."""
    requests, then, moved = loads(run.trace, THEN)
    arch = architecture(run.arch)
    now = loads(run.trace, arch)[1]
    noun = requests_of(run.trace, arch, 0, 0)[0].noun
    first = requests_of(run.trace, THEN, 0, 0)[0]
    published = PUBLISHED.get(triple)
    return Trial(triple, published, requests, then, moved, now, noun, first, time_of(run))


def loads(trace: Trace, arch: Architecture) -> tuple[float, float, float]:
    """Load requests, transactions and bytes moved of block 0, for every 32 elements it loads."""
    rows = trace.of(block=0, space="global", op="load")
    active = lane_mask(rows.active)
    cost = transactions(arch, rows.address, active, 4)
    share = LANES / int(active.sum())
    return len(rows) * share, int(cost.count.sum()) * share, int(cost.moved.sum()) * share


def height_of(stage: Stage, trials: tuple[Trial, ...]) -> float:
    """A comfortable height for the table."""
    return table.height_of(stage, len(trials), 2, True)


def draw(
    stage: Stage,
    area: Rect,
    trials: tuple[Trial, ...],
    arch: Architecture,
    shown: int,
    now: int | None,
) -> tuple[Mark, ...]:
    """The table: the first `shown` trials, `now` being the one under way."""
    laid = table.lay_out(stage, area, _columns(stage, trials, arch))
    marks = [*table.draw(stage, laid, shown, now)]
    for row, trial in enumerate(trials[:shown]):
        cell = laid.cell(row, 6)
        if cell is not None:
            marks += _bars(stage, cell.inset(0, cell.height * 0.12), trial, trials)
    return tuple(marks)


def _number(value: float) -> str:
    """At most one decimal, none when whole."""
    return f"{value:.1f}".removesuffix(".0")


def _columns(stage: Stage, trials: tuple[Trial, ...], arch: Architecture) -> list[table.Column]:
    """The columns; the times only where there are any."""
    palette, size = stage.palette, stage.text(14)
    published = tuple("–" if t.published is None else f"{t.published:.1f} ms" for t in trials)
    what = nouns(trials[0].noun)
    columns = [
        *(
            table.Column((name,), tuple(str(t.triple[i]) for t in trials), given=True)
            for i, name in enumerate(("STRIDE", "OFFSET", "GROUP_SIZE"))
        ),
        table.Column(
            (tr("8600 GTS"),), published, badge=tr("published"), color=palette.muted, bold=True
        ),
        table.Column((tr("requests"),), tuple(_number(t.requests) for t in trials), optional=2),
        table.Column(
            (tr("segments, CC 1.1"),),
            tuple(_number(t.then) for t in trials),
            badge=tr("model"),
            bold=True,
        ),
        table.Column(
            (tr("above: ms, below: bytes moved"),),
            ("",) * len(trials),
            "left",
            least=size * 6,
            optional=1,
        ),
        table.Column(
            (tr("{what}, {arch}", what=what, arch=f"CC {arch.version}"),),
            tuple(_number(t.now) for t in trials),
            badge=tr("model"),
            bold=True,
        ),
    ]
    return columns + time_columns(stage, [t.time for t in trials])


def _bars(stage: Stage, cell: Rect, trial: Trial, trials: tuple[Trial, ...]) -> list[Mark]:
    """Two bars, each to its own scale: published time above, predicted bytes below."""
    palette = stage.palette
    most = max(t.published or 0.0 for t in trials)
    bytes_most = max(t.bytes_then for t in trials)
    above, below = cell.rows(2, 2.0)
    long = above.width * (trial.published or 0.0) / most
    used = below.width * 4 * LANES / bytes_most
    wide = below.width * trial.bytes_then / bytes_most
    rest = Rect(below.x + used, below.y, wide - used, below.height)
    return [
        Boxes(Rect(above.x, above.y, long, above.height).array(), palette.compute),
        Boxes(Rect(below.x, below.y, used, below.height).array(), palette.accent),
        Boxes(rest.array(), palette.waste_ground, hatch=palette.waste),
    ]


def sources(stage: Stage, area: Rect, elements: int) -> tuple[Mark, ...]:
    """Where the published times are from, and that our array is a smaller one."""
    texts = (
        tr(
            "“Threads and blocks in detail” (2013): GeForce 8600 GTS, 2^25 elements, mean of "
            "1000 launches · counted here: {n} elements, every 32 cost the same",
            n=elements,
        ),
        tr(
            "“Threads and blocks in detail”, 8600 GTS, 2^25 elements · counted here: {n}, "
            "every 32 alike",
            n=elements,
        ),
        tr("2^25 elements on a GeForce 8600 GTS · counted here: {n}", n=elements),
    )
    return sourced(stage, area, tr("published"), stage.palette.muted, texts)


def alike(trials: tuple[Trial, ...]) -> bool:
    """Whether all trials cost the same number of transactions on the architecture chosen."""
    return len(np.unique([t.now for t in trials])) == 1
