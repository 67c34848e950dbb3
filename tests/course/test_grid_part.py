"""A part of a matrix keeps what stands in its cells; a thin product is shown as such a part."""

import numpy as np

from gpuviz.course.together.matmul_common.product import Product, Stretch, part_of, stretch
from gpuviz.draw.layout import Rect
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.panels.grid import Grid, Hatch, Heat, Outline, Paint

STAGE, AREA = Stage(1280, 800, DARK), Rect(20, 100, 500, 560)


def matrix(name: str, rows: int, columns: int) -> Grid:
    every = np.arange(rows * columns)
    heat = Heat(every, rows * columns, every % 2 == 0)
    return Grid(
        (name,), rows, columns, str, (Paint(every >= 0, "load"),), heat, tile=2, own=(columns,)
    )


def test_cells_of_a_part_are_those_of_the_whole() -> None:
    rows, columns = stretch(5, 4, 10), stretch(0, 16, 3)
    assert rows == Stretch(4, 4, 10) and columns.whole
    assert stretch(9, 4, 10) == Stretch(6, 4, 10)
    whole = matrix("M", 10, 3)
    given = (Outline(np.array([13, 0])),), (Hatch(np.array([14, 29])),)
    whole = Grid(**{**vars(whole), "outlines": given[0], "hatched": given[1], "own": (12,)})
    part = part_of(whole, rows, columns)
    assert part.heat is not None and part.tip is not None
    assert part.heat.count.tolist() == list(range(12, 24)) and part.tip(1) == "13"
    assert part.outlines[0].cells.tolist() == [1] and part.hatched[0].cells.tolist() == [2]
    assert part.own == (0,) and part_of(whole, Stretch(0, 10, 10), columns) is whole


def test_a_thin_product_shows_the_part_under_way() -> None:
    """64 x 64 times 64 x 4 was a strip with cells of four pixels."""
    three = matrix("M", 64, 64), matrix("N", 64, 4), matrix("P", 64, 4)
    strip = Product(*three)
    part = Product(*three, focus=(18, 40, 2))
    assert part.zoom(STAGE, AREA) > 3 * strip.zoom(STAGE, AREA)
    spots = part.spots(STAGE, AREA, "M")
    assert spots is not None and len(spots) == 64 * 64
    x, y = spots[18 * 64 + 40, :2]  # what moves starts from the cell where it is drawn
    used = part.used(STAGE, AREA)
    assert AREA.x <= x < used.right and AREA.y <= y < used.bottom
    square = Product(*(matrix(name, 64, 64) for name in "MNP"), focus=(0, 0, 0))
    assert square._part(STAGE, AREA) is square
