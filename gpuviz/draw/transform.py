"""A picture moved, made larger or smaller, and put in the middle of another size."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from gpuviz.draw.marks import Boxes, Curves, Frame, Lines, Mark, Outlines, Raster, Strokes, Texts


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


def fitted(frame: Frame, width: float, height: float) -> Frame:
    """The picture as large as it fits into a size, in the middle."""
    if (frame.width, frame.height) == (width, height):
        return frame
    by = min(width / frame.width, height / frame.height)
    dx, dy = (width - by * frame.width) / 2, (height - by * frame.height) / 2
    marks = shifted((scaled(mark, by) for mark in frame.marks), dx, dy)
    return Frame(width, height, frame.ground, marks)


def scaled(mark: Mark, by: float) -> Mark:
    """A mark so many times as large, about the origin."""
    factor = np.float32(by)
    if isinstance(mark, Boxes):
        return replace(
            mark,
            rect=mark.rect * factor,
            stroke_width=mark.stroke_width * by,
            radius=mark.radius * by,
        )
    if isinstance(mark, Curves | Lines):
        return replace(mark, points=mark.points * factor, width=mark.width * by)
    if isinstance(mark, Texts):
        return replace(mark, at=mark.at * factor, size=mark.size * by)
    if isinstance(mark, Strokes):
        return replace(mark, paths=tuple(p * by for p in mark.paths), width=mark.width * by)
    if isinstance(mark, Outlines):
        return replace(mark, points=mark.points * factor)
    assert isinstance(mark, Raster)
    x, y, width, height = mark.rect
    return replace(mark, rect=(x * by, y * by, width * by, height * by))
