"""What changes from picture to picture, for the formats that store only that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Picture = npt.NDArray[np.uint8]  # (H, W) or (H, W, channels)


@dataclass(frozen=True)
class Patch:
    """A rectangle of pixels from (left, top)."""

    left: int
    top: int
    width: int
    height: int

    def of(self, picture: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """That part of a picture."""
        return picture[self.top : self.top + self.height, self.left : self.left + self.width]


def changed(before: Picture | None, after: Picture) -> Patch | None:
    """The smallest rectangle that holds every changed pixel; None when nothing changed."""
    height, width = after.shape[:2]
    if before is None:
        return Patch(0, 0, width, height)
    differs = before != after
    if differs.ndim == 3:
        differs = differs.any(axis=2)
    rows = np.flatnonzero(differs.any(axis=1))
    if not len(rows):
        return None
    columns = np.flatnonzero(differs[rows[0] : rows[-1] + 1].any(axis=0))
    left, top = int(columns[0]), int(rows[0])
    return Patch(left, top, int(columns[-1]) + 1 - left, int(rows[-1]) + 1 - top)
