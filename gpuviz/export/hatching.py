"""Hatches as lines, for pages that know no patterns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuviz.base.arrays import F32
from gpuviz.draw.marks import Boxes, Frame, Lines, Mark
from gpuviz.export.svg_marks import HATCH_STEP, HATCH_WIDTH


def hatched_by_lines(frame: Frame) -> Frame:
    """The same picture with lines for hatches."""
    return replace(frame, marks=tuple(_by_lines(frame.marks)))


def _by_lines(marks: tuple[Mark, ...]) -> list[Mark]:
    """The same marks with hatches as lines."""
    found: list[Mark] = []
    for mark in marks:
        if not isinstance(mark, Boxes) or mark.hatch is None:
            found.append(mark)
            continue
        lines = Lines(hatch_lines(mark.rect), mark.hatch, HATCH_WIDTH)
        found += [
            replace(mark, hatch=None, stroke=None),
            lines,
            replace(mark, fill=None, hatch=None),
        ]
    return found


def hatch_lines(rects: F32) -> F32:
    """(N, 2, 2) diagonals that hatch (N, 4) rectangles and end inside them."""
    found = [_diagonals(*rect) for rect in rects.tolist()]
    return np.concatenate([np.zeros((0, 2, 2), np.float32), *found])


def _diagonals(x: float, y: float, width: float, height: float) -> F32:
    """The lines x + y = k * step + 1 in a rectangle, less what their thickness adds at the ends."""
    edge = HATCH_WIDTH / 2 / np.sqrt(2)
    left, top, right, bottom = x + edge, y + edge, x + width - edge, y + height - edge
    if right <= left or bottom <= top:
        return np.zeros((0, 2, 2), np.float32)
    first = np.ceil((left + top - 1) / HATCH_STEP) * HATCH_STEP + 1
    sums = np.arange(first, right + bottom, HATCH_STEP)
    low, high = np.maximum(left, sums - bottom), np.minimum(right, sums - top)
    ends = np.stack([low, sums - low, high, sums - high], axis=1)
    return np.asarray(ends[high > low].reshape(-1, 2, 2), dtype=np.float32)
