"""Two pictures side by side, as one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from gpuviz.draw.marks import Boxes, Curves, Lines, Mark, Outlines, Raster, Strokes, Texts


def shifted(marks: Iterable[Mark], dx: float, dy: float) -> tuple[Mark, ...]:
    """The same marks, moved."""
    return tuple(_shift(mark, dx, dy) for mark in marks)


def _shift(mark: Mark, dx: float, dy: float) -> Mark:
    by = np.array([dx, dy], np.float32)
    if isinstance(mark, Boxes):
        return replace(mark, rect=mark.rect + np.array([dx, dy, 0, 0], np.float32))
    if isinstance(mark, Curves | Lines | Outlines):
        return replace(mark, points=mark.points + by)
    if isinstance(mark, Texts):
        return replace(mark, at=mark.at + by)
    if isinstance(mark, Strokes):
        return replace(mark, paths=tuple(path + by for path in mark.paths))
    assert isinstance(mark, Raster)
    x, y, width, height = mark.rect
    return replace(mark, rect=(x + dx, y + dy, width, height))
