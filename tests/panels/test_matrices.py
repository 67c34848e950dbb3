"""Matrices: what their cells show, where they stand, what is kept back while a class is asked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuviz.course.together.matmul_common.product import Product
from gpuviz.draw.hit import tip_at
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.matrix import Matrix, heat
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.panels.grid import Grid, Grids, Hatch, Heat, Note, Outline, Paint, draw
from gpuviz.panels.panel import Panel

STAGE = Stage(760, 480, DARK)
ASKS = replace(STAGE, question="How often is each element read?")
AREA = Rect(10, 20, 400, 300)
NEVER = np.zeros(4, bool)
COUNTED = Grid(("M",), 2, 2, heat=Heat(np.array([3, 0, 12, 7]), 12, NEVER), note=Note(("often",)))
WRONG = Grid(("P",), 2, 2, str, words=("1", "2", "3", "4"), hatched=(Hatch(np.array([2]), True),))


def words(marks: list[Mark]) -> list[str]:
    return [text for mark in marks if isinstance(mark, Texts) for text in mark.strings]


def cells(grid: Grid, stage: Stage = STAGE, pitch: float = 40.0) -> list[Mark]:
    return list(draw(stage, Matrix(0, 0, grid.rows, grid.columns, pitch), grid))


def hatched(marks: list[Mark]) -> list[int]:
    return [len(m.rect) for m in marks if isinstance(m, Boxes) and m.hatch is not None]


def drawn(panel: Panel, stage: Stage = STAGE, area: Rect = AREA) -> list[Mark]:
    return list(panel.draw(stage, area))


def test_numbers_are_left_out_where_they_do_not_fit() -> None:
    assert words(cells(COUNTED)) == ["3", "12", "7"]
    assert words(cells(COUNTED, pitch=16.0)) == []


def test_a_class_that_is_asked_sees_which_cells_have_a_count_and_not_how_many() -> None:
    first = cells(COUNTED, ASKS)[0]
    assert isinstance(first, Boxes) and words(cells(COUNTED, ASKS)) == []
    seen = heat(DARK, np.array([1, 0, 1, 1]), 12)
    assert np.array_equal(first.fill, seen)


def test_what_is_wrong_is_hatched_once_the_class_has_answered() -> None:
    assert hatched(cells(WRONG)) == [1] and hatched(cells(WRONG, ASKS)) == []
    assert words(cells(WRONG)) == ["1", "2", "3", "4"]
    empty = cells(replace(WRONG, answers=True), ASKS)
    assert words(empty) == [] and isinstance(empty[0], Boxes) and empty[0].tip is None


def test_numbers_stand_on_hatched_cells_only_where_these_are_large() -> None:
    heat = Heat(np.array([3, 0, 2, 7]), 7, NEVER)
    unused = replace(COUNTED, heat=heat, hatched=(Hatch(np.array([0])),))
    assert words(cells(unused)) == ["3", "2", "7"]
    assert words(cells(unused, pitch=22.0)) == ["2", "7"]


def test_paints_lie_over_each_other() -> None:
    left = np.array([True, False, True, False])
    one = Grid(("P",), 2, 2, paints=(Paint(left, "compute"), Paint(left, "store", over=0.0)))
    first = cells(one)[0]
    assert isinstance(first, Boxes) and first.fill is not None
    assert np.array_equal(first.fill[0], DARK.compute) and np.array_equal(first.fill[1], DARK.cell)


def test_an_outline_holds_its_cells() -> None:
    one = Grid(("P",), 3, 3, outlines=(Outline(np.array([4, 5])), Outline(np.zeros(0, np.int64))))
    lines = [m for m in cells(one) if isinstance(m, Boxes) and m.stroke is not None]
    (x, y, width, height), *_ = lines[0].rect.tolist()
    assert len(lines) == 1 and x < 40 < x + width and y < 40 and x + width >= 118 and height < 60


def test_matrices_stand_where_their_cells_are_larger() -> None:
    wide, high = (Grid(("M",), *shape) for shape in ((2, 6), (6, 2)))
    for grids, area in (((wide, wide), AREA), ((high, high), AREA)):
        left, right = (m for m in drawn(Grids(grids)) if isinstance(m, Boxes))
        below = right.rect[0, 1] > left.rect[-1, 1]
        assert below == (grids[0] is wide)
        used = Grids(grids).used(STAGE, area)
        assert used.right <= area.right and used.bottom <= area.bottom


def test_notes_say_what_cells_have_no_room_for() -> None:
    small, large = Note(("small",), numbers=False), Note(("large",), numbers=True)
    both = Grids(tuple(Grid(("M",), 2, 12, note=note) for note in (small, large)))
    assert words(drawn(both, area=Rect(0, 0, 700, 300))) == ["M", "M", "large"]
    assert words(drawn(both, area=Rect(0, 0, 300, 66))) == ["M", "small", "M"]
    assert words(drawn(both, ASKS)) == ["M", "M"]


def test_rows_and_columns_of_a_product_meet_and_have_numbers_where_cells_are_large() -> None:
    grids = (Grid((name,), 2, 2, str) for name in "MNP")
    panel = Product(*grids, legend=("heat and number", "heat"))
    marks = drawn(panel)
    assert words(marks) == ["M", "N", "P", *"01" * 4, "heat and number"]
    m, n, p = (panel.spots(STAGE, AREA, name) for name in "MNP")
    assert m is not None and n is not None and p is not None
    assert np.array_equal(m[::2, 1], p[::2, 1]) and np.array_equal(n[:2, 0], p[:2, 0])
    assert panel.spots(STAGE, AREA, "Q") is None
    assert "heat and number" not in words(drawn(panel, ASKS))
    small = words(drawn(panel, area=Rect(0, 0, 100, 100)))
    assert "0" not in small


def test_a_loose_product_gives_up_its_places_for_larger_cells() -> None:
    low = Rect(0, 0, 600, 90)
    fixed = Product(*(Grid((name,), 4, 4) for name in "MNP"))
    loose = replace(fixed, loose=True)
    pitches = []
    for panel in (fixed, loose):
        spots = panel.spots(STAGE, low, "P")
        assert spots is not None
        pitches.append(float(spots[1, 0] - spots[0, 0]))
    assert pitches[0] < pitches[1]
    assert loose.spots(STAGE, Rect(0, 0, 20, 10), "P") is None


def test_hovering_a_cell_says_what_it_is() -> None:
    panel = Grids((WRONG,))
    x, y, width, height = panel.spots(STAGE, AREA, "P")[2].tolist()  # type: ignore[index]
    assert tip_at(STAGE.frame(*drawn(panel)), x + 2, y + 2) == "2"
