"""Marks: a picture as data. A `Frame` is a size and a tuple of marks, painted in order.

Units are logical pixels, origin top left, y down. A mark holds arrays (10^5 cells are one mark),
never one object a cell. Colours are RGBA, uint8, (N, 4); a single colour is (4,) and is shared.
Marks know nothing of Qt; `qt/painting/painter.py` and `export/` turn them into pictures.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gpuviz.base.arrays import F32, F64, I64, Rgba

Align = Literal["left", "center", "right"]
Tip = Callable[[int], str]


@dataclass(frozen=True, eq=False)
class Boxes:
    """Rectangles: `rect` (N, 4) as x, y, width, height.

    `fill` (N, 4) or (4,); `stroke` likewise or None, `stroke_width` in pixels, drawn inside;
    `radius` rounds the corners; `hatch` (4,) draws diagonal lines of that colour over the fill
    (waste is hatched, never just another colour). `tip(i)` is what hovering box i says, "" nothing.
    Boxes of one mark do not overlap: they may be painted in any order. Boxes of the same number
    in all marks of a `link` are the same thing: pointing at one lights all. `lanes` (N,) are the
    lanes of a warp that they belong to, -1 for none (see `gpuviz.draw.hit`).
    """

    rect: F32
    fill: Rgba | None = None
    stroke: Rgba | None = None
    stroke_width: float = 1.0
    radius: float = 0.0
    hatch: Rgba | None = None
    tip: Tip | None = None
    link: str = ""
    lanes: I64 | None = None


@dataclass(frozen=True, eq=False)
class Curves:
    """Cubic Bezier curves: `points` (N, 4, 2), `color` (N, 4) or (4,), `width` in pixels."""

    points: F32
    color: Rgba
    width: float = 2.0
    tip: Tip | None = None
    lanes: I64 | None = None


@dataclass(frozen=True, eq=False)
class Lines:
    """Straight segments: `points` (N, 2, 2); `arrow` puts a head at the second point."""

    points: F32
    color: Rgba
    width: float = 1.0
    arrow: bool = False
    dash: bool = False


@dataclass(frozen=True, eq=False)
class Strokes:
    """Lines drawn by hand: each of `paths` is (N, 2) points, joined, with round ends."""

    paths: tuple[F64, ...]
    color: Rgba
    width: float


@dataclass(frozen=True, eq=False)
class Texts:
    """Labels: `at` (N, 2) anchor points, `strings` of length N, all of one size and face.

    `align` is horizontal; the anchor's y is the middle of the capital letters. Digits are tabular.
    """

    at: F32
    strings: tuple[str, ...]
    color: Rgba
    size: float
    align: Align = "left"
    bold: bool = False
    mono: bool = False
    tip: Tip | None = None
    lanes: I64 | None = None


@dataclass(frozen=True, eq=False)
class Raster:
    """An image of cells, (H, W, 4) RGBA, stretched over `rect` (x, y, width, height), unsmoothed.

    `tip(row, column)` is what hovering a cell says; cells are linked as boxes are, row by row. A
    `photo` is no image of cells: it is smoothed.
    """

    rect: tuple[float, float, float, float]
    pixels: Rgba
    tip: Callable[[int, int], str] | None = None
    link: str = ""
    photo: bool = False


@dataclass(frozen=True, eq=False)
class Outlines:
    """Filled shapes of one colour, such as the signs of a formula: `points` (N, 4, 2) are cubic
    Bezier curves, of which `begins` (M,) are the first ones of contours that close. What winds
    around twice the other way is a hole. `said` is read to those who cannot see it.
    """

    points: F32
    begins: I64
    color: Rgba
    said: str = ""


Mark = Boxes | Curves | Lines | Strokes | Texts | Raster | Outlines


@dataclass(frozen=True, eq=False)
class Frame:
    """One picture: `width` x `height` logical pixels, the `ground`, and marks in painting order."""

    width: float
    height: float
    ground: Rgba
    marks: tuple[Mark, ...]


def at(x: float, y: float) -> F32:
    """One anchor point, (1, 2)."""
    return np.array([[x, y]], np.float32)


def label(
    x: float,
    y: float,
    text: str,
    color: Rgba,
    size: float,
    bold: bool = False,
    align: Align = "left",
) -> Texts:
    """One line of text."""
    return Texts(at(x, y), (text,), color, size, align, bold)
