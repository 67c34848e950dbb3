"""A picture: one sentence about what is seen, one below it, and panels in a layout."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from gpuviz.arrays import I64
from gpuviz.draw.heading import steady_heading
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Frame, Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.layout import Node, fits, place
from gpuviz.panels.panel import Ink, Panel, Values, color


@dataclass(frozen=True, eq=False)
class Moving:
    """Things on their way between panels: of those that one calls `source`, (N,) `start` go to
    (N,) `end` of what another calls `target` (`Panel.spots`); `share` of the way is over.
    """

    source: str
    start: I64
    target: str
    end: I64
    share: float
    ink: Ink


@dataclass(frozen=True, eq=False)
class Picture:
    """What is seen at one moment. `others` are sentences that take turns with this one: the body
    stays where it is whichever is said. Where the body does not fit, `low` is shown instead.
    `moving` is on its way over the panels.
    """

    title: str
    sentence: str
    body: Node
    others: tuple[str, ...] = ()
    low: Picture | None = None
    moving: tuple[Moving, ...] = ()


def longest(sentences: Iterable[str]) -> tuple[str, ...]:
    """The few of many sentences that may need the most room: the `others` of a picture."""
    return tuple(sorted(dict.fromkeys(sentences), key=lambda said: text_width(said, 16))[-3:])


def frame(picture: Picture, given: Stage) -> Frame:
    """The picture on a stage."""
    stage = given.roomy()
    head, shown = _placed(picture, stage)
    drawn: list[Mark] = [*head]
    for panel, piece in shown:
        drawn += panel.draw(stage, piece)
    for one in picture.moving:
        drawn += _under_way(stage, one, shown)
    return stage.frame(*drawn)


def _under_way(stage: Stage, one: Moving, shown: list[tuple[Panel, Rect]]) -> list[Mark]:
    """Boxes between two panels; none where one of them is not there."""
    ends = []
    for name, which in ((one.source, one.start), (one.target, one.end)):
        found = (panel.spots(stage, piece, name) for panel, piece in shown)
        spots = next((rects for rects in found if rects is not None), None)
        if spots is None:
            return []
        ends.append(spots[which])
    boxes = (ends[0] + (ends[1] - ends[0]) * one.share).astype(np.float32)
    return [Boxes(boxes, color(stage, one.ink), stroke=stage.palette.ground, radius=3)]


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
