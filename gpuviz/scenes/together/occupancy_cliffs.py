"""Occupancy over block size, registers and shared memory, and where it falls."""

from __future__ import annotations

import numpy as np

from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.plot import Axis, Plot, axes, columns, lay_out, linear, points, stairs, upright
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.scenes.together.occupancy_fit import Fit, Sweep, grouped, names, percent

_KIB = 1024
_LOW = 11.0  # letters of height below which five numbers would touch


def cliffs(
    stage: Stage, area: Rect, fit: Fit, sweeps: tuple[Sweep, ...], share: float
) -> tuple[Mark, ...]:
    """The three curves, drawn as far as `share` goes; only their axes while the stage asks."""
    share = 0.0 if stage.asks else share
    gap = stage.text(14) * 1.2
    narrow = area.width < 700 * stage.scale and area.height > 360 * stage.scale
    parts = area.rows(len(sweeps), gap * 0.5) if narrow else area.columns(len(sweeps), gap)
    marks: list[Mark] = []
    for number, (part, sweep) in enumerate(zip(parts, sweeps, strict=True)):
        known = min(max(share * len(sweeps) - number, 0.0), 1.0)
        marks += _one(stage, part, fit, sweep, known, first=number == 0 or narrow)
    return tuple(marks)


def _one(stage: Stage, area: Rect, fit: Fit, sweep: Sweep, known: float, first: bool) -> list[Mark]:
    """One curve with the kernel's place on it, and the next cliff."""
    size = stage.text(14)
    top, rest = area.above(size * 1.5)
    plot = lay_out(stage, rest, _axis(fit, sweep), _height(first, rest.height < size * _LOW))
    marks: list[Mark] = [*axes(stage, plot)]
    shown = np.searchsorted(sweep.edges[:-1], sweep.edges[-1] * known, "left")
    heights = np.array([100 * f.fraction for f in sweep.fits])
    if shown:
        edges = sweep.edges[: shown + 1]
        fill = stage.palette.accent_soft
        marks.append(columns(plot, edges, heights[:shown], fill, lambda i: _tip(sweep, i)))
        marks.append(stairs(plot, edges, heights[:shown], stage.palette.accent, 2 * stage.scale))
    if known < 1:
        return marks
    marks += _places(stage, plot, fit, sweep)
    words = _words(fit, sweep)
    color = stage.palette.warn if sweep.cliff is not None else stage.palette.muted
    return [*marks, label(top.x, top.y + size * 0.6, words, color, size, bold=True)]


def _places(stage: Stage, plot: Plot, fit: Fit, sweep: Sweep) -> list[Mark]:
    """Where the kernel is, and the next cliff above."""
    palette = stage.palette
    marks: list[Mark] = []
    if sweep.cliff is not None:
        marks.append(upright(plot, sweep.cliff, palette.warn, 2.0 * stage.scale, dash=True))
    at = points(plot, sweep.now, 100 * fit.found.fraction, palette.ink, 5.0 * stage.scale)
    ring = Boxes(
        at.rect, palette.accent, stroke=palette.outline, stroke_width=2.0, radius=at.radius
    )
    return [*marks, ring]


def _words(fit: Fit, sweep: Sweep) -> str:
    """Here, and after the next cliff."""
    here = _number(sweep.id, sweep.now)
    if sweep.cliff is None:
        return tr("{here}: {percent}", here=here, percent=fit.percent)
    there = percent(sweep.at(sweep.cliff).fraction)
    return tr(
        "{here}: {percent}, {cliff}: {there}",
        here=here,
        percent=fit.percent,
        cliff=_number(sweep.id, sweep.cliff),
        there=there,
    )


def _number(what: str, value: int) -> str:
    """A value of a demand, bytes in KiB when they are whole ones."""
    if what != "shared":
        return grouped(value)
    return f"{value // _KIB} KiB" if value % _KIB == 0 and value else f"{grouped(value)} B"


def _axis(fit: Fit, sweep: Sweep) -> Axis:
    """The demand."""
    low, high = 0.0, float(sweep.edges[-1] - 1)
    titles = {
        "threads": (tr("threads a block"), tr("threads")),
        "registers": (tr("registers a thread"), tr("registers")),
        "shared": (tr("shared memory a block, KiB"), tr("shared KiB")),
    }[sweep.id]
    if sweep.id == "shared":
        step = float(_KIB * next(n for n in (4, 16, 64) if high / _KIB / n <= 4.5))
        ticks = tuple(step * i for i in range(int(high / step) + 1))
        return Axis(titles, low, high, ticks, tuple(f"{t / _KIB:g}" for t in ticks))
    steps = (16, 32, 64, 128, 256)
    return linear(titles, low, high, next(s for s in steps if high / s <= 4.5))


def _height(named: bool, low: bool) -> Axis:
    """Occupancy in percent; numbers only beside the first of several plots in a row, and only the
    ends where the plot is low.
    """
    ticks = (0.0, 100.0) if low else (0.0, 25.0, 50.0, 75.0, 100.0)
    labels = tuple(f"{t:g}" for t in ticks) if named else ("",) * len(ticks)
    return Axis((tr("occupancy, %"),) if named else ("",), 0.0, 100.0, ticks, labels)


def _tip(sweep: Sweep, index: int) -> str:
    """From where to where, how much fits, and what keeps more out."""
    fits = sweep.fits[index]
    first, last = int(sweep.edges[index]), int(sweep.edges[index + 1]) - 1
    held = ", ".join(names()[key] for key in fits.limiters)
    return tr(
        "{first} to {last}: {blocks} blocks, {percent}; limit: {held}",
        first=_number(sweep.id, first),
        last=_number(sweep.id, last),
        blocks=fits.blocks,
        percent=percent(fits.fraction),
        held=held,
    )
