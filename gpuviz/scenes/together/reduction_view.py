"""The picture of a sum in rounds: who adds what to what, and how many lanes that keeps busy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.arrays import F32, F64, Bool
from gpuviz.draw import table
from gpuviz.draw.bands import bands, partly
from gpuviz.draw.ease import passed, smooth
from gpuviz.draw.figures import Figure, figures
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, grid
from gpuviz.draw.marks import Boxes, Curves, Mark, Texts, Tip
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.runners.base import Run
from gpuviz.scenes.measured import Timed, badge_of, time_of
from gpuviz.scenes.together.reduction_rounds import Round, Rounds
from gpuviz.trace import LANES

_GAP = 0.7  # between the columns, in letters


def name_of(rounds: Rounds, number: int) -> str:
    """What a round is called."""
    kind = rounds.rounds[number].kind
    if kind == "add":
        step = sum(r.kind == "add" for r in rounds.rounds[: number + 1])
        return tr("step {n}", n=step)
    return tr("load") if kind == "load" else tr("hand over")


@dataclass(frozen=True, eq=False)
class Chart:
    """Where everything goes: `cells` (R, P, 4) of the places after each round, one `rows` a round;
    the x at which names end, bars begin and end, counts of lanes end, and wavefronts end.
    """

    rounds: Rounds
    head: Rect
    rows: tuple[Rect, ...]
    cells: F32
    bars: Rect
    lanes: float
    waves: float


def lay_out(stage: Stage, area: Rect, rounds: Rounds) -> Chart:
    """Names, the tree of sums, bars of lanes, and two columns of numbers, from left to right."""
    size = stage.text(14)
    gap = size * _GAP
    names = max(text_width(name_of(rounds, i), size) for i in range(len(rounds.rounds))) + gap
    head, body = area.above(size * 1.5)
    lanes, waves = (text_width(t, size) for t in _columns(rounds))
    numbers = lanes + waves + 2 * gap
    bars = min(max(area.width * 0.14, size * 4), size * 14)
    tree = Rect(body.x + names, body.y, body.width - names - numbers - bars - gap, body.height)
    count = len(rounds.rounds)
    tall = min(body.height / count * 0.45, 20 * stage.scale)
    pitch = (body.height - tall) / (count - 1)
    rows = tuple(Rect(body.x, body.y + i * pitch, body.width, tall) for i in range(count))
    space = 1.0 if tree.width > rounds.places * 3 else 0.0
    cells = np.stack(
        [grid(Rect(tree.x, r.y, tree.width, tall), 1, rounds.places, space) for r in rows]
    )
    return Chart(
        rounds,
        head,
        rows,
        cells,
        Rect(tree.right + gap, body.y, bars, body.height),
        body.right - waves - gap,
        body.right,
    )


def _columns(rounds: Rounds) -> tuple[str, str]:
    """The widest texts of the columns of numbers: their titles."""
    return tr("lanes at work"), tr("wavefronts")


def draw(stage: Stage, chart: Chart, done: float) -> tuple[Mark, ...]:
    """The chart when so many rounds are over, the fraction being the one under way."""
    marks: list[Mark] = [*_head(stage, chart)]
    for number, one in enumerate(chart.rounds.rounds):
        progress = min(max(done - number, 0.0), 1.0)
        marks += _edges(stage, chart, number, one, progress)
        marks += _row(stage, chart, number, one, progress)
        marks += _bar(stage, chart, number, one, progress)
    return tuple(marks)


def _head(stage: Stage, chart: Chart) -> tuple[Mark, ...]:
    """What the columns are."""
    palette, size, y = stage.palette, stage.text(14), chart.head.y + stage.text(14) * 0.6
    places = tr("registers of the threads") if chart.rounds.shuffles else tr("words of the block")
    lanes, waves = _columns(chart.rounds)
    left = float(chart.cells[0, 0, 0])
    return (
        label(left, y, places, palette.muted, size),
        label(chart.lanes, y, lanes, palette.muted, size, align="right"),
        label(chart.waves, y, waves, palette.muted, size, align="right"),
    )


def _edges(
    stage: Stage, chart: Chart, number: int, one: Round, progress: float
) -> tuple[Mark, ...]:
    """From the places that are read to the one that is written, in the lane's colour."""
    if one.kind == "load" or number == 0:
        return ()
    above, here = chart.cells[number - 1], chart.cells[number]
    from_itself = one.kind == "add"
    use = one.useful
    sources = [one.source, one.target] if from_itself else [one.source]
    start = np.concatenate([_low(above, s[use]) for s in sources])
    end = np.concatenate([_high(here, one.target[use])] * len(sources))
    palette = stage.palette
    color = np.concatenate([palette.lanes[one.thread[use] % LANES]] * len(sources))
    curves = bands(start, end)
    width = 1.6 * stage.scale
    if progress <= 0:
        return (Curves(curves, palette.soft(palette.todo(color), 0.5), stage.scale * 0.8),)
    if progress >= 1:
        return (Curves(curves, palette.soft(color, 0.35), stage.scale),)
    come: F64 = np.full(len(curves), float(smooth(min(progress * 1.6, 1.0))))
    return (
        Curves(curves, palette.soft(palette.todo(color), 0.5), stage.scale * 0.8),
        Curves(partly(curves, come), color, width),
    )


def _low(cells: F32, places: np.ndarray[tuple[int], np.dtype[np.int64]]) -> F32:
    """(N, 2) the middle of the lower edges."""
    box = cells[places]
    return np.stack([box[:, 0] + box[:, 2] / 2, box[:, 1] + box[:, 3]], axis=1)


def _high(cells: F32, places: np.ndarray[tuple[int], np.dtype[np.int64]]) -> F32:
    """(N, 2) the middle of the upper edges."""
    box = cells[places]
    return np.stack([box[:, 0] + box[:, 2] / 2, box[:, 1]], axis=1)


def _row(stage: Stage, chart: Chart, number: int, one: Round, progress: float) -> tuple[Mark, ...]:
    """The places after a round: new sums in the colours of their lanes, idle work hatched."""
    palette, cells, row = stage.palette, chart.cells[number], chart.rows[number]
    size = stage.text(14)
    written = np.zeros(chart.rounds.places, bool)
    written[one.target] = True
    come = float(smooth(min(max(progress * 2 - 1, 0.0), 1.0)))
    useful = one.target[one.useful]
    color = palette.lanes[one.thread[one.useful] % LANES]
    fill = palette.state(color, np.full(len(useful), come))
    lost = one.target[~one.useful]
    dim = come < 0.5
    ground = palette.todo(palette.waste_ground) if dim else palette.waste_ground
    hatch = palette.todo(palette.waste) if dim else palette.waste
    now = 0 < progress < 1
    ink = palette.ink if now else palette.muted
    return (
        label(
            row.x,
            float(cells[0, 1] + cells[0, 3] / 2),
            name_of(chart.rounds, number),
            ink,
            size,
            bold=now,
        ),
        Boxes(cells[~written], palette.soft(palette.cell, 0.6), tip=_left(written)),
        Boxes(cells[lost], ground, hatch=hatch, tip=_tips(chart.rounds, number, ~one.useful)),
        Boxes(_seen(cells[useful], stage), fill, tip=_tips(chart.rounds, number, one.useful)),
    )


def _seen(cells: F32, stage: Stage) -> F32:
    """Cells as wide as there is room for beside each other, so that single ones are seen."""
    apart = float(np.diff(np.sort(cells[:, 0])).min(initial=64.0))
    wide = max(min(apart * 0.6, 9 * stage.scale), float(cells[:, 2].min(initial=apart)))
    grown = cells.copy()
    grown[:, 2] = wide
    return grown


def _left(written: Bool) -> Tip:
    """The hover text of places that a round does not write."""
    places = np.flatnonzero(~written)
    return lambda i: tr("place {n} is not written in this round", n=places[i])


def _tips(rounds: Rounds, number: int, chosen: Bool) -> Tip:
    """The hover text of places that a round writes."""
    one = rounds.rounds[number]
    thread, target, source = one.thread[chosen], one.target[chosen], one.source[chosen]

    def say(i: int) -> str:
        who = tr("lane {lane} of warp {warp}", lane=thread[i] % LANES, warp=thread[i] // LANES)
        count = tr("a sum of {n} elements", n=rounds.elements[number, target[i]])
        if one.kind == "load":
            return tr("{who} loads element {n}", who=who, n=target[i])
        if one.kind == "move":
            return tr("{who} takes over place {a}: {count}", who=who, a=source[i], count=count)
        if not one.useful[chosen][i]:
            return tr("{who} adds, too, but nobody uses the sum", who=who)
        return tr(
            "{who} adds place {a} to place {b}: {count}",
            who=who,
            a=source[i],
            b=target[i],
            count=count,
        )

    return say


def _bar(stage: Stage, chart: Chart, number: int, one: Round, progress: float) -> tuple[Mark, ...]:
    """Lanes at work, solid, of those that the warps have, hatched; and the wavefronts.

    Nothing while the stage asks how many these are.
    """
    if stage.asks:
        return ()
    palette, size, cell = stage.palette, stage.text(14), chart.cells[number][0]
    y, tall = float(cell[1] + cell[3] / 2), float(cell[3])
    each = chart.bars.width / chart.rounds.places
    ahead = progress <= 0
    color = palette.todo(palette.accent) if ahead else palette.accent
    used = Rect(chart.bars.x, float(cell[1]), each * one.lanes, tall)
    idle = Rect(used.right, used.y, each * (one.issued - one.lanes), tall)
    ground = palette.todo(palette.waste_ground) if ahead else palette.waste_ground
    hatch = palette.todo(palette.waste) if ahead else palette.waste
    ink = palette.faint if ahead else palette.ink
    marks: list[Mark] = [Boxes(used.array(), color)]
    if idle.width > 0:
        marks.append(Boxes(idle.array(), ground, hatch=hatch))
    lanes = tr("{a} of {b}", a=one.lanes, b=one.issued)
    at = np.array([[chart.lanes, y], [chart.waves, y]], np.float32)
    waves = "–" if one.wavefronts == 0 else str(one.wavefronts)
    colors = np.stack([ink, palette.warn if one.wavefronts > one.ideal and not ahead else ink])
    return *marks, Texts(at, (lanes, waves), colors, size, "right")


def now_figures(stage: Stage, area: Rect, rounds: Rounds, done: float) -> tuple[Mark, ...]:
    """What has happened so far, in numbers that tick."""
    palette, over = stage.palette, min(passed(done), len(rounds.rounds))
    some = rounds.rounds[:over]
    adds = sum(r.lanes for r in some if r.kind == "add")
    issued = sum(r.issued for r in some if r.kind == "add")
    waves = sum(r.wavefronts for r in some)
    extra = waves - sum(r.ideal for r in some)
    pieces: tuple[Figure, ...] = (
        (tr("{n} additions", n=adds), palette.accent, True),
        (tr("{n} lanes issued for them", n=issued), palette.ink, False),
        (tr("{n} wavefronts", n=waves), palette.ink, False),
        (tr("{n} of them by conflicts", n=extra), palette.warn if extra else palette.muted, False),
    )
    return figures(stage, area, pieces, tr("model"), palette.accent)


@dataclass(frozen=True)
class Cost:
    """What one way of adding costs a block."""

    role: str
    issued: int
    wavefronts: float
    instructions: float
    barriers: int
    time: Timed | None


def cost_of(role: str, run: Run, rounds: Rounds) -> Cost:
    """The cost of a launch, a block of it."""
    totals, blocks = run.counts.totals, run.trace.launch.blocks
    waves = totals["shared_load_wavefronts"] + totals["shared_store_wavefronts"]
    return Cost(
        role,
        sum(r.issued for r in rounds.steps),
        waves / blocks,
        run.trace.warp_instructions / blocks,
        int(run.trace.requests.phase.max()),
        time_of(run),
    )


def cost_table(
    stage: Stage, area: Rect, costs: tuple[Cost, ...], names: tuple[str, ...], now: int
) -> tuple[Mark, ...]:
    """The ways beside each other, `now` being the one shown."""
    times = [c.time for c in costs]
    columns = [
        table.Column((tr("way"),), names, "left", tr("model")),
        table.Column((tr("wavefronts"),), tuple(f"{c.wavefronts:g}" for c in costs), bold=True),
        table.Column(("",), ("",) * len(costs), "left", least=stage.text(14) * 4, optional=1),
        table.Column(
            (tr("lanes issued to add"), tr("lanes issued")), tuple(str(c.issued) for c in costs)
        ),
        table.Column((tr("barriers"),), tuple(str(c.barriers) for c in costs), optional=2),
        table.Column(
            (tr("PTX instructions"), tr("PTX instr.")), tuple(f"{c.instructions:g}" for c in costs)
        ),
        table.Column(
            (tr("time"),),
            tuple(t.text if t else "–" for t in times),
            badge=badge_of(times),
            color=stage.palette.good if any(times) else stage.palette.muted,
        ),
    ]
    laid = table.lay_out(stage, area, columns)
    marks = [*table.draw(stage, laid, len(costs), now)]
    most = max(c.wavefronts for c in costs)
    for row, cost in enumerate(costs):
        if (cell := laid.cell(row, 2)) is not None:
            bar = cell.inset(0, cell.height * 0.2)
            color = (
                stage.palette.accent
                if row == now
                else stage.palette.soft(stage.palette.accent, 0.35)
            )
            long = Rect(bar.x, bar.y, bar.width * cost.wavefronts / most, bar.height)
            marks.append(Boxes(long.array(), color, radius=2))
    return tuple(marks)
