"""What the marks of a picture say when they are pointed at, as rectangles with texts."""

from __future__ import annotations

from collections.abc import Iterator

from gpuviz.draw.hit import text_boxes
from gpuviz.draw.layout import Rect, grid
from gpuviz.draw.marks import Boxes, Frame, Mark, Raster, Texts

MOST = 600  # items of a mark: a page stays small, and beyond that they are a few pixels wide

Hover = tuple[float, float, float, float, str]


def hovers(frame: Frame) -> Iterator[Hover]:
    """Left, top, width, height and text of all that says something; the last one is on top."""
    for mark in frame.marks:
        yield from _of(mark)


def _of(mark: Mark) -> Iterator[Hover]:
    """Curves are left to their ends: a rectangle round one would cover what is beside it."""
    if isinstance(mark, Boxes | Texts) and mark.tip is not None:
        boxes = mark.rect if isinstance(mark, Boxes) else text_boxes(mark)
        texts = [mark.tip(n) for n in range(len(boxes))] if len(boxes) <= MOST else []
    elif isinstance(mark, Raster) and mark.tip is not None:
        rows, columns = mark.pixels.shape[:2]
        boxes = grid(Rect(*mark.rect), rows, columns)
        places = [(row, column) for row in range(rows) for column in range(columns)]
        texts = [mark.tip(*place) for place in places] if len(places) <= MOST else []
    else:
        return
    for box, text in zip(boxes.round(1).tolist(), texts, strict=False):
        if text:
            left, top, width, height = box
            yield left, top, width, height, text
