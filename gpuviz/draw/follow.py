"""One lane followed through a picture: what is another lane's steps back, whoever drew it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuviz.base.arrays import Bool, Rgba
from gpuviz.draw.hit import item_at
from gpuviz.draw.marks import Boxes, Curves, Frame, Mark, Texts

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
