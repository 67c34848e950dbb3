"""Lines of numbers under a picture, each with the badge of its source."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from gpuviz.draw import figures
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Mark
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.panels.panel import Ink, Need, Panel, color


@dataclass(frozen=True)
class Figure:
    """A number in words: `8 of 32 lanes`."""

    text: str
    ink: Ink = "ink"
    bold: bool = False


@dataclass(frozen=True, eq=False)
class Counted(Panel):
    """Figures side by side, the first ones first where not all fit, and what they come from."""

    answers: ClassVar[bool] = True
    figures: tuple[Figure, ...]
    badge: str = ""  # "": the model
    ink: Ink = "accent"

    def need(self, stage: Stage, width: float) -> Need:
        """One line."""
        return Need(figures.line_height(stage), figures.line_height(stage))

    def draw(self, stage: Stage, area: Rect) -> Iterable[Mark]:
        """The figures from the left, the badge at the right end."""
        if not self.figures:
            return ()
        pieces = tuple((f.text, color(stage, f.ink), f.bold) for f in self.figures)
        badge = self.badge or tr("model")
        return figures.figures(stage, area, pieces, badge, color(stage, self.ink))


@dataclass(frozen=True, eq=False)
class Sourced(Panel):
    """A badge and what stands in that source: the longest of several wordings that fits."""

    answers: ClassVar[bool] = True
    texts: tuple[str, ...]
    badge: str = ""  # "": published
    ink: Ink = "muted"

    def need(self, stage: Stage, width: float) -> Need:
        """One line."""
        return Need(figures.line_height(stage), figures.line_height(stage))

    def draw(self, stage: Stage, area: Rect) -> Iterable[Mark]:
        """Nothing where no wording fits."""
        badge = self.badge or tr("published")
        return figures.sourced(stage, area, badge, color(stage, self.ink), self.texts)


def published(said: str, where: str) -> Sourced:
    """What a document says, and which: left out where there is no room for it."""
    return Sourced((f"{said} · {where}", said))
