"""What every panel is: a record that wants room, draws itself, and answers clicks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from gpuviz.arrays import Rgba
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Mark
from gpuviz.draw.stage import Stage

Value = int | str | bool  # of a parameter
Values = Mapping[str, Value]
# Colours by what they mean; the theme decides what they look like (`gpuviz.draw.palette`).
Ink = Literal[
    "ink",
    "outline",
    "muted",
    "faint",
    "accent",
    "good",
    "warn",
    "bad",
    "load",
    "store",
    "barrier",
    "compute",
    "shared",
]


@dataclass(frozen=True)
class Need:
    """Room in logical pixels: the `height` wished for, the `least` height and width."""

    height: float = 0.0
    least: float = 0.0
    width: float = 0.0


@dataclass(frozen=True, eq=False)
class Panel:
    """A part of a picture; panels are subclasses, frozen dataclasses of values.

    `share` is its part of the room that is left over when all have what they wish for; 0 leaves it
    at its wish. One that `answers` says nothing but what a class may be asked: while a question is
    asked its room stays empty. Others keep back numbers themselves, by `stage.asks`.
    """

    share: ClassVar[float] = 0.0
    answers: ClassVar[bool] = False

    def need(self, stage: Stage, width: float) -> Need:
        """The room it needs on a stage, being so wide."""
        return Need()

    def widest(self, stage: Stage, height: float) -> float:
        """The width beyond which it has no use for more, being so high."""
        return float("inf")

    def draw(self, stage: Stage, area: Rect) -> Iterable[Mark]:
        """Its marks in the area it got."""
        raise NotImplementedError

    def pick(self, stage: Stage, area: Rect, x: float, y: float) -> Values | None:
        """The parameter values that a click at a point sets; None: it sets none."""
        return None


def color(stage: Stage, ink: Ink) -> Rgba:
    """The colour of a meaning in the stage's theme."""
    found: Rgba = getattr(stage.palette, ink)
    return found


def line(stage: Stage) -> float:
    """The height of one line of panel text, with the space around it."""
    return stage.text(14) * 1.75
