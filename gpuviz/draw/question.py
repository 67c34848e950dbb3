"""What a class is asked, at the head of a picture: the question, and lettered choices below it."""

from __future__ import annotations

from string import ascii_uppercase

from gpuviz.draw.label import label
from gpuviz.draw.layout import fit_size, wrap
from gpuviz.draw.marks import Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage

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
