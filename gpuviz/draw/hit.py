"""What lies under the pointer: the hover text of the topmost mark that has one there, and the
boxes that are linked with it; and one lane followed, what is another's stepping back.
"""

from dataclasses import replace

import numpy as np

from gpuviz.base.arrays import F32, Bool, Rgba
from gpuviz.draw.layout import Rect, grid
from gpuviz.draw.marks import Boxes, Curves, Frame, Lines, Mark, Outlines, Raster, Strokes, Texts
from gpuviz.draw.metrics import text_width

_REACH = 3.0  # pixels beside a curve that still count as on it
_SAMPLES = np.linspace(0.0, 1.0, 25)


def tip_at(frame: Frame, x: float, y: float) -> str | None:
    """The hover text at a point of the frame, or None."""
    for mark in reversed(frame.marks):
        if tip := _tip(mark, x, y):
            return tip
    return None


def lit_at(frame: Frame, x: float, y: float) -> F32:
    """(N, 4) the boxes and cells that light up when a point is pointed at: that one, and those that
    are linked with it in other marks.
    """
    for mark in reversed(frame.marks):
        if isinstance(mark, Boxes | Raster) and mark.link:
            boxes = _boxes(mark)
            if (number := _inside(boxes, x, y)) is not None:
                return np.stack([_boxes(one)[number] for one in _linked(frame, mark.link)])
    return np.zeros((0, 4), np.float32)


def _linked(frame: Frame, link: str) -> list[Boxes | Raster]:
    return [m for m in frame.marks if isinstance(m, Boxes | Raster) and m.link == link]


def _boxes(mark: Boxes | Raster) -> F32:
    """(N, 4) boxes, or cells row by row."""
    if isinstance(mark, Boxes):
        return mark.rect
    return grid(Rect(*mark.rect), *mark.pixels.shape[:2])


def _tip(mark: Mark, x: float, y: float) -> str | None:
    """What one mark says at a point."""
    if isinstance(mark, Lines | Strokes | Outlines) or mark.tip is None:
        return None
    if isinstance(mark, Raster):
        cell = _cell(mark, x, y)
        return mark.tip(*cell) if cell else None
    index = item_at(mark, x, y)
    return None if index is None else mark.tip(index)


def item_at(mark: Boxes | Curves | Texts, x: float, y: float) -> int | None:
    """Which item of a mark holds the point."""
    if isinstance(mark, Curves):
        return _curve(mark, x, y)
    return _inside(mark.rect if isinstance(mark, Boxes) else text_boxes(mark), x, y)


def _inside(rect: F32, x: float, y: float) -> int | None:
    """The last of (N, 4) rectangles that holds the point."""
    left, top, width, height = rect.T
    hits = (left <= x) & (x < left + width) & (top <= y) & (y < top + height)
    found = np.flatnonzero(hits)
    return int(found[-1]) if len(found) else None


def _curve(mark: Curves, x: float, y: float) -> int | None:
    """The curve nearest to the point, if it is within reach."""
    if not len(mark.points):
        return None
    path = _polyline(mark.points) - np.array([x, y])
    start, along = path[:, :-1], np.diff(path, axis=1)
    length = np.maximum((along**2).sum(-1), 1e-9)
    share = np.clip(-(start * along).sum(-1) / length, 0.0, 1.0)[..., None]
    distance = np.linalg.norm(start + share * along, axis=-1).min(axis=1)
    nearest = int(distance.argmin())
    return nearest if distance[nearest] <= mark.width / 2 + _REACH else None


def _polyline(points: F32) -> F32:
    """(N, 4, 2) Bezier points to (N, samples, 2) points along the curves."""
    t = _SAMPLES[:, None]
    weights = np.concatenate([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3], 1)
    return np.asarray(weights @ points, dtype=np.float32)


def _cell(mark: Raster, x: float, y: float) -> tuple[int, int] | None:
    """Row and column of the cell that holds the point."""
    left, top, width, height = mark.rect
    if not (left <= x < left + width and top <= y < top + height):
        return None
    rows, columns = mark.pixels.shape[:2]
    return int((y - top) * rows / height), int((x - left) * columns / width)


def text_boxes(mark: Texts) -> F32:
    """(N, 4) boxes, a line high, that hold the strings of a mark."""
    widths = [text_width(s, mark.size, mark.bold, mark.mono) for s in mark.strings]
    width = np.array(widths, np.float32)
    left = mark.at[:, 0] - width * {"left": 0.0, "center": 0.5, "right": 1.0}[mark.align]
    top = mark.at[:, 1] - mark.size * 0.6
    height = np.full(len(width), mark.size * 1.2, np.float32)
    return np.stack([left, top, width, height], axis=1).astype(np.float32)


def letter_at(frame: Frame, x: float, y: float) -> tuple[str, int] | None:
    """The text at a point, and which of its letters is there."""
    for mark in reversed(frame.marks):
        if isinstance(mark, Texts) and (index := item_at(mark, x, y)) is not None:
            text, left = mark.strings[index], float(text_boxes(mark)[index, 0])
            look = mark.size, mark.bold, mark.mono
            ends = (left + text_width(text[: n + 1], *look) for n in range(len(text)))
            return text, next((n for n, end in enumerate(ends) if x < end), len(text) - 1)
    return None


_BACK = 0.16  # of the opacity that is left to what is another lane's


def lane_at(frame: Frame, x: float, y: float) -> int | None:
    """The lane that what lies at a point belongs to; None where it is nobody's, or several's."""
    for mark in reversed(frame.marks):
        if isinstance(mark, Boxes | Curves | Texts) and mark.lanes is not None:
            found = item_at(mark, x, y)
            if found is not None and mark.lanes[found] >= 0:
                return int(mark.lanes[found])
    return None


def following(frame: Frame, lane: int) -> Frame:
    """The picture with what belongs to other lanes hardly there."""
    return replace(frame, marks=tuple(_followed(mark, lane) for mark in frame.marks))


def _followed(mark: Mark, lane: int) -> Mark:
    if not isinstance(mark, Boxes | Curves | Texts) or mark.lanes is None:
        return mark
    away = (mark.lanes != lane) & (mark.lanes >= 0)
    if not away.any():
        return mark
    if isinstance(mark, Boxes):
        fill, stroke = (None if c is None else _back(c, away) for c in (mark.fill, mark.stroke))
        return replace(mark, fill=fill, stroke=stroke)
    return replace(mark, color=_back(mark.color, away))


def _back(color: Rgba, away: Bool) -> Rgba:
    made = np.broadcast_to(color, (len(away), 4)).copy()
    made[away, 3] = (made[away, 3] * _BACK).astype(np.uint8)
    return made
