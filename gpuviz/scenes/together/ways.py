"""Pictures of lessons that compare ways: a chart of one of them, and a table of all.

The table has its place below the chart on a tall stage; on a low one it takes over at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gpuviz.draw import table
from gpuviz.draw.figures import line_height
from gpuviz.draw.heading import heading
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Frame, Mark
from gpuviz.draw.stage import Stage

Part = Callable[[Stage, Rect], tuple[Mark, ...]]
_TALL = 27.0  # letters of height from which the table is always there


@dataclass(frozen=True)
class Words:
    """Title and sentence of the chart, and `over` those of the table when it takes over."""

    title: str
    said: str
    over: tuple[str, str]


def ways(
    given: Stage, words: Words, rows: int, ended: bool, chart: Part, figures: Part, board: Part
) -> Frame:
    """The chart, its line of figures, and the table, which has so many rows."""
    stage = given.roomy()
    head, area = heading(stage, words.title, words.said)
    size, low = stage.text(14), line_height(stage)
    tall = area.height > size * _TALL
    side = size * 0.4
    if ended and not tall:
        head, area = heading(stage, *words.over)
        return stage.frame(*head, *board(stage, area.inset(side, 0)))
    high = table.height_of(stage, rows, badges=True) + size if tall else 0.0
    top, rest = area.above(area.height - low - high - size * 0.3, size * 0.3)
    foot, rest = rest.above(low, size)
    marks = (*chart(stage, top), *figures(stage, foot))
    if tall:
        marks += board(stage, rest.inset(side, 0))
    return stage.frame(*head, *marks)
