"""Sentences in the room that something leaves in its area."""

from __future__ import annotations

from collections.abc import Iterator

from gpuviz.draw.figures import lines
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Mark
from gpuviz.draw.stage import Stage

_LEAST, _FEW = 12.0, 3.0  # letters that lines are wide at least, and that a few are high


def room_left(stage: Stage, area: Rect, taken: Rect) -> Rect:
    """The room for sentences: below what is taken if there are a few lines, or else beside it."""
    size = stage.text(14)
    below = area.above(taken.bottom + size * 0.8 - area.y)[1]
    beside = area.beside(taken.right + size * 1.5 - area.x)[1]
    room = below if below.height >= size * _FEW else beside
    return room if room.width >= size * _LEAST else room._replace(width=0.0)


def noted(stage: Stage, room: Rect, sentences: tuple[str, ...]) -> Iterator[Mark]:
    """As many as fit, the first one said loudest."""
    palette, rest = stage.palette, room
    for number, sentence in enumerate(sentences if room.width else ()):
        said, rest = lines(stage, rest, sentence, palette.muted if number else palette.ink)
        if rest.height < 0:
            return
        yield from said
