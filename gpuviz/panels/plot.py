"""A plot of values: axes, and over them curves, steps, points and words, as data."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from gpuviz.base.arrays import F64
from gpuviz.draw import plot
from gpuviz.draw.axis import Axis
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, first_fitting
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Ink, Need, Panel, color

_LEAST, _WIDE = 9.0, 15.5  # letters high and wide
_LOW = 11.0  # letters high: lower plots have numbers at the ends of the y axis only


@dataclass(frozen=True, eq=False)
class Curve:
    """A line through points, `grown` (0 to 1) of it drawn.

    Its `name` stands at its end, and behind that `value`, once all of it is drawn.
    """

    x: Sequence[float] | F64
    y: Sequence[float] | F64
    ink: Ink = "accent"
    width: float = 2.5
    dash: bool = False
    name: str = ""
    grown: float = 1.0
    answers: bool = False
    value: str = ""

    @property
    def said(self) -> str:
        """All that stands at its end."""
        return f"{self.name} {self.value}".rstrip()


@dataclass(frozen=True, eq=False)
class Stairs:
    """`heights[i]` from `edges[i]` to `edges[i + 1]`, filled below; `tip` of step i."""

    edges: Sequence[float] | F64
    heights: Sequence[float] | F64
    ink: Ink = "accent"
    width: float = 2.0
    tip: Callable[[int], str] | None = None
    answers: bool = False


@dataclass(frozen=True, eq=False)
class Points:
    """Discs, or rings, `grown` (0 to 1) of them; `edged` ones stand out from what lies behind."""

    x: Sequence[float] | F64
    y: Sequence[float] | F64
    ink: Ink = "accent"
    radius: float = 5.0
    grown: float = 1.0
    hollow: bool = False
    edged: bool = False
    tip: Callable[[int], str] | None = None
    answers: bool = False


@dataclass(frozen=True)
class Upright:
    """A line from the bottom of the plot to its top."""

    x: float
    ink: Ink = "muted"
    width: float = 2.0
    dash: bool = True
    answers: bool = False


@dataclass(frozen=True)
class Note:
    """Words above a point, within the plot; beside it or below where words in a corner stand."""

    x: float
    y: float
    text: str
    ink: Ink = "ink"
    answers: bool = False


@dataclass(frozen=True)
class PointLabel:
    """A name beside a point; those above each other are moved apart. One that stands `lower` keeps
    clear of a line that rises through its point.
    """

    x: float
    y: float
    text: str
    ink: Ink = "ink"
    bold: bool = False
    answers: bool = False
    lower: bool = False


@dataclass(frozen=True)
class Corner:
    """Words in a corner of the plot."""

    where: Literal["top right", "bottom left"]
    text: str
    ink: Ink = "muted"
    answers: bool = False


Element = Curve | Stairs | Points | Upright | Note | PointLabel | Corner


@dataclass(frozen=True, eq=False)
class Plot(Panel):
    """Elements over two axes; those that answer what a class is asked wait for the answer.

    One of the `captions`, wordings with the longest first, stands above, in the colour of `ink`;
    `right` letters stay free beside the plot.
    """

    share: ClassVar[float] = 1.0
    x: Axis
    y: Axis
    elements: tuple[Element, ...]
    captions: tuple[str, ...] = ()
    ink: Ink = "muted"
    captioned: bool = False  # whether the room of a caption is kept
    right: float = 0.0
    answering: bool = False  # whether the numbers of the y axis answer what a class is asked
    wide: float = _WIDE  # letters that it takes at least

    def need(self, stage: Stage, width: float) -> Need:
        """Enough for axes and a few numbers."""
        size = stage.text(14)
        return Need(_LEAST * size, _LEAST * size, self.wide * size)

    def scales(self) -> dict[str, Axis]:
        """Both axes, by what is drawn over what."""
        name = f"{self.y.titles[:1]} over {self.x.titles[:1]}"
        return {f"x of {name}": self.x, f"y of {name}": self.y}

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Axes first, then the elements in their order, names of curves last."""
        size = stage.text(14)
        if self.captions or self.captioned:
            top, area = area.above(size * 1.5)
            ink, said = color(stage, self.ink), first_fitting(self.captions, top.width, size, True)
            yield label(top.x, top.y + size * 0.6, said, ink, size, bold=True)
        shown = [one for one in self.elements if not (one.answers and stage.asks)]
        curves = [one for one in self.elements if isinstance(one, Curve) and one.name]
        right = max((text_width(c.said, size, True) for c in curves), default=-size) + size
        right = max(right, self.right * size)
        low = area.height < _LOW * size and len(self.y.ticks) > 2
        x, y = (stage.axis(name, one) for name, one in self.scales().items())
        laid = plot.lay_out(stage, area, x, _ends(y) if low else y, right)
        if laid.area.height < size:
            return  # axes would meet, or change places
        hushed = replace(laid.y, labels=("",) * len(laid.y.labels))
        kept_back = self.answering and stage.asks
        yield from plot.axes(stage, replace(laid, y=hushed) if kept_back else laid)
        corners = [_corner(stage, laid, one) for one in shown if isinstance(one, Corner)]
        for one in shown:
            yield from _drawn(stage, laid, one, corners)
        yield from _names(stage, laid, [c for c in curves if c in shown])
        yield from _beside(stage, laid, [one for one in shown if isinstance(one, PointLabel)])


def _drawn(stage: Stage, laid: plot.Plot, one: Element, corners: Sequence[Rect]) -> Iterator[Mark]:
    """One element's marks."""
    ink, size = color(stage, one.ink), stage.text(14)
    match one:
        case Curve():
            xs, ys = _first(one.x, one.grown), _first(one.y, one.grown)
            yield plot.line(laid, xs, ys, ink, one.width * stage.scale, one.dash)
        case Stairs():
            yield plot.columns(laid, one.edges, one.heights, stage.palette.accent_soft, one.tip)
            yield plot.stairs(laid, one.edges, one.heights, ink, one.width * stage.scale)
        case Points():
            radius = one.radius * stage.scale
            xs, ys = _first(one.x, one.grown), _first(one.y, one.grown)
            made = plot.points(laid, xs, ys, ink, radius, hollow=one.hollow, tip=one.tip)
            yield made
            if one.edged:
                edge = stage.palette.outline
                yield Boxes(made.rect, stroke=edge, stroke_width=2.0, radius=made.radius)
        case Upright():
            yield plot.upright(laid, one.x, ink, one.width * stage.scale, one.dash)
        case Note():
            at = _beside_point(laid, one, text_width(one.text, size, True), size, corners)
            yield label(at.x, at.center[1], one.text, ink, size, True)
        case PointLabel():
            pass  # all of them together, in `_beside`
        case Corner():
            at = _corner(stage, laid, one)
            yield label(at.x, at.center[1], one.text, ink, size, True)


def _beside_point(
    laid: plot.Plot, one: Note, wide: float, size: float, corners: Sequence[Rect]
) -> Rect:
    """Where a note stands: the first place around its point without words in a corner."""
    ((x, y),) = laid.at(one.x, one.y).tolist()
    least, most = laid.area.x + 4, laid.area.right - wide
    middle, right = min(max(x - wide / 2, least), most), x + size * 0.8
    places = [Rect(middle, y - size * 1.65, wide, size), Rect(right, y - size / 2, wide, size)]
    below = Rect(middle, y + size * 0.65, wide, size)
    free = (p for p in places if p.x <= most and not any(p.meets(c) for c in corners))
    return next(free, below)


def _corner(stage: Stage, laid: plot.Plot, one: Corner) -> Rect:
    """Where the words in a corner stand."""
    size, area = stage.text(14), laid.area
    wide = text_width(one.text, size, True)
    if one.where == "top right":
        return Rect(area.right - size * 0.4 - wide, area.y + size * 0.4, wide, size)
    return Rect(area.x + size * 0.4, area.bottom - size * 1.4, wide, size)


def _names(stage: Stage, laid: plot.Plot, curves: list[Curve]) -> Iterator[Mark]:
    """Names at the ends of curves, moved apart where they end close together."""
    size, area = stage.text(14), laid.area
    ends = [float(laid.at(c.x, c.y)[-1, 1]) for c in curves]
    for curve, y in zip(curves, plot.spread(ends, size * 1.25, area.y, area.bottom), strict=True):
        ink = color(stage, curve.ink)
        said = curve.said if curve.grown >= 1 else curve.name
        yield label(area.right + size * 0.6, y, said, ink, size, True)


def _ends(axis: Axis) -> Axis:
    """The axis with its first and last numbers only."""
    ticks, labels = axis.ticks, axis.labels
    return replace(axis, ticks=(ticks[0], ticks[-1]), labels=(labels[0], labels[-1]))


def _beside(stage: Stage, laid: plot.Plot, names: list[PointLabel]) -> Iterator[Mark]:
    """Names beside points, to their right where there is room; those at one x moved apart."""
    size, low = stage.text(14), laid.area.bottom - 8 * stage.scale
    edge = stage.width - stage.margin * 0.3
    for x in dict.fromkeys(one.x for one in names):
        column = [one for one in names if one.x == x]
        at = laid.at(x, [one.y for one in column])
        drop = np.array([size * 0.5 * one.lower for one in column])
        heights = plot.spread((at[:, 1] + drop).tolist(), size * 1.2, laid.area.y, low)
        for one, height in zip(column, heights, strict=True):
            left, wide = float(at[0, 0]) + size * 0.8, text_width(one.text, size, one.bold)
            if left + wide > edge:  # no room to its right
                left = float(at[0, 0]) - size * 0.8 - wide
            yield label(left, height, one.text, color(stage, one.ink), size, one.bold)


def _first(values: Sequence[float] | F64, share: float) -> F64:
    """The part of a curve that is drawn so far, at least two points."""
    count = max(2, round(1 + share * (len(values) - 1)))
    return np.asarray(values[:count], dtype=np.float64)
