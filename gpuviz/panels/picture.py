"""A picture: one sentence about what is seen, one below it, and panels in a layout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gpuviz.draw.heading import steady_heading
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Frame, Mark
from gpuviz.draw.stage import Stage
from gpuviz.panels.layout import Node, fits, place
from gpuviz.panels.panel import Panel, Values


@dataclass(frozen=True, eq=False)
class Picture:
    """What is seen at one moment. `others` are sentences that take turns with this one: the body
    stays where it is whichever is said. Where the body does not fit, `low` is shown instead.
    """

    title: str
    sentence: str
    body: Node
    others: tuple[str, ...] = ()
    low: Picture | None = None


def frame(picture: Picture, given: Stage) -> Frame:
    """The picture on a stage."""
    stage = given.roomy()
    head, shown = _placed(picture, stage)
    drawn: list[Mark] = [*head]
    for panel, piece in shown:
        drawn += panel.draw(stage, piece)
    return stage.frame(*drawn)


def pick(picture: Picture, given: Stage, x: float, y: float) -> Values | None:
    """The values that a click at a point of the picture sets."""
    stage = given.roomy()
    for panel, piece in _placed(picture, stage)[1]:
        if piece.x <= x < piece.right and piece.y <= y < piece.bottom:
            return panel.pick(stage, piece, x, y)
    return None


def _placed(picture: Picture, stage: Stage) -> tuple[tuple[Mark, ...], list[tuple[Panel, Rect]]]:
    """The heading, and the panels that are not kept back with their areas."""
    head, area = steady_heading(stage, picture.title, picture.sentence, picture.others)
    if picture.low is not None and not fits(picture.body, stage, area):
        return _placed(picture.low, stage)
    shown = place(picture.body, stage, area)
    return head, [one for one in shown if not (one[0].answers and stage.asks)]


At = Callable[[float], Picture]  # the picture at a time, in seconds
