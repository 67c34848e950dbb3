"""The parts of thread coarsening's picture: which lane has which cells of P, and what all cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.arrays import F32, I64, Bool
from gpuviz.draw import table
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, centers, first_fitting, grid
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.runners.base import Run
from gpuviz.scenes.measured import Timed, time_columns, time_of
from gpuviz.scenes.request.requests import Request
from gpuviz.scenes.request.words import nouns


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of P that one warp computes, from its stores.

    `column` (C,) in order of columns; `lane` and `store` (C,) who stores it, and with which store.
    """

    row: int
    column: I64
    lane: I64
    store: I64


def cells_of(stores: tuple[Request, ...], columns: int) -> Cells:
    """The cells that a warp's stores write, which all lie in one row."""
    index = np.concatenate([r.address[r.active] // 4 for r in stores])
    lane = np.concatenate([np.flatnonzero(r.active) for r in stores])
    store = np.repeat(np.arange(len(stores)), [int(r.active.sum()) for r in stores])
    order = np.argsort(index)
    return Cells(int(index[0] // columns), index[order] % columns, lane[order], store[order])


def map_height(stage: Stage, captioned: bool) -> float:
    """The height of the map of cells, with its caption or without."""
    return stage.text(14) * (3.1 if captioned else 1.4)


def cell_map(stage: Stage, area: Rect, cells: Cells, stored: int, now: I64) -> tuple[Mark, ...]:
    """The cells in the colours of their lanes: the first `stored` stores are done.

    `now` are the columns that the request under way is about. A caption goes above where there is
    room for it.
    """
    size, palette = stage.text(14), stage.palette
    marks, row = _caption(stage, area, cells) if area.height > size * 2.5 else ((), area)
    row = row.above(size * 1.35)[0]
    rects = grid(row, 1, len(cells.column), 2.0 if row.width > len(cells.column) * 8 else 0.0)
    done = (cells.store < stored).astype(np.float64)
    fill = palette.state(palette.lanes[cells.lane], done)
    marks += (Boxes(rects, fill, tip=lambda i: _tip(cells, i)),)
    if float(rects[0, 2]) >= text_width("31", stage.text(13), True) + 2:
        numbers = tuple(str(n) for n in cells.lane.tolist())
        ink = palette.ink_on(fill)
        marks += (Texts(centers(rects), numbers, ink, stage.text(13), "center", bold=True),)
    edge = _runs(rects, np.isin(cells.column, now))
    return *marks, Boxes(edge, stroke=palette.outline, stroke_width=1.5, radius=1)


def _caption(stage: Stage, area: Rect, cells: Cells) -> tuple[tuple[Mark, ...], Rect]:
    """What the map shows, and the area below."""
    size = stage.text(14)
    above, row = area.above(size * 1.5)
    texts = (
        tr(
            "row {row} of P: columns {a} to {b}, in the colours of the lanes that compute them",
            row=cells.row,
            a=cells.column[0],
            b=cells.column[-1],
        ),
        tr("row {row} of P, in the colours of its lanes", row=cells.row),
    )
    text = first_fitting(texts, above.width, size)
    return (label(above.x, above.y + size * 0.55, text, stage.palette.muted, size),), row


def _runs(rects: F32, chosen: Bool) -> F32:
    """(R, 4) areas around each run of chosen neighbours."""
    edge = np.diff(chosen.astype(np.int8), prepend=0, append=0)
    first, last = np.flatnonzero(edge == 1), np.flatnonzero(edge == -1) - 1
    left, right = rects[first, 0], rects[last, 0] + rects[last, 2]
    top, height = rects[first, 1] - 2, rects[first, 3] + 4
    return np.stack([left - 1, top, right - left + 2, height], axis=1).astype(np.float32)


def _tip(cells: Cells, i: int) -> str:
    """What hovering a cell says."""
    return tr(
        "P[{row}][{column}] · lane {lane}, its cell {n}",
        row=cells.row,
        column=cells.column[i],
        lane=cells.lane[i],
        n=cells.store[i],
    )


@dataclass(frozen=True)
class Cost:
    """What one kernel costs for 32 products, a multiply-add of a whole warp."""

    role: str
    loads: float
    transactions: float
    instructions: float
    registers: int | None
    time: Timed | None


def cost_of(role: str, run: Run, products: int) -> Cost:
    """The cost of a launch that computes so many products."""
    totals, share = run.counts.totals, 32 / products
    registers = run.resources.registers if run.resources else None
    return Cost(
        role,
        totals["global_load_requests"] * share,
        totals["global_load_sectors"] * share,
        run.trace.warp_instructions * share,
        registers,
        time_of(run),
    )


def number(value: float, places: int = 3) -> str:
    """At most so many decimals, none that are zero at the end."""
    return f"{value:.{places}f}".rstrip("0").rstrip(".")


def cost_table(
    stage: Stage, area: Rect, costs: tuple[Cost, ...], names: tuple[str, ...], now: int, noun: str
) -> tuple[Mark, ...]:
    """What each kernel costs, `now` being the one shown."""
    size, columns = stage.text(14), _columns(stage, costs, names, noun)
    laid = table.lay_out(stage, area, columns)
    marks = [*table.draw(stage, laid, len(costs), now)]
    most = max(c.transactions for c in costs)
    for row, cost in enumerate(costs):
        cell = laid.cell(row, 3)
        if cell is not None:
            bar = cell.inset(0, cell.height * 0.2)
            color = (
                stage.palette.accent
                if row == now
                else stage.palette.soft(stage.palette.accent, 0.35)
            )
            long = max(bar.width * cost.transactions / most, size * 0.1)
            marks.append(Boxes(Rect(bar.x, bar.y, long, bar.height).array(), color, radius=2))
    return tuple(marks)


def _columns(
    stage: Stage, costs: tuple[Cost, ...], names: tuple[str, ...], noun: str
) -> list[table.Column]:
    """The columns; the times only where there are any."""
    what = nouns(noun)
    columns = [
        table.Column(("",), names, "left", tr("model")),
        table.Column(
            (tr("loads for 32 products"), tr("loads")), tuple(number(c.loads) for c in costs)
        ),
        table.Column(
            (tr("{nouns} for 32 products", nouns=what), what),
            tuple(number(c.transactions) for c in costs),
            bold=True,
        ),
        table.Column(("",), ("",) * len(costs), "left", least=stage.text(14) * 4, optional=1),
        table.Column(
            (tr("PTX instructions"), tr("PTX instr.")),
            tuple(number(c.instructions, 2) for c in costs),
            optional=2,
        ),
        table.Column(
            (tr("registers"),),
            tuple("–" if c.registers is None else str(c.registers) for c in costs),
            optional=3,
        ),
    ]
    return columns + time_columns(stage, [c.time for c in costs])
