import numpy as np
import pytest

from gpuviz.draw.ease import ticking
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Raster
from gpuviz.draw.matrix import Matrix, heat, painted, product, strip, tile_lines
from gpuviz.draw.palette import DARK, LIGHT, Palette
from gpuviz.draw.stage import Stage

STAGE = Stage(760, 480, DARK)


@pytest.mark.parametrize("shape", [(4, 4, 4), (10, 3, 5), (1, 64, 1), (64, 1, 3)])
def test_rows_and_columns_of_a_product_meet(shape: tuple[int, int, int]) -> None:
    rows, inner, columns = shape
    area = Rect(10, 20, 400, 300)
    made = product(area, rows, inner, columns, 12.0, 64.0)
    corner = made.corner.cells.reshape(rows, columns, 4)
    assert np.allclose(made.left.cells[::inner, 1], corner[:, 0, 1])
    assert np.allclose(made.top.cells[:columns, 0], corner[0, :, 0])
    assert made.left.area.right < made.corner.x and made.top.area.bottom < made.corner.y
    assert made.area.right <= area.right + 1e-3 and made.area.bottom <= area.bottom + 1e-3


@pytest.mark.parametrize("palette", [DARK, LIGHT])
def test_heat_tells_empty_from_once_and_often(palette: Palette) -> None:
    colors = heat(palette, np.arange(5), 4)
    assert np.array_equal(colors[0], palette.cell)
    assert np.array_equal(colors[4], palette.heat[-1])
    assert len(np.unique(colors, axis=0)) == 5


def test_counts_tick_from_one_state_to_the_next() -> None:
    before, after = np.array([0, 2]), np.array([4, 2])
    steps = [ticking(before, after, share).tolist() for share in (0.0, 0.5, 1.0)]
    assert steps == [[0, 2], [2, 2], [4, 2]]


def test_small_cells_become_an_image_that_says_the_same() -> None:
    fill = heat(DARK, np.arange(6), 6)
    large, small = (painted(Matrix(5, 5, 2, 3, pitch), fill, str) for pitch in (20.0, 4.0))
    assert isinstance(large, Boxes) and len(large.rect) == 6
    assert isinstance(small, Raster) and small.rect == (5, 5, 12, 8)
    assert np.array_equal(small.pixels.reshape(6, 4), fill)
    assert small.tip is not None and small.tip(1, 2) == "5"


def test_a_strip_holds_its_cells() -> None:
    matrix = Matrix(0, 0, 4, 5, 10.0)
    assert strip(matrix, np.array([6, 16])) == matrix.part(1, 1, 3, 1)


def test_tile_lines_are_left_out_where_they_would_stand_too_close() -> None:
    assert len(tile_lines(STAGE, Matrix(0, 0, 8, 8, 10.0), 4).points) == 2
    assert len(tile_lines(STAGE, Matrix(0, 0, 8, 8, 2.0), 2).points) == 0
