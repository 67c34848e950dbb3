from dataclasses import replace

import numpy as np
import pytest

from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Raster, Texts
from gpuviz.draw.matrix import Matrix, heat, numbers, painted, product, strip, ticking, tile_lines
from gpuviz.draw.palette import DARK, LIGHT, Palette
from gpuviz.draw.stage import Stage
from gpuviz.draw.track import Part, height_of, track

STAGE = Stage(760, 480, DARK)
PARTS = tuple(
    Part(name, color, phase)
    for phase in range(2)
    for name, color in (("load", DARK.load), ("barrier", DARK.barrier))
) + (Part("store", DARK.store, -1),)


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


def test_numbers_are_left_out_where_they_do_not_fit() -> None:
    count = np.array([3, 0, 12, 7])
    fill = heat(DARK, count, 12)
    written = [
        numbers(STAGE, Matrix(0, 0, 2, 2, pitch), count, fill, count > 0, 14)
        for pitch in (40.0, 16.0)
    ]
    (texts,) = written[0]
    assert isinstance(texts, Texts) and texts.strings == ("3", "12", "7")
    assert written[1] == ()


def test_a_strip_holds_its_cells() -> None:
    matrix = Matrix(0, 0, 4, 5, 10.0)
    assert strip(matrix, np.array([6, 16])) == matrix.part(1, 1, 3, 1)


def test_tile_lines_are_left_out_where_they_would_stand_too_close() -> None:
    assert len(tile_lines(STAGE, Matrix(0, 0, 8, 8, 10.0), 4).points) == 2
    assert len(tile_lines(STAGE, Matrix(0, 0, 8, 8, 2.0), 2).points) == 0


def words(width: float, now: int, slim: bool = False) -> list[str]:
    area = Rect(0, 0, width, height_of(STAGE, slim))
    marks = track(STAGE, area, PARTS, now)
    return [text for m in marks if isinstance(m, Texts) for text in m.strings]


def test_a_track_shows_all_phases_or_the_one_under_way() -> None:
    names = ["load", "barrier"]
    assert words(700, 2) == [*names, *names, "store", "phase 1", "phase 2"]
    assert words(260, 2) == [*names, "store", "phase 2 of 2"]
    assert words(260, 0, slim=True) == [*names, "store"]


@pytest.mark.parametrize("now", [0, 3, 5])
def test_a_track_is_full_then_outlined_then_dim(now: int) -> None:
    boxes = [m for m in track(STAGE, Rect(0, 0, 700, 49), PARTS, now) if isinstance(m, Boxes)]
    fill, outlines = boxes[0].fill, boxes[1]
    assert fill is not None and len(outlines.rect) == (now < 5)
    for number, part in enumerate(PARTS):
        dim = np.array_equal(fill[number], DARK.todo(part.color))
        assert dim == (number > now)
        assert np.array_equal(fill[number], part.color) == (number == now)


def test_skipped_parts_are_hatched_whatever_the_time() -> None:
    parts = tuple(replace(part, skipped=part.phase == 1) for part in PARTS)
    for now in (0, 3, 5):
        marks = track(STAGE, Rect(0, 0, 700, 49), parts, now)
        boxes = [m for m in marks if isinstance(m, Boxes)]
        assert [len(m.rect) for m in boxes if m.hatch is not None] == [2]
        assert len(boxes[0].rect) == 3
