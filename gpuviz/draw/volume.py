"""An index space of one to three dimensions: x to the right, y downwards, z as planes in a row."""

from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import F32, I64, Rgba
from gpuviz.draw.layout import Rect, centers
from gpuviz.draw.marks import Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage

_PLANE_GAP = 0.5  # space between planes, in cells
_SLIM = 2.5  # a cell is at most so many times as high as wide, or the other way round
_LEAST_NUMBER = 12.0  # pixels: smaller numbers are left out of cells
_LEAST_HIGH = 22.0  # pixels that a row of very narrow cells may be high nevertheless


@dataclass(frozen=True, eq=False)
class Volume:
    """Cells of `x` by `y` by `z` places: `pitch` (x, y) pixels apart, planes `columns` to a row.

    `plane` is the step from one plane to the next, `area` what all of them take.
    """

    area: Rect
    size: tuple[int, int, int]
    pitch: tuple[float, float]
    plane: tuple[float, float]
    columns: int
    gap: float

    def cells(self, x: I64, y: I64, z: I64) -> F32:
        """(N, 4) boxes of places."""
        down, right = np.divmod(z, self.columns)
        left = self.area.x + right * self.plane[0] + x * self.pitch[0]
        top = self.area.y + down * self.plane[1] + y * self.pitch[1]
        wide = np.full_like(left, self.pitch[0] - self.gap)
        high = np.full_like(left, self.pitch[1] - self.gap)
        return np.stack([left, top, wide, high], axis=1).astype(np.float32)


def volume(area: Rect, size: tuple[int, int, int], label: float, most: float) -> Volume:
    """As large as fits the area, from its top left; `label` pixels stay free above each plane.

    Planes are put side by side, or in several rows where cells become larger that way.
    """
    counts = range(1, size[2] + 1)
    return max(
        (_arranged(area, size, columns, label, most) for columns in counts),
        key=lambda v: min(v.pitch),
    )


def _arranged(
    area: Rect, size: tuple[int, int, int], columns: int, label: float, most: float
) -> Volume:
    """With so many planes to a row."""
    x, y, z = size
    rows = -(-z // columns)
    wide = area.width / (columns * x + (columns - 1) * _PLANE_GAP * min(x, 2))
    high = (area.height - rows * label) / (rows * y)
    wide, high = min(wide, most, high * _SLIM), min(high, most, max(wide * _SLIM, _LEAST_HIGH))
    gap = 2.0 if min(wide, high) >= 12 else 1.0 if min(wide, high) >= 4 else 0.0
    plane = (x * wide + _PLANE_GAP * min(x, 2) * wide, y * high + label)
    total = (columns - 1) * plane[0] + x * wide
    shape = Rect(area.x, area.y + label, total, rows * plane[1] - label)
    return Volume(shape, size, (wide, high), plane, columns, gap)


def numbers(stage: Stage, rects: F32, numbers: I64, fill: Rgba) -> tuple[Mark, ...]:
    """Numbers in cells, where they can be read."""
    if not len(rects):
        return ()
    widest = str(int(numbers.max()))
    size = min(stage.text(14), float(rects[0, 3]) * 0.85)
    size = float(int(min(size, size * (float(rects[0, 2]) - 3) / text_width(widest, size, True))))
    if size < _LEAST_NUMBER:
        return ()
    words = tuple(map(str, numbers.tolist()))
    return (Texts(centers(rects), words, stage.palette.ink_on(fill), size, "center", bold=True),)


def planes(stage: Stage, shape: Volume) -> tuple[Mark, ...]:
    """The z of each plane, above it."""
    if shape.size[2] == 1:
        return ()
    z = np.arange(shape.size[2])
    corner = shape.cells(np.zeros_like(z), np.zeros_like(z), z)[:, :2]
    at = (corner - np.array([0, stage.text(14) * 0.62])).astype(np.float32)
    words = tuple(f"z = {n}" for n in z)
    room = shape.plane[0] if shape.columns > 1 else shape.area.width + stage.text(14) * 2
    if text_width(f"z = {shape.size[2] - 1}", stage.text(14)) > room:
        words = tuple(str(n) for n in z)
    return (Texts(at, words, stage.palette.muted, stage.text(14)),)
