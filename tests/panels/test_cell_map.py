"""Maps of memory cells: their colours, what is hatched when, outlines, names, and their room."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuviz.draw.hit import tip_at
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Frame, Raster, Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.panels.cell_map import Blank, CellMap, Outline
from gpuviz.panels.panel import Panel

STAGE = Stage(700, 500, DARK)
AREA = Rect(20, 20, 400, 440)
ASKS = replace(STAGE, question="How many?")


def cells(**more: object) -> CellMap:
    """Four rows of eight cells, the last row of which holds nothing."""
    lane = np.where(np.arange(32) < 24, np.arange(32) % 8, -1)
    done = (np.arange(32) < 8).astype(float)
    shown = CellMap(("tile",), 4, 8, lane, done, False, lambda i: f"cell {i}")
    return replace(shown, **more)  # type: ignore[arg-type]


def drawn(panel: Panel, stage: Stage = STAGE, area: Rect = AREA) -> Frame:
    return stage.frame(*panel.draw(stage, area))


def said(picture: Frame) -> list[str]:
    return [text for m in picture.marks if isinstance(m, Texts) for text in m.strings]


def hatched(picture: Frame) -> list[int]:
    marks = [m for m in picture.marks if isinstance(m, Boxes) and m.hatch is not None]
    return [len(m.rect) for m in marks]


def test_a_cell_is_empty_or_dim_until_its_element_is_there() -> None:
    empty, dim = (
        next(m.fill for m in drawn(cells(ahead=ahead)).marks if isinstance(m, Boxes))
        for ahead in (False, True)
    )
    assert empty is not None and dim is not None
    assert (empty[:8] == DARK.lanes[:8]).all() and (dim[:8] == DARK.lanes[:8]).all()
    assert (empty[8:24] == DARK.cell).all() and (
        dim[8:24] == DARK.todo(DARK.lanes[np.arange(16) % 8])
    ).all()
    assert (dim[24:] == DARK.cell).all()


def test_unused_cells_are_hatched_and_waste_once_the_class_has_answered() -> None:
    panel = cells(unused=np.arange(24, 32), wasted=np.array([3, 4]))
    assert hatched(drawn(panel)) == [8, 2]
    assert hatched(drawn(panel, ASKS)) == [8]


def test_an_outline_goes_around_a_run_of_cells() -> None:
    (line,) = [
        m.rect
        for m in drawn(cells(outlines=(Outline(np.array([[1, 2, 3]]), "accent"),))).marks
        if isinstance(m, Boxes) and m.stroke is not None
    ]
    boxes = next(m.rect for m in drawn(cells()).marks if isinstance(m, Boxes))
    assert line[0, 0] == boxes[10, 0] and line[0, 1] == boxes[10, 1]
    assert line[0, 2] == boxes[12, 0] + boxes[12, 2] - boxes[10, 0]


def test_hovering_names_the_cell_in_boxes_and_in_images() -> None:
    for area, kind in ((AREA, Boxes), (Rect(20, 20, 40, 60), Raster)):
        picture = drawn(cells(names=()), area=area)
        assert isinstance(picture.marks[0], kind)
        wide, high = area.width / 8, min(area.height, 4 * 30) / 4
        assert tip_at(picture, area.x + wide * 2.5, area.y + high * 1.5) == "cell 10"


def test_rows_and_columns_are_named_as_far_as_there_is_room() -> None:
    panel = cells(row_name=lambda row: f"row {row}", column_name=str, corner="lane")
    assert said(drawn(panel)) == ["tile", "row 0", "row 1", "row 2", "row 3", "0", "4", "lane"]
    low = said(drawn(panel, area=AREA._replace(height=70)))
    assert [text for text in low if text.startswith("row")] == ["row 0", "row 2"]


def test_a_square_map_wishes_to_be_as_high_as_wide_and_so_does_one_that_is_not_there() -> None:
    head = STAGE.text(14) * 1.5
    for panel in (cells(aspect=1.0), Blank(("tile",), "not used")):
        assert panel.need(STAGE, 200).height == head + 200
    assert "not used" in said(drawn(Blank(("tile",), "not used")))
    assert cells().need(STAGE, 200).height == head + 5 * STAGE.text(14)


def test_waste_over_an_element_that_is_there_leaves_its_colour() -> None:
    marks = drawn(cells(wasted=np.array([3, 20]))).marks
    hatched = [m for m in marks if isinstance(m, Boxes) and m.hatch is not None]
    assert [m.fill is None for m in hatched] == [True, False]


def test_words_stand_in_cells_where_they_can_be_read() -> None:
    panel = cells(words=tuple(map(str, range(32))), aspect=2.0)
    assert "31" in said(drawn(panel))
    assert "31" not in said(drawn(panel, area=Rect(20, 20, 120, 440)))


@pytest.mark.parametrize("area", [Rect(20, 20, 600, 140), Rect(20, 20, 300, 440)])
def test_notes_stand_in_the_room_that_is_left(area: Rect) -> None:
    panel = cells(notes=("first", "second"), aspect=2.0)
    assert {"first", "second"} <= set(said(drawn(panel, area=area)))
    assert "first" not in said(drawn(panel, area=Rect(20, 20, 400, 230)))


def test_small_cells_below_each_other_are_outlined_together() -> None:
    column = np.array([[row, 2, 1] for row in range(4)])
    panel = cells(outlines=(Outline(column, "outline", bold=True),))

    def lines(height: float) -> int:
        marks = drawn(panel, area=Rect(20, 20, 400, height)).marks
        return sum(len(m.rect) for m in marks if isinstance(m, Boxes) and m.stroke is not None)

    assert (lines(300), lines(45)) == (4, 1)
