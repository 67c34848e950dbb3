"""What a speaker draws over a picture: strokes in the coordinates of the stage they were drawn on.

A slide with ink is laid out on that stage again, whatever the screen, and made as large as fits:
so ink stays where it was put.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta

from gpuviz.base import records
from gpuviz.base.arrays import F64
from gpuviz.base.errors import FormatError, InputError
from gpuviz.draw.marks import Mark, Strokes
from gpuviz.draw.palette import Palette, rgba
from gpuviz.draw.stage import Stage

Nib = Literal["pen", "marker"]
Point = tuple[float, float]
NIBS: tuple[Nib, ...] = ("pen", "marker")
_WIDTHS: Mapping[Nib, float] = {"pen": 0.0048, "marker": 0.032}  # of the stage's height
_LIGHT = {"pen": rgba("#c8005a"), "marker": rgba("#ffd60078")}  # on a light ground
_DARK = {"pen": rgba("#ff70b4"), "marker": rgba("#ffe6005a")}
_EXACT = 0.3  # pixels that a stroke may stray when points are left out
_FAR = 1e5  # pixels: no point lies farther


@dataclass(frozen=True)
class Stroke:
    """A line drawn in one go."""

    nib: Nib
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Ink:
    """Strokes on a stage of this size, whose letters were so much enlarged."""

    width: float
    height: float
    letters: float
    strokes: tuple[Stroke, ...] = ()

    @classmethod
    def on(cls, stage: Stage) -> Ink:
        """None yet."""
        return cls(stage.width, stage.height, stage.scale)

    def with_stroke(self, stroke: Stroke) -> Ink:
        """One more."""
        return replace(self, strokes=(*self.strokes, stroke))

    @property
    def less(self) -> Ink:
        """Without the last one."""
        return replace(self, strokes=self.strokes[:-1])

    def stage(self, palette: Palette) -> Stage:
        """The stage it was drawn on, in other colours maybe."""
        return Stage(self.width, self.height, palette, self.letters)

    def marks(self, palette: Palette) -> tuple[Mark, ...]:
        """What it looks like; the highlighter lies below the pen."""
        colors = _DARK if palette.dark else _LIGHT
        return tuple(
            Strokes(
                tuple(_path(one) for one in self.strokes if one.nib == nib),
                colors[nib],
                self.height * _WIDTHS[nib],
            )
            for nib in reversed(NIBS)
        )


def _path(stroke: Stroke) -> F64:
    points = np.asarray(stroke.points, np.float64)
    return points if len(points) > 1 else np.concatenate([points, points + (0.01, 0)])


def simplified(points: Iterable[Point]) -> tuple[Point, ...]:
    """As few of the points as the line needs (Ramer, Douglas and Peucker), to a tenth of a pixel.

    >>> simplified([(0, 0), (1, 0.1), (2, 0), (2, 5)])
    ((0.0, 0.0), (2.0, 0.0), (2.0, 5.0))
    """
    every = np.asarray(list(points), np.float64).reshape(-1, 2)
    kept = np.zeros(len(every), bool)
    kept[[0, -1]] = True
    open_ = [(0, len(every) - 1)]
    while open_:
        first, last = open_.pop()
        if last - first < 2:
            continue
        away = _away(every[first + 1 : last], every[first], every[last])
        at = int(away.argmax())
        if away[at] > _EXACT:
            middle = first + 1 + at
            kept[middle] = True
            open_ += [(first, middle), (middle, last)]
    return tuple((round(x, 1), round(y, 1)) for x, y in every[kept].tolist())


def _away(points: F64, a: F64, b: F64) -> F64:
    """(N,) distances of (N, 2) points from the line between two others."""
    way = b - a
    length = math.hypot(*way.tolist())
    if length < 1e-9:
        return np.asarray(np.linalg.norm(points - a, axis=1))
    off = points - a
    return np.asarray(np.abs(way[0] * off[:, 1] - way[1] * off[:, 0]) / length)


@dataclass(frozen=True)
class _Plain:
    """Ink as a lecture's file holds it: each stroke is `pen x,y x,y …`."""

    width: Annotated[float, Meta(ge=100, le=16384)]
    height: Annotated[float, Meta(ge=100, le=16384)]
    letters: Annotated[float, Meta(ge=0.1, le=10)]
    strokes: Annotated[tuple[str, ...], Meta(max_length=1000)] = ()


def ink_of(plain: Mapping[str, Any]) -> Ink:
    """The ink of plain values; InputError when they are none."""
    try:
        found = records.record(plain, _Plain, "ink")
    except FormatError as error:
        raise InputError(str(error)) from None
    return Ink(found.width, found.height, found.letters, tuple(map(_stroke, found.strokes)))


def plain_ink(ink: Ink) -> dict[str, Any]:
    """The values that `ink_of` makes this of."""
    strokes = [" ".join([one.nib, *(f"{x:g},{y:g}" for x, y in one.points)]) for one in ink.strokes]
    return {
        "width": ink.width,
        "height": ink.height,
        "letters": round(ink.letters, 4),
        "strokes": strokes,
    }


def _stroke(text: str) -> Stroke:
    nib, *points = text.split()[:100_000] or [""]
    wrong = f"ink: a stroke is {NIBS[0]!r} or {NIBS[1]!r} and points x,y, not {text[:40]!r}"
    if not points:
        raise InputError(wrong)
    try:
        pairs = [tuple(map(float, point.split(","))) for point in points]
    except ValueError:
        raise InputError(wrong) from None
    if any(len(pair) != 2 or not all(abs(v) <= _FAR for v in pair) for pair in pairs):
        raise InputError(wrong)
    for one in NIBS:
        if one == nib:
            return Stroke(one, tuple((pair[0], pair[1]) for pair in pairs))
    raise InputError(wrong)
