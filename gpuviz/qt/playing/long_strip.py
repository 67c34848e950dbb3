"""A time line of more steps than there are pixels: a strip of all, and a page of it below."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QImage, QPainter, QPen

from gpuviz.draw.palette import mix
from gpuviz.story.script import KINDS, LongSteps

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gpuviz.base.arrays import F64, I64, Rgba
    from gpuviz.story.script import Step

MANY = 48  # steps that have room beside each other
PAGE = 24  # steps that are shown with their names
SHARE = 0.42  # of the bar's height: the strip of all steps


def is_long(steps: Sequence[Step]) -> bool:
    """Whether steps have no room beside each other."""
    return isinstance(steps, LongSteps) and len(steps) > MANY


def page_of(steps: Sequence[Step], number: int) -> range:
    """The steps shown in full: the page that a step is on."""
    first = number // PAGE * PAGE
    return range(first, min(first + PAGE, len(steps)))


def parts(bar: QRectF) -> tuple[QRectF, QRectF]:
    """The strip of all steps, and the page below it."""
    high = bar.height() * SHARE
    return (
        QRectF(bar.left(), bar.top(), bar.width(), high),
        QRectF(bar.left(), bar.top() + high + 3, bar.width(), bar.height() - high - 3),
    )


def bracket(
    painter: QPainter, color: QColor, parts: tuple[QRectF, QRectF], ends: tuple[float, float]
) -> None:
    """From the page to where it lies on the strip."""
    top, low = parts
    painter.setPen(QPen(color, 1))
    right = max(ends[1], ends[0] + 2)
    painter.drawPolyline(
        [
            QPointF(low.left(), low.top() - 1),
            QPointF(ends[0], top.bottom() + 0.5),
            QPointF(right, top.bottom() + 0.5),
            QPointF(low.right(), low.top() - 1),
        ]
    )


def ticks(painter: QPainter, color: QColor, top: QRectF, at: Iterable[float]) -> None:
    """Marks at places of the strip."""
    painter.setPen(QPen(color, 2))
    for x in sorted({round(x) for x in at}):
        painter.drawLine(QPointF(x, top.top() - 6), QPointF(x, top.bottom()))


def strip(steps: LongSteps, colors: Mapping[str, Rgba], width: int) -> QImage:
    """A row of pixels: each has the colours of the kinds of its steps, as many as there are."""
    edges = steps.edges
    at = np.linspace(edges[0], edges[-1], width + 1)
    first = np.clip(np.searchsorted(edges, at[:-1], side="right") - 1, 0, len(steps) - 1)
    last = np.clip(np.searchsorted(edges, at[1:], side="left"), first + 1, len(steps))
    pixels = np.zeros((width, 4), np.uint8)
    taken = np.zeros(width)
    for number in np.unique(steps.kinds).tolist():
        share = _count(steps, number, first, last)
        taken += share
        part = np.divide(share, taken, out=np.zeros(width), where=taken > 0)
        full = np.broadcast_to(colors[KINDS[number]], pixels.shape)
        pixels = np.where((share > 0)[:, None], mix(pixels, full, part), pixels).astype(np.uint8)
    pixels[:, 3] = 255
    data = np.ascontiguousarray(pixels).tobytes()
    return QImage(data, width, 1, width * 4, QImage.Format.Format_RGBA8888).copy()


def _count(steps: LongSteps, kind: int, first: I64, last: I64) -> F64:
    """(W,) how many steps of a kind there are in each stretch of steps."""
    before = np.concatenate([[0], np.cumsum(steps.kinds == kind)])
    return np.asarray(before[last] - before[first], np.float64)
