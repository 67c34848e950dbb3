"""The words at the head of a picture, the badges of its numbers, and brackets under its parts."""

from __future__ import annotations

import numpy as np

from gpuviz.draw.layout import Rect, fit_size, wrap
from gpuviz.draw.marks import F32, Align, Boxes, Lines, Mark, Rgba, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage


def at(x: float, y: float) -> F32:
    """One anchor point, (1, 2)."""
    return np.array([[x, y]], np.float32)


def label(
    x: float,
    y: float,
    text: str,
    color: Rgba,
    size: float,
    bold: bool = False,
    align: Align = "left",
) -> Texts:
    """One line of text."""
    return Texts(at(x, y), (text,), color, size, align, bold)


def heading(stage: Stage, title: str, sentence: str) -> tuple[tuple[Mark, ...], Rect]:
    """Title and sentence at the top of the stage, and the area that is left below them."""
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
    y += small * 0.5
    return tuple(marks), Rect(margin, y, width, stage.height - y - margin * 0.7)


def steady_heading(
    stage: Stage, title: str, sentence: str, others: tuple[str, ...]
) -> tuple[tuple[Mark, ...], Rect]:
    """As `heading`, with room for the longest of the sentences that take turns in a story."""
    marks, area = heading(stage, title, sentence)
    size = stage.text(16)
    width = stage.width - 2 * stage.margin
    rows = [len(wrap(text, width, size)) for text in (sentence, *others)]
    more = (max(rows) - rows[0]) * size * 1.35
    return marks, Rect(area.x, area.y + more, area.width, area.height - more)


def badge(stage: Stage, x: float, y: float, text: str, color: Rgba) -> tuple[Mark, ...]:
    """A small pill with a word, its left edge at x and its middle at y."""
    size = stage.text(13)
    width, height = text_width(text, size) + size * 1.2, size * 1.6
    box = Rect(x, y - height / 2, width, height)
    pill = Boxes(box.array(), stage.palette.panel, stroke=color, radius=height / 2)
    return pill, label(x + width / 2, y, text, color, size, align="center")


def brackets(spans: F32, y: float, depth: float, color: Rgba) -> Lines:
    """A bracket open to the top under each (N, 2) span of x."""
    left, right = spans[:, 0], spans[:, 1]
    low, high = np.full_like(left, y + depth), np.full_like(left, y)
    sides = [(left, high, left, low), (left, low, right, low), (right, high, right, low)]
    points = np.concatenate([np.stack(side, axis=1).reshape(-1, 2, 2) for side in sides])
    return Lines(points.astype(np.float32), color, 1.0)
