"""What every panel is: a record that wants room, draws itself, and answers clicks."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from gpuviz.base.arrays import F32, Rgba
from gpuviz.draw.axis import Scales
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Mark
from gpuviz.draw.stage import Stage

Value = int | str | bool  # of a parameter
Values = Mapping[str, Value]
# Among the values that a click sets: where to go, as the search of the story understands it; after
# " | " comes what to go to where that is nowhere.
GO = "go"
# Colours by what they mean; the theme decides what they look like (`gpuviz.draw.palette`).
Ink = Literal[
    "ink",
    "outline",
    "cell",
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

    def draw(self, stage: Stage, area: Rect) -> Iterable[Mark]:
        """Its marks in the area it got."""
        raise NotImplementedError

    def used(self, stage: Stage, area: Rect) -> Rect:
        """What it takes of an area: what keeps its shape leaves room to those after it."""
        return area

    def zoom(self, stage: Stage, area: Rect) -> float:
        """How large it comes out in an area, where that is a question (see `layout.largest`)."""
        return 0.0

    def scales(self) -> Scales:
        """How far its scales reach, by name (`stage.most`, `stage.axis`): pictures side by side
        share those of one name.
        """
        return {}

    def spots(self, stage: Stage, area: Rect, name: str) -> F32 | None:
        """(N, 4) where the things of a name are, for what moves from panel to panel."""
        return None

    def pick(self, stage: Stage, area: Rect, x: float, y: float) -> Values | None:
        """The parameter values that a click at a point sets; None: it sets none."""
        return None


@dataclass(frozen=True, eq=False)
class Answer(Panel):
    """A panel that is kept back while a class is asked, though others of its kind are not."""

    answers: ClassVar[bool] = True
    panel: Panel

    def need(self, stage: Stage, width: float) -> Need:
        """The room of the panel."""
        return self.panel.need(stage, width)

    def draw(self, stage: Stage, area: Rect) -> Iterable[Mark]:
        """The panel."""
        return self.panel.draw(stage, area)

    def scales(self) -> Scales:
        """Those of the panel."""
        return self.panel.scales()


def color(stage: Stage, ink: Ink) -> Rgba:
    """The colour of a meaning in the stage's theme."""
    found: Rgba = getattr(stage.palette, ink)
    return found


def line(stage: Stage) -> float:
    """The height of one line of panel text, with the space around it."""
    return stage.text(14) * 1.75
