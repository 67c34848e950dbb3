"""Lines of figures under a picture: numbers side by side, and the badge of their source."""

from __future__ import annotations

from gpuviz.base.arrays import Rgba
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, wrap
from gpuviz.draw.marks import Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage


def line_height(stage: Stage) -> float:
    """The height one line of figures takes."""
    return stage.text(14) * 1.75


def pill_width(stage: Stage, word: str) -> float:
    """The width of a badge, with the space that parts it from words."""
    return text_width(word, stage.text(13)) + stage.text(13) * 1.9


def lines(
    stage: Stage, area: Rect, text: str, color: Rgba, bold: bool = False
) -> tuple[tuple[Mark, ...], Rect]:
    """A text in as many lines as it needs, and the area left below them."""
    size = stage.text(14)
    rows = wrap(text, area.width, size, bold)
    marks = tuple(
        label(area.x, area.y + size * (0.7 + 1.35 * i), row, color, size, bold)
        for i, row in enumerate(rows)
    )
    return marks, area.above(size * 1.35 * len(rows), size * 0.3)[1]
