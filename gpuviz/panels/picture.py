"""A picture: one sentence about what is seen, one below it, and panels in a layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from gpuviz.draw.heading import steady_heading
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Frame, Mark
from gpuviz.draw.stage import Stage
from gpuviz.panels.layout import Node, place
from gpuviz.panels.panel import Panel, Values


@dataclass(frozen=True, eq=False)
class Picture:
    """What is seen at one moment. `others` are sentences that take turns with this one: the body
    stays where it is whichever is said.
    """

    title: str
    sentence: str
    body: Node
    others: tuple[str, ...] = field(default=())


def frame(picture: Picture, given: Stage) -> Frame:
    """The picture on a stage."""
    stage = given.roomy()
    marks, area = steady_heading(stage, picture.title, picture.sentence, picture.others)
    drawn: list[Mark] = [*marks]
    for panel, piece in _shown(picture, stage, area):
        drawn += panel.draw(stage, piece)
    return stage.frame(*drawn)


def pick(picture: Picture, given: Stage, x: float, y: float) -> Values | None:
    """The values that a click at a point of the picture sets."""
    stage = given.roomy()
    area = steady_heading(stage, picture.title, picture.sentence, picture.others)[1]
    for panel, piece in _shown(picture, stage, area):
        if piece.x <= x < piece.right and piece.y <= y < piece.bottom:
            return panel.pick(stage, piece, x, y)
    return None


def _shown(picture: Picture, stage: Stage, area: Rect) -> Iterator[tuple[Panel, Rect]]:
    """The panels that are not kept back, with their areas."""
    return (
        (panel, piece)
        for panel, piece in place(picture.body, stage, area)
        if not (panel.answers and stage.asks)
    )


At = Callable[[float], Picture]  # the picture at a time, in seconds
