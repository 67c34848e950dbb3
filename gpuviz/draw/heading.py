"""The words at the head of a picture, the question a class is asked there; lines of figures, badges
of their sources, and brackets under parts.

What is predicted is in the accent; what a GPU said is green, filled while it says it; all else,
published or missing, is quiet: one set of colours, in pictures and in the window.
"""

from collections.abc import Mapping
from string import ascii_uppercase

import numpy as np

from gpuviz.base.arrays import F32, Rgba
from gpuviz.draw.layout import Rect, fit_size, wrap
from gpuviz.draw.marks import Boxes, Lines, Mark, at, label
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.recordings.measurement import WORDS
from gpuviz.words.language import later, tr

BADGES: Mapping[str, str] = {
    "model": later("model"),
    "unchecked": later("model, not checked"),
    **WORDS,
    "unavailable": later("unavailable"),
}
_INKS = {
    "model": "accent",
    "unchecked": "accent",
    "live": "good",
    "recorded": "good",
    "file": "good",
}


def source_of(word: str) -> str:
    """The kind of source (a key of `BADGES`) that a badge names, in the language in use, or "".

    A model may be named with its architecture: `model, CC 9.0`.
    """
    named = (word, word.partition(", ")[0])
    return next((kind for one in named for kind in BADGES if one == tr(BADGES[kind])), "")


def ink_of(word: str) -> str:
    """The colour of a badge with this word: a name of the palette's."""
    return _INKS.get(source_of(word), "muted")


def is_live(word: str) -> bool:
    """Whether a badge says that its number is being measured now."""
    return source_of(word) == "live"


_SIZES = (24, 22, 20, 18, 16)  # of the choices, the largest that takes few rows
_FEW = 2
_LETTER, _APART = 1.5, 2.2  # from a letter to its choice, and between choices, in letter sizes
_ROW = 1.45

_Row = list[tuple[float, int, tuple[str, ...]]]  # x of a choice, its number, its lines


def question(stage: Stage) -> tuple[tuple[Mark, ...], float]:
    """The question of a stage with its choices, and the y at which a picture can begin."""
    margin, palette = stage.margin, stage.palette
    width = stage.width - 2 * margin
    title = fit_size(stage.question, width, stage.text(26), stage.text(18), bold=True)
    y, marks = margin * 0.6, list[Mark]()
    for line in wrap(stage.question, width, title, bold=True):
        marks.append(label(margin, y + title * 0.7, line, palette.ink, title, bold=True))
        y += title * 1.2
    size, rows = _fitting(stage, width)
    y += size * 0.25 if rows else 0.0
    for row in rows:
        for x, number, lines in row:
            middle = y + size * 0.8
            marks.append(
                label(margin + x, middle, ascii_uppercase[number], palette.accent, size, bold=True)
            )
            marks += (
                label(
                    margin + x + size * _LETTER, middle + i * size * _ROW, line, palette.ink, size
                )
                for i, line in enumerate(lines)
            )
        y += size * _ROW * max(len(lines) for _, _, lines in row)
    return tuple(marks), y + stage.text(16) * 0.5


def _fitting(stage: Stage, width: float) -> tuple[float, list[_Row]]:
    """The size of the choices, and their rows."""
    for each in _SIZES:
        size = stage.text(each)
        rows = _flow(stage.choices, width, size)
        if sum(max(len(lines) for _, _, lines in row) for row in rows) <= _FEW:
            break
    return size, rows


def _flow(choices: tuple[str, ...], width: float, size: float) -> list[_Row]:
    """The choices in rows, from left to right, as many in each as fit side by side."""
    rows, x = list[_Row](), 0.0
    for number, text in enumerate(choices):
        wide = size * _LETTER + text_width(text, size)
        if not rows or x + wide > width:
            rows.append([])
            x = 0.0
        rows[-1].append((x, number, wrap(text, width - size * _LETTER, size)))
        x += wide + size * _APART
    return rows


__all__ = ["at", "badge", "brackets", "heading", "label", "steady_heading"]


def heading(stage: Stage, title: str, sentence: str) -> tuple[tuple[Mark, ...], Rect]:
    """Title and sentence at the top of the stage, and the area that is left below them.

    A question takes their place, and gets what room the larger of both needs.
    """
    return steady_heading(stage, title, sentence, ())


def steady_heading(
    stage: Stage, title: str, sentence: str, others: tuple[str, ...]
) -> tuple[tuple[Mark, ...], Rect]:
    """As `heading`, with room for the longest of the sentences that take turns in a story."""
    marks, bottom = _told(stage, title, sentence)
    size, width = stage.text(16), stage.width - 2 * stage.margin
    rows = [len(wrap(text, width, size)) for text in (sentence, *others)]
    bottom += (max(rows) - rows[0]) * size * 1.35
    if stage.question:
        asked, low = question(stage)
        bottom = max(bottom, stage.headed or low)
        if stage.asks:
            marks = () if stage.headed else asked
    below = stage.height - bottom - stage.margin * 0.7
    return marks, Rect(stage.margin, bottom, width, below)


def _told(stage: Stage, title: str, sentence: str) -> tuple[tuple[Mark, ...], float]:
    """Title and sentence, and the y at which a picture can begin."""
    margin, palette = stage.margin, stage.palette
    width = stage.width - 2 * margin
    size = fit_size(title, width, stage.text(26), stage.text(18), bold=True)
    small, y = stage.text(16), margin * 0.6
    marks: list[Mark] = []
    for line in wrap(title, width, size, bold=True):
        marks.append(label(margin, y + size * 0.7, line, palette.ink, size, bold=True))
        y += size * 1.2
    for line in wrap(sentence, width, small):
        marks.append(label(margin, y + small * 0.8, line, palette.muted, small))
        y += small * 1.35
    return tuple(marks), y + small * 0.5


def badge(stage: Stage, x: float, y: float, text: str) -> tuple[Mark, ...]:
    """A small pill with a word, its left edge at x and its middle at y.

    It says where a number comes from, in the colour of that source (`source_inks`): there is none
    while the stage asks.
    """
    if stage.asks:
        return ()
    color: Rgba = getattr(stage.palette, ink_of(text))
    size = stage.text(13)
    width, height = text_width(text, size) + size * 1.2, size * 1.6
    box = Rect(x, y - height / 2, width, height)
    live, palette = is_live(text), stage.palette
    pill = Boxes(box.array(), color if live else palette.panel, stroke=color, radius=height / 2)
    ink = palette.ink_on(color) if live else color
    return pill, label(x + width / 2, y, text, ink, size, align="center")


def brackets(spans: F32, y: float, depth: float, color: Rgba) -> Lines:
    """A bracket open to the top under each (N, 2) span of x."""
    left, right = spans[:, 0], spans[:, 1]
    low, high = np.full_like(left, y + depth), np.full_like(left, y)
    sides = [(left, high, left, low), (left, low, right, low), (right, high, right, low)]
    points = np.concatenate([np.stack(side, axis=1).reshape(-1, 2, 2) for side in sides])
    return Lines(points.astype(np.float32), color, 1.0)


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
