"""Lines of figures under a picture: numbers side by side, and the badge of their source."""

from __future__ import annotations

from gpuviz.arrays import Rgba
from gpuviz.draw.heading import badge, label
from gpuviz.draw.layout import Rect, first_fitting, wrap
from gpuviz.draw.marks import Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage

Figure = tuple[str, Rgba, bool]  # text, colour, whether it is bold


def line_height(stage: Stage) -> float:
    """The height one line of figures takes."""
    return stage.text(14) * 1.75


def pill_width(stage: Stage, word: str) -> float:
    """The width of a badge, with the space that parts it from words."""
    return text_width(word, stage.text(13)) + stage.text(13) * 1.9


def figures(
    stage: Stage, area: Rect, pieces: tuple[Figure, ...], word: str, color: Rgba
) -> tuple[Mark, ...]:
    """As many of the pieces, from the first on, as fit before a badge at the right end.

    None while the stage asks for what they tell.
    """
    if stage.asks:
        return ()
    size, y = stage.text(16), area.y + line_height(stage) / 2
    pill = pill_width(stage, word)
    marks: list[Mark] = [*badge(stage, area.right - pill + stage.text(13) * 0.7, y, word, color)]
    x = area.x
    for text, ink, bold in pieces:
        wide = text_width(text, size, bold)
        if x + wide > area.right - pill:
            break
        marks.append(label(x, y, text, ink, size, bold))
        x += wide + size * 1.4
    return tuple(marks)


def sourced(
    stage: Stage, area: Rect, word: str, color: Rgba, texts: tuple[str, ...]
) -> tuple[Mark, ...]:
    """A badge and, beside it, the longest of the texts that fits; nothing when none does.

    Nothing, too, while the stage asks: a source often says what should be guessed.
    """
    if stage.asks:
        return ()
    size, y = stage.text(14), area.y + line_height(stage) / 2
    pill = pill_width(stage, word)
    text = first_fitting(texts, area.width - pill, size)
    if not text:
        return ()
    words = label(area.x + pill, y, text, stage.palette.muted, size)
    return (*badge(stage, area.x, y, word, color), words)


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
