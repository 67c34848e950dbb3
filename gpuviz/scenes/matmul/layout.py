"""Where the parts of the picture of a matrix product go, on any stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gpuviz.draw.layout import Rect
from gpuviz.draw.matrix import Matrix, Product, product
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.draw.track import height_of

_NOTHING = Rect(0, 0, 0, 0)
_FLAT = 20  # text lines below the heading; fewer are a low stage


@dataclass(frozen=True, eq=False)
class Areas:
    """One area a part; a part with no room has an empty one."""

    whole: Rect
    shared: Rect
    naive: Rect
    totals: Rect
    track: Rect


@dataclass(frozen=True, eq=False)
class Framed:
    """Three matrices with their captions; `numbered` when rows and columns have numbers.

    `flat` when they stand side by side, else they are placed as multiplication is taught.
    """

    matrices: Product
    area: Rect
    numbered: bool
    gap: float
    flat: bool = False

    @property
    def pitch(self) -> float:
        """Pixels from one cell to the next."""
        return self.matrices.corner.pitch


class Table(NamedTuple):
    """The room an access table takes; `bare` is its height without a caption."""

    width: float
    height: float
    bare: float

    def fits(self, width: float, height: float) -> bool:
        """Whether it fits, with its caption."""
        return self.width <= width and self.height <= height


def areas(stage: Stage, body: Rect, table: Table, aspect: float) -> Areas:
    """Cut the area below the heading. `aspect` is width by height of the three matrices."""
    size = stage.text(14)
    if body.height < size * _FLAT:
        return _flat(
            stage, *_split_off(body, height_of(stage, slim=True), size * 0.5), table, aspect
        )
    rest, track = _split_off(body, height_of(stage), size * 0.9)
    if rest.width >= 1.3 * rest.height:
        return _wide(stage, rest, track, table, aspect)
    return _tall(stage, rest, track, table, aspect)


def _split_off(area: Rect, height: float, gap: float) -> tuple[Rect, Rect]:
    """What is left above a strip at the bottom, and the strip."""
    above, below = area.above(area.height - height - gap, gap)
    return above, below


def _flat(stage: Stage, area: Rect, track: Rect, table: Table, aspect: float) -> Areas:
    """For low stages: no word too many, one line of totals."""
    size = stage.text(14)
    left = min(max(area.height * aspect * 0.9, size * 7), (area.width - size * 1.5) * 0.5)
    whole, right = area.beside(left, size * 1.5)
    right, totals = _split_off(right, size * 1.3, size * 0.5)
    if table.width <= right.width and table.bare + size * 4.5 <= right.height:
        shared, naive = _split_off(right, table.bare, size * 0.5)
    elif right.width >= size * 26 and right.height >= size * 8:
        shared, naive = right.beside(right.width * 0.56, size * 1.5)
    else:
        shared, naive = right, _NOTHING
    return Areas(whole, shared, naive, totals, track)


def totals_height(stage: Stage, room: float) -> float:
    """The height of the table of totals: a short form where there is little room."""
    return stage.text(14) * (6.0 if room >= stage.text(14) * 26 else 3.0)


def _wide(stage: Stage, area: Rect, track: Rect, table: Table, aspect: float) -> Areas:
    """The matrices on the left; shared memory, the naive kernel, totals on the right."""
    size = stage.text(14)
    gap = size * 1.8
    left = min(max(area.height * aspect, size * 7), (area.width - gap) * 0.5)
    if area.width - left - gap < table.width <= (area.width - gap) * 0.62:
        left = area.width - gap - table.width
    whole, right = area.beside(left, gap)
    right, totals = _split_off(right, totals_height(stage, area.height), size * 0.7)
    shared, naive = _share(stage, right, table)
    return Areas(whole, shared, naive, totals, track)


def _share(stage: Stage, area: Rect, table: Table) -> tuple[Rect, Rect]:
    """Shared memory, and the naive kernel: below it if the access table fits there, else beside."""
    size = stage.text(14)
    least, gap = size * 9, size * 0.8
    if table.fits(area.width, area.height - least - gap):
        return _split_off(area, table.height, gap)
    if area.width < size * 18 or area.height < size * 9:
        return area, _NOTHING
    return area.beside((area.width - size * 1.6) * 0.54, size * 1.6)


def _tall(stage: Stage, area: Rect, track: Rect, table: Table, aspect: float) -> Areas:
    """The matrices and shared memory side by side; below them the naive kernel, then totals."""
    size = stage.text(14)
    gap = size * 1.4
    area, totals = _split_off(area, totals_height(stage, area.height), size * 0.7)
    left = (area.width - gap) * 0.56
    top = min(left * 1.06, area.height)
    below = area.height - top - gap
    if not table.fits(area.width, below) and below < size * 10:
        top, below = area.height, 0.0
        if area.height > size * 20:
            top, below = area.height * 0.6 - gap, area.height * 0.4
    left = min(left, max(top * aspect, size * 7))
    upper, lower = area.above(top, gap)
    whole, shared = upper.beside(left, gap)
    return Areas(whole, shared, lower if below else _NOTHING, totals, track)


def framed(stage: Stage, area: Rect, rows: int, inner: int, columns: int) -> Framed:
    """Three matrices with room for captions, and for row and column numbers where they are large.

    Captions stand above the matrices, numbers of rows to the left.
    """
    size = stage.text(14)
    for numbered in (True, False):  # numbers only where they leave the cells large
        head, side = (size * 2.5, _side(size, rows)) if numbered else (size * 1.35, 0.0)
        gap = size * 1.5 if numbered else size * 1.4
        inside = Rect(area.x + side, area.y + head, area.width - side, area.height - head)
        made = product(inside, rows, inner, columns, gap, 64 * stage.scale)
        if made.corner.pitch >= size * 1.75 or not numbered:
            break
    whole = made.area
    taken = Rect(area.x, area.y, whole.right - area.x, whole.bottom - area.y)
    return Framed(made, taken, numbered, gap)


def side_by_side(stage: Stage, area: Rect, tile: int) -> Framed:
    """Two tiles and the threads in a row: captions above, or on the left where it is low."""
    size, most = stage.text(14), 40 * stage.scale
    above = area.height >= size * 4.4
    head, side, gap = (size * 1.35, 0.0, size) if above else (0.0, size * 1.7, size * 0.6)
    wide = (area.width - 3 * side - 2 * gap) / (3 * tile)
    pitch = max(min(wide, (area.height - head) / tile, most), 0.5)
    pitch = float(int(pitch)) if pitch >= 4 else pitch
    step, y = tile * pitch + gap + side, area.y + head
    m, n, threads = (Matrix(area.x + side + i * step, y, tile, tile, pitch) for i in range(3))
    taken = Rect(area.x, area.y, 3 * step - gap, head + tile * pitch)
    return Framed(Product(m, n, threads), taken, False, gap, True)


def _side(size: float, rows: int) -> float:
    """Width of the numbers beside rows."""
    return text_width(str(rows - 1), size) + size * 0.5


def above_columns(
    framed_at: Framed, x: float, y: float, count: int
) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """(count, 2) middles of the numbers above columns that start at x."""
    pitch = framed_at.pitch
    at = x + (np.arange(count) + 0.5) * pitch - framed_at.matrices.corner.gap / 2
    return np.stack([at, np.full(count, y)], axis=1).astype(np.float32)


def beside_rows(
    framed_at: Framed, x: float, y: float, count: int
) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """(count, 2) middles of the numbers beside rows that start at y."""
    return above_columns(framed_at, y, x, count)[:, ::-1].copy()
