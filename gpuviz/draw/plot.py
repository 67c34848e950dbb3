"""A plot: two axes, linear or logarithmic, with curves, stairs, columns and points over them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import F32, Rgba
from gpuviz.draw.axis import Axis, Values
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, first_fitting
from gpuviz.draw.marks import Boxes, Lines, Mark, Texts, Tip
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage


@dataclass(frozen=True, eq=False)
class Plot:
    """Axes laid out: `area` is what lies between them."""

    area: Rect
    x: Axis
    y: Axis

    def at(self, x: Values, y: Values) -> F32:
        """(N, 2) points on the stage."""
        a = self.area
        across, up = np.broadcast_arrays(self.x.share(x), self.y.share(y))
        points = np.stack([a.x + across * a.width, a.bottom - up * a.height], axis=-1)
        return np.asarray(points.reshape(-1, 2), dtype=np.float32)


def lay_out(stage: Stage, area: Rect, x: Axis, y: Axis, right: float = 0.0) -> Plot:
    """Room for labels and titles around the plot; `right` is kept free beside it.

    A y axis titled "" keeps the room of a title, so that plots side by side are equally high.
    """
    size = stage.text(14)
    left = max((text_width(t, size) for t in y.labels), default=0.0) + size * 0.6
    last = text_width(x.labels[-1], size) / 2 if x.labels else 0.0
    width = area.width - left - max(right, last)
    above = size * 1.7 if y.titles else size * 0.7
    below = size * (1.6 + 1.35 * any(x.titles))
    return Plot(Rect(area.x + left, area.y + above, width, area.height - above - below), x, y)


def axes(stage: Stage, plot: Plot) -> tuple[Mark, ...]:
    """Light lines at the y ticks, numbers beside and below, and what both axes are."""
    palette, size, area = stage.palette, stage.text(14), plot.area
    y = plot.at(plot.x.low, plot.y.ticks)[:, 1]
    rules = np.stack([np.full_like(y, area.x), y, np.full_like(y, area.right), y], axis=1)
    beside = np.stack([np.full_like(y, area.x - size * 0.5), y], axis=1)
    kept = _apart(stage, plot)
    below = plot.at([plot.x.ticks[i] for i in kept], plot.y.low)
    below[:, 1] = area.bottom + size * 0.95
    names = ((plot.x.titles, area.bottom + size * 2.3), (plot.y.titles, area.y - size))
    said = ((first_fitting(titles, area.width, size), middle) for titles, middle in names)
    titles = tuple(
        label(area.x, middle, text, palette.muted, size) for text, middle in said if text
    )
    numbers = (Texts(beside.astype(np.float32), plot.y.labels, palette.muted, size, "right"),)
    return (
        Lines(rules.reshape(-1, 2, 2).astype(np.float32), palette.border, 1.0),
        Lines(_segments(plot.at([plot.x.low, plot.x.high], plot.y.low)), palette.faint, 1.0),
        *(numbers if any(plot.y.labels) else ()),
        Texts(below, tuple(plot.x.labels[i] for i in kept), palette.muted, size, "center"),
        *titles,
    )


def _apart(stage: Stage, plot: Plot) -> list[int]:
    """The x ticks whose numbers do not touch: every one, every second, every third, ..."""
    size, x = stage.text(14), plot.at(plot.x.ticks, plot.y.low)[:, 0]
    wide = [text_width(text, size) / 2 for text in plot.x.labels]
    for every in range(1, len(x) + 1):
        kept = list(range(0, len(x), every))
        if all(
            x[b] - wide[b] - x[a] - wide[a] >= size * 0.5
            for a, b in zip(kept, kept[1:], strict=False)
        ):
            return kept
    return [0]


def _segments(points: F32) -> F32:
    """(N, 2) points to the (N - 1, 2, 2) lines between them."""
    return np.stack([points[:-1], points[1:]], axis=1)


def line(
    plot: Plot, x: Values, y: Values, color: Rgba, width: float = 2.0, dash: bool = False
) -> Lines:
    """A curve through points."""
    return Lines(_segments(plot.at(x, y)), color, width, dash=dash)


def stairs(plot: Plot, edges: Values, heights: Values, color: Rgba, width: float = 2.0) -> Lines:
    """A curve that keeps `heights[i]` from `edges[i]` to `edges[i + 1]`."""
    x, y = np.repeat(np.asarray(edges), 2)[1:-1], np.repeat(np.asarray(heights), 2)
    return line(plot, x, y, color, width)


def columns(
    plot: Plot, edges: Values, heights: Values, fill: Rgba, tip: Tip | None = None
) -> Boxes:
    """What lies below stairs: `fill` is one colour, or (N, 4)."""
    x, y = np.asarray(edges), np.asarray(heights)
    top, foot = plot.at(x[:-1], y), plot.at(x[1:], plot.y.low)
    return Boxes(np.concatenate([top, foot - top], axis=1), fill, tip=tip)


def upright(plot: Plot, x: float, color: Rgba, width: float = 1.0, dash: bool = False) -> Lines:
    """A line from the bottom of the plot to its top."""
    return line(plot, [x, x], [plot.y.low, plot.y.high], color, width, dash)


def points(
    plot: Plot,
    x: Values,
    y: Values,
    color: Rgba,
    radius: float,
    *,
    hollow: bool = False,
    tip: Tip | None = None,
) -> Boxes:
    """Discs, or rings."""
    middle = plot.at(x, y)
    size = np.full_like(middle, 2 * radius)
    rect = np.concatenate([middle - radius, size], axis=1)
    if hollow:
        return Boxes(rect, stroke=color, stroke_width=2.0, radius=radius, tip=tip)
    return Boxes(rect, color, radius=radius, tip=tip)


def note(
    stage: Stage, plot: Plot, x: float, y: float, text: str, color: Rgba, bold: bool = False
) -> Texts:
    """A text beside a point: to its right where there is room, else to its left."""
    size = stage.text(14)
    ((left, middle),) = plot.at(x, y).tolist()
    gap = size * 0.6
    fits = left + gap + text_width(text, size, bold) <= plot.area.right
    return label(
        left + (gap if fits else -gap), middle, text, color, size, bold, "left" if fits else "right"
    )


def spread(heights: Sequence[float], step: float, low: float, high: float) -> list[float]:
    """Heights moved apart so that labels at them are at least a step from each other."""
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    moved = [min(max(h, low), high) for h in heights]
    for a, b in zip(order, order[1:], strict=False):
        moved[b] = max(moved[b], moved[a] + step)
    last = high
    for i in reversed(order):
        moved[i] = min(moved[i], last)
        last = moved[i] - step
    return moved
