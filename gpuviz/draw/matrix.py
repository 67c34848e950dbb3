"""Matrices as grids of square cells: heat with its numbers, outlines, indices, guard cells.

Three matrices of a product are placed as multiplication is taught: N above P, M to the left of P,
so that a row of M and a column of N meet in their element of P.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuviz.base.arrays import F32, F64, I64, Rgba
from gpuviz.draw.layout import Rect, grid
from gpuviz.draw.marks import Boxes, Lines, Mark, Raster, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.palette import Palette
from gpuviz.draw.stage import Stage

_LEAST_BOX = 7.0  # pixels a cell; smaller ones are painted as an image
_LEAST_TILE = 14.0  # pixels between lines around tiles
_COLDEST = 0.25  # share of the heat ramp for a count of one: well apart from an empty cell
Tip = Callable[[int], str]


@dataclass(frozen=True, eq=False)
class Matrix:
    """`rows` x `columns` cells, row by row, `pitch` pixels from one to the next."""

    x: float
    y: float
    rows: int
    columns: int
    pitch: float

    @property
    def gap(self) -> float:
        """Space between cells."""
        return 2.0 if self.pitch >= 16 else 1.0 if self.pitch >= _LEAST_BOX else 0.0

    @property
    def area(self) -> Rect:
        """All cells, without the gap after the last."""
        return self.part(0, 0, self.rows, self.columns)

    @cached_property
    def cells(self) -> F32:
        """(rows * columns, 4) rectangles."""
        return grid(self.area, self.rows, self.columns, self.gap)

    def part(self, row: int, column: int, rows: int, columns: int) -> Rect:
        """The area of some rows and columns; it may reach beyond the matrix."""
        left, top = self.x + column * self.pitch, self.y + row * self.pitch
        return Rect(left, top, columns * self.pitch - self.gap, rows * self.pitch - self.gap)


@dataclass(frozen=True, eq=False)
class Product:
    """The three matrices of a product: rows of `left` and columns of `top` meet in `corner`."""

    left: Matrix
    top: Matrix
    corner: Matrix

    @property
    def area(self) -> Rect:
        """The smallest area that holds all three."""
        corner = self.corner.area
        x, y = self.left.x, self.top.y
        return Rect(x, y, corner.right - x, corner.bottom - y)


def product(area: Rect, rows: int, inner: int, columns: int, gap: float, most: float) -> Product:
    """As large as fits the area, from its top left corner; cells at most `most` pixels wide."""
    wide = (area.width - gap) / (inner + columns)
    high = (area.height - gap) / (inner + rows)
    pitch = max(min(wide, high, most), 0.5)
    pitch = float(int(pitch)) if pitch >= 4 else pitch
    x, y = area.x + inner * pitch + gap, area.y + inner * pitch + gap
    return Product(
        Matrix(area.x, y, rows, inner, pitch),
        Matrix(x, area.y, inner, columns, pitch),
        Matrix(x, y, rows, columns, pitch),
    )


def heat(palette: Palette, count: I64, most: int) -> Rgba:
    """(N, 4) colours of counts: an empty cell for 0, then from few to `most`."""
    share: F64 = _COLDEST + (1 - _COLDEST) * (count - 1) / max(most - 1, 1)
    warm = palette.heat_at(share)
    return np.where((count > 0)[:, None], warm, palette.cell).astype(np.uint8)


def painted(matrix: Matrix, fill: Rgba, tip: Tip | None = None) -> Mark:
    """The cells of a matrix: boxes, or an image where they are small."""
    if matrix.pitch >= _LEAST_BOX:
        return Boxes(matrix.cells, fill, radius=3.0 if matrix.pitch >= 20 else 0.0, tip=tip)
    pixels = fill.reshape(matrix.rows, matrix.columns, 4)
    columns = matrix.columns

    def of_cell(row: int, column: int) -> str:
        return tip(row * columns + column) if tip else ""

    return Raster(matrix.area, pixels, of_cell)


def number_size(stage: Stage, matrix: Matrix, widest: str, least: float) -> float:
    """How large words in the cells of a matrix can be; 0 when that would be below `least`."""
    room = matrix.pitch - matrix.gap
    size = min(stage.text(14), room * 0.9)
    size = float(int(min(size, size * (room - 2) / text_width(widest, size, True))))
    return size if size >= least else 0.0


def guards(stage: Stage, rects: F32, now: bool) -> Boxes:
    """Cells of lanes that have no element: hatched; quiet while nothing happens to them."""
    palette = stage.palette
    if now:
        return Boxes(rects, palette.waste_ground, hatch=palette.waste)
    return Boxes(rects, palette.todo(palette.waste_ground), hatch=palette.todo(palette.waste))


def strip(matrix: Matrix, cells: I64) -> Rect:
    """The smallest area of the matrix that holds some of its cells."""
    row, column = np.divmod(cells, matrix.columns)
    first, left = int(row.min()), int(column.min())
    return matrix.part(first, left, int(row.max()) - first + 1, int(column.max()) - left + 1)


def outlined(area: Rect, color: Rgba, width: float, pad: float = 1.0) -> Boxes:
    """A line around an area, outside of it."""
    grown = area.inset(-width - pad)
    radius = min(width + 3.0, grown.width / 3, grown.height / 3)
    return Boxes(grown.array(), stroke=color, stroke_width=width, radius=radius)


def tile_lines(stage: Stage, matrix: Matrix, tile: int) -> Lines:
    """Lines between the tiles of a matrix, and none where they would stand too close."""
    area, gap = matrix.area, matrix.gap / 2
    tile = tile if tile * matrix.pitch >= _LEAST_TILE else matrix.rows + matrix.columns
    x = matrix.x + np.arange(tile, matrix.columns, tile) * matrix.pitch - gap
    y = matrix.y + np.arange(tile, matrix.rows, tile) * matrix.pitch - gap
    upright = [[(at, area.y), (at, area.bottom)] for at in x]
    level = [[(area.x, at), (area.right, at)] for at in y]
    points = np.array(upright + level, np.float32).reshape(-1, 2, 2)
    return Lines(points, stage.palette.faint, 1.0)


def indices(stage: Stage, at: F32, first: int = 0) -> Texts:
    """Row or column numbers, centred at (N, 2) points."""
    words = tuple(str(first + i) for i in range(len(at)))
    return Texts(at, words, stage.palette.muted, stage.text(14), "center")
