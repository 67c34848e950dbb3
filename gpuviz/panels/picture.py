"""A picture: one sentence about what is seen, one below it, and panels in a layout."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gpuviz.base.arrays import I64
from gpuviz.draw.heading import steady_heading
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Frame, Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.layout import Node, fits, place
from gpuviz.panels.panel import Ink, Panel, Values, color

_CLEAR = 150  # opacity, of 255, of what is on its way


@dataclass(frozen=True, eq=False)
class Movement:
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
    moving: tuple[Movement, ...] = ()


def longest(sentences: Iterable[str]) -> tuple[str, ...]:
    """The few of many sentences that may need the most room: the `others` of a picture."""
    return tuple(sorted(dict.fromkeys(sentences), key=lambda said: text_width(said, 16))[-3:])


@dataclass(frozen=True, eq=False)
class PictureLayout:
    """A picture on a stage: its heading, and the panels that are not kept back in their areas."""

    stage: Stage
    head: tuple[Mark, ...]
    parts: tuple[tuple[Panel, Rect], ...]
    moving: tuple[Movement, ...]

    def frame(self) -> Frame:
        """What is drawn."""
        drawn: list[Mark] = [*self.head]
        for panel, piece in self.parts:
            drawn += panel.draw(self.stage, piece)
        for one in self.moving:
            drawn += _under_way(self.stage, one, self.parts)
        return self.stage.frame(*drawn)

    def pick(self, x: float, y: float) -> Values | None:
        """The values that a click at a point sets."""
        for panel, piece in self.parts:
            if piece.x <= x < piece.right and piece.y <= y < piece.bottom:
                return panel.pick(self.stage, piece, x, y)
        return None


def placed(picture: Picture, given: Stage) -> PictureLayout:
    """The picture on a stage, with letters as large as the stage has room for."""
    stage = given.roomy()
    head, area = steady_heading(stage, picture.title, picture.sentence, picture.others)
    if picture.low is not None and not fits(picture.body, stage, area):
        return replace(placed(picture.low, given), moving=picture.moving)
    parts = place(picture.body, stage, area)
    shown = tuple(one for one in parts if not (one[0].answers and stage.asks))
    return PictureLayout(stage, tuple(head), shown, picture.moving)


def _under_way(stage: Stage, one: Movement, shown: Sequence[tuple[Panel, Rect]]) -> list[Mark]:
    """Boxes between two panels, through which words below them are read; none where one of them is
    not there.
    """
    ends = []
    for name, which in ((one.source, one.start), (one.target, one.end)):
        found = (panel.spots(stage, piece, name) for panel, piece in shown)
        spots = next((rects for rects in found if rects is not None), None)
        if spots is None:
            return []
        ends.append(spots[which])
    boxes = (ends[0] + (ends[1] - ends[0]) * one.share).astype(np.float32)
    ink = color(stage, one.ink).copy()
    ink[..., 3] = _CLEAR
    return [Boxes(boxes, ink, stroke=stage.palette.ground, radius=3)]


At = Callable[[float], Picture]  # the picture at a time, in seconds
