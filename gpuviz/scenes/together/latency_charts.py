"""Warps needed against warps resident; what the compiler's registers leave; what a GPU measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.arrays import F64
from gpuviz.draw import table
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.plot import Axis, Plot, axes, lay_out, line, logarithmic, points, spread
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.runners.base import Run
from gpuviz.scenes.together.latency import Latency
from gpuviz.scenes.together.occupancy_fit import percent

LOADS = (1, 2, 4, 8)
WARPS = (1, 2, 4, 8, 16, 32)  # of the blocks of the sweep
ELEMENTS = 32  # that each thread loads
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
    """(6, 4) bytes a nanosecond that each block of the sweep loaded, by warps and loads at once.

    None when no GPU noted when its blocks started and ended.
    """
    placement = getattr(run.measurement, "placement", None)
    if placement is None or len(placement.block) != len(WARPS) * len(LOADS):
        return None
    lasted = np.empty(len(placement.block))
    lasted[placement.block] = np.maximum(placement.end_ns - placement.start_ns, 1)
    moved = np.repeat(WARPS, len(LOADS)) * 32 * _FLOAT * ELEMENTS
    return np.asarray((moved / lasted).reshape(len(WARPS), len(LOADS)))


def needed(
    stage: Stage, area: Rect, one: Latency, variants: tuple[Variant, ...], share: float
) -> tuple[Mark, ...]:
    """The line above which latency is hidden; the kernels as compiled, and the one chosen."""
    palette = stage.palette
    ways = np.array([1.0, 16.0])
    most = one.wait / (ways * one.cycles)
    top = 2.0 ** np.ceil(np.log2(max(most.max(), 64.0)) + 0.01)
    x = logarithmic(
        (tr("independent instructions before a warp waits"), tr("independent instructions")),
        1.0,
        16.0,
        2.0,
    )
    y = logarithmic((tr("warps on a multiprocessor"), tr("warps")), 1.0, float(top), 4.0)
    plot = lay_out(stage, area, x, y)
    shown = np.array([1.0, 2.0 ** (4.0 * min(share * 1.5, 1.0))])
    marks: list[Mark] = [*axes(stage, plot)]
    marks.append(
        line(plot, shown, one.wait / (shown * one.cycles), palette.accent, 3 * stage.scale)
    )
    if share * 1.5 >= 1 and not stage.asks:
        marks += _regions(stage, plot, one)
        marks += _kernels(stage, plot, one, variants)
    return tuple(marks)


def _regions(stage: Stage, plot: Plot, one: Latency) -> list[Mark]:
    """What is above the line, and below it."""
    size, palette = stage.text(14), stage.palette
    above, below = tr("above: latency hidden"), tr("below: lanes idle")
    right, top = plot.area.right - size * 0.4, plot.area.y + size * 0.9
    low = plot.area.bottom - size * 0.9
    # Below the line there is room at the left end, above it at the right one.
    return [
        label(right, top, above, palette.good, size, True, "right"),
        label(plot.area.x + size * 0.4, low, below, palette.warn, size, True),
    ]


def _kernels(stage: Stage, plot: Plot, one: Latency, variants: tuple[Variant, ...]) -> list[Mark]:
    """Rings: the kernels as compiled; a disc: the warps and instructions chosen."""
    palette = stage.palette
    loads = [v.loads for v in variants if v.latency.warps]
    warps = [v.latency.warps for v in variants if v.latency.warps]
    chosen = (one.independent, one.warps)
    marks: list[Mark] = []
    if loads:
        marks.append(
            points(
                plot,
                loads,
                warps,
                palette.compute,
                6 * stage.scale,
                hollow=True,
                tip=lambda i: _tip(variants[i]),
            )
        )
    if one.warps:
        color = palette.good if one.busy >= 1 else palette.warn
        marks.append(points(plot, *chosen, color, 5 * stage.scale))
        text = tr("{warps} warps, {needed} needed", warps=one.warps, needed=one.needed)
        marks.append(_beside(stage, plot, chosen, text))
    return marks


def _beside(stage: Stage, plot: Plot, at: tuple[int, int], text: str) -> Mark:
    """A note a little above the height of its point, clear of the rings at the same height."""
    size = stage.text(14)
    ((x, y),) = plot.at(*at).tolist()
    wide = text_width(text, size, True)
    left = min(max(x - wide / 2, plot.area.x + 4), plot.area.right - wide)
    return label(left, y - size * 1.15, text, stage.palette.ink, size, True)


def _tip(one: Variant) -> str:
    """A compiled kernel in words."""
    return tr(
        "{loads} loads at once: {registers} registers, {warps} warps",
        loads=one.loads,
        registers=one.registers,
        warps=one.latency.warps,
    )


def compiled(
    stage: Stage, area: Rect, variants: tuple[Variant, ...], rates: F64 | None, badge: str
) -> table.Table:
    """The table of the kernels as compiled, laid out."""
    cells = tuple("–" for _ in variants)
    if rates is not None:
        cells = tuple(tr("{n} B/ns", n=f"{rate:.1f}") for rate in rates[-1])
    return table.lay_out(
        stage,
        area,
        [
            table.Column((tr("loads at once"), tr("loads")), tuple(str(v.loads) for v in variants)),
            table.Column(
                (tr("registers"),),
                tuple(str(v.registers) for v in variants),
                badge=tr("model"),
                bold=True,
            ),
            table.Column((tr("blocks"),), tuple(str(v.blocks) for v in variants), optional=2),
            table.Column(
                (tr("warps resident"), tr("warps")),
                tuple(str(v.latency.warps) for v in variants),
                badge=tr("model"),
                bold=True,
            ),
            table.Column(
                (tr("warps needed"), tr("needed")), tuple(str(v.latency.needed) for v in variants)
            ),
            table.Column(
                (tr("lanes busy"), tr("busy")), tuple(percent(v.latency.busy) for v in variants)
            ),
            table.Column(
                (tr("of the time"), ""),
                ("",) * len(variants),
                "left",
                least=stage.text(14) * 4,
                optional=4,
            ),
            table.Column(
                (tr("bytes under way"), tr("bytes")),
                tuple(f"{v.under_way:,}".replace(",", "\u2009") for v in variants),
                badge=tr("model"),
                optional=1,
            ),
            table.Column(
                (tr("32 warps load"), tr("32 warps")),
                cells,
                badge=badge,
                color=stage.palette.muted if rates is None else stage.palette.good,
                optional=3,
            ),
        ],
    )


_BARS = 6  # the column of bars


def bars(stage: Stage, laid: table.Table, variants: tuple[Variant, ...]) -> tuple[Mark, ...]:
    """How much of the time lanes are busy, the rest hatched."""
    palette, marks = stage.palette, list[Mark]()
    for row, one in enumerate(variants):
        cell = laid.cell(row, _BARS)
        if cell is not None:
            cell = cell.inset(0, cell.height * 0.22)
            busy, idle = cell.beside(cell.width * one.latency.busy)
            marks.append(Boxes(busy.array(), palette.accent))
            marks.append(Boxes(idle.array(), palette.waste_ground, hatch=palette.waste))
    return tuple(marks)


def measured(stage: Stage, area: Rect, rates: F64, share: float) -> tuple[Mark, ...]:
    """Bytes a nanosecond over warps, a line for each number of loads at once."""
    palette, size = stage.palette, stage.text(14)
    x = logarithmic((tr("warps on the multiprocessor"), tr("warps")), 1.0, 32.0, 2.0)
    low, high = 2.0 ** np.floor(np.log2(rates.min())), 2.0 ** np.ceil(np.log2(rates.max()))
    y: Axis = logarithmic(
        (tr("bytes a nanosecond, one multiprocessor"), tr("B/ns")), float(low), float(high), 2.0
    )
    names = [tr("{n} at once", n=n) for n in LOADS]
    right = max(text_width(n, size, True) for n in names) + size
    plot = lay_out(stage, area, x, y, right)
    marks: list[Mark] = [*axes(stage, plot)]
    known = max(2, round(1 + share * (len(WARPS) - 1)))
    colors = (palette.warn, palette.good, palette.shared, palette.accent)
    for column, color in enumerate(colors):
        marks.append(line(plot, WARPS[:known], rates[:known, column], color, 2.5 * stage.scale))
        marks.append(points(plot, WARPS[:known], rates[:known, column], color, 4 * stage.scale))
    ends = plot.at(32.0, rates[-1])[:, 1].tolist()
    for name, height, color in zip(
        names, spread(ends, size * 1.25, plot.area.y, plot.area.bottom), colors, strict=True
    ):
        marks.append(label(plot.area.right + size * 0.6, height, name, color, size, True))
    return tuple(marks)
