"""Counts over whole numbers: a line for each series, named at its end, drawn as far as known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.arrays import I64, Rgba
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Lines, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage


@dataclass(frozen=True, eq=False)
class Series:
    """One line: `name`, (N,) `value` at each place, `color`, `width` in pixels at scale 1.

    Series that coincide are told apart by their widths: give the first one the widest.
    """

    name: str
    value: I64
    color: Rgba
    width: float
    dash: bool = False


def chart(
    stage: Stage,
    area: Rect,
    places: I64,
    series: tuple[Series, ...],
    known: float,
    picked: int,
    titles: tuple[str, str],
) -> tuple[Mark, ...]:
    """The lines up to the place number `known`; `picked` is marked; `titles` name x and y.

    Only the axes while the stage asks what the lines tell, and no heights on them.
    """
    size = stage.text(14)
    most = max(int(s.value.max()) for s in series)
    names = [f"{s.name} {int(s.value[-1])}" for s in series]
    right = max(text_width(n, size, True) for n in names) + size
    left = text_width(str(most), size) + size * 0.6
    plot = Rect(
        area.x + left, area.y + size * 1.8, area.width - left - right, area.height - size * 4.7
    )
    x = plot.x + (places - places[0]) / max(places[-1] - places[0], 1) * plot.width

    def height(value: I64) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.asarray(plot.bottom - value / most * plot.height, dtype=np.float64)

    marks: list[Mark] = [*_axes(stage, plot, places, x, most, titles)]
    if stage.asks:
        return tuple(marks)
    at = np.flatnonzero(places == picked)
    if len(at) and at[0] < known:
        column = Rect(float(x[at[0]]) - 3, plot.y, 6, plot.height)
        marks.append(Boxes(column.array(), stage.palette.accent_soft, radius=3))
    shown = min(int(known) + 1, len(places))
    for one in series:
        points = np.stack([x, height(one.value)], axis=1)[:shown]
        pairs = np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)
        marks.append(Lines(pairs, one.color, one.width * stage.scale, dash=one.dash))
    if known >= len(places) - 1:
        marks += _names(stage, plot, names, series, [float(height(s.value)[-1]) for s in series])
    return tuple(marks)


def _axes(
    stage: Stage,
    plot: Rect,
    places: I64,
    x: np.ndarray[tuple[int], np.dtype[np.float64]],
    most: int,
    titles: tuple[str, str],
) -> tuple[Mark, ...]:
    """A rule below, light lines at four heights, numbers, and what both axes are."""
    palette, size = stage.palette, stage.text(14)
    levels = np.unique(np.rint(np.linspace(0, most, 5)).astype(int))
    y = plot.bottom - levels / most * plot.height
    rules = np.stack([np.full_like(y, plot.x), y, np.full_like(y, plot.right), y], axis=1)
    every = max(1, int(np.ceil(len(places) * size * 2.2 / plot.width)))
    some = np.flatnonzero((places % every == 0) | (places == places[0]))
    some = some[(some == 0) | (places[some] - places[0] >= every * 0.75)]
    below = np.stack([x[some], np.full(len(some), plot.bottom + size * 0.9)], axis=1)
    beside = np.stack([np.full_like(y, plot.x - size * 0.5), y], axis=1)
    heights = ("",) * len(levels) if stage.asks else tuple(map(str, levels))
    return (
        Lines(rules.reshape(-1, 2, 2).astype(np.float32), palette.border, 1.0),
        Texts(beside.astype(np.float32), heights, palette.muted, size, "right"),
        Texts(
            below.astype(np.float32), tuple(map(str, places[some])), palette.muted, size, "center"
        ),
        label(plot.x, plot.bottom + size * 2.2, titles[0], palette.muted, size),
        label(plot.x, plot.y - size * 1.1, titles[1], palette.muted, size),
    )


def _names(
    stage: Stage, plot: Rect, names: list[str], series: tuple[Series, ...], heights: list[float]
) -> list[Mark]:
    """Each line's name at its end, moved apart where lines end close together."""
    size = stage.text(14)
    order = sorted(range(len(names)), key=lambda i: heights[i])
    y = [heights[i] for i in order]
    for k in range(1, len(y)):
        y[k] = max(y[k], y[k - 1] + size * 1.25)
    low = plot.bottom - size * 0.2
    for k in range(len(y) - 1, -1, -1):
        y[k] = min(y[k], low - (len(y) - 1 - k) * size * 1.25)
    return [
        label(plot.right + size * 0.6, y[k], names[i], series[i].color, size, bold=True)
        for k, i in enumerate(order)
    ]
