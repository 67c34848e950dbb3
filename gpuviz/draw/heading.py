"""The words at the head of a picture, the badges of its numbers, and brackets under its parts."""

from __future__ import annotations

import numpy as np

from gpuviz.base.arrays import F32, Rgba
from gpuviz.draw.label import at, label
from gpuviz.draw.layout import Rect, fit_size, wrap
from gpuviz.draw.marks import Boxes, Lines, Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.question import question
from gpuviz.draw.source_inks import ink_of, is_live
from gpuviz.draw.stage import Stage

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
