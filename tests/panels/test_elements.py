"""Elements in their lanes' colours, and the table of who takes which of them when."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuviz.draw.hit import tip_at
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Frame, Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.panels.elements import Elements
from gpuviz.panels.panel import Panel
from gpuviz.panels.turn_table import TurnTable

STAGE = Stage(900, 500, DARK)
AREA = Rect(20, 20, 400, 400)


def drawn(panel: Panel, area: Rect = AREA, stage: Stage = STAGE) -> Frame:
    return stage.frame(*panel.draw(stage, area))


def words(frame: Frame) -> list[str]:
    return [s for mark in frame.marks if isinstance(mark, Texts) for s in mark.strings]


def elements(**given: object) -> Elements:
    """Eight elements in rows of four, of which 0 to 5 belong to lanes and 4 and 5 are now."""
    nobody = np.zeros(8, bool)
    usual = {
        "columns": 4,
        "lane": np.array([0, 1, 2, 3, 4, 5, -1, -1]),
        "done": np.ones(8),
        "now": np.isin(np.arange(8), (4, 5)),
        "captions": ("two rows of elements", "elements"),
        "tip": lambda i: f"element {i}",
        "along": nobody,
    }
    return Elements(**(usual | given))  # type: ignore[arg-type]


def cells(frame: Frame) -> Boxes:
    return next(m for m in frame.marks if isinstance(m, Boxes) and m.tip)


def test_elements_have_the_colour_of_their_lane_and_say_what_they_are() -> None:
    shown = drawn(elements())
    found = cells(shown)
    assert found.fill is not None and (found.fill[:6] == DARK.lanes[:6]).all()
    assert (found.fill[6:] == DARK.cell).all()
    x, y, width, height = found.rect[6].tolist()
    assert tip_at(shown, x + width / 2, y + height / 2) == "element 6"
    dim = cells(drawn(elements(done=np.zeros(8)))).fill
    assert dim is not None and not (dim[:6] == DARK.lanes[:6]).all(axis=1).any()


def test_what_came_along_is_hatched_and_kept_back_from_a_class() -> None:
    panel = elements(along=np.isin(np.arange(8), (3, 7)))

    def hatched(stage: Stage) -> int:
        marks = drawn(panel, stage=stage).marks
        return sum(len(m.rect) for m in marks if isinstance(m, Boxes) and m.hatch is not None)

    assert (hatched(STAGE), hatched(replace(STAGE, question="How many?"))) == (2, 0)


@pytest.mark.parametrize("width, boxes", [(400, 2), (36, 1)])
def test_small_neighbours_are_outlined_together(width: float, boxes: int) -> None:
    marks = drawn(elements(), Rect(20, 20, width, 400)).marks
    lines = [m for m in marks if isinstance(m, Boxes) and m.stroke is not None]
    assert [len(m.rect) for m in lines] == [boxes]


def test_numbers_stand_where_they_can_be_read() -> None:
    assert "7" in words(drawn(elements(numbered=True)))
    assert "7" not in words(drawn(elements(numbered=True), Rect(20, 20, 60, 400)))
    assert "7" not in words(drawn(elements()))


def turns(now: float, count: int = 64) -> TurnTable:
    taken = np.arange(count)[:, None] * 4 + np.arange(4)
    return TurnTable(
        taken,
        np.arange(4) * 8,
        now,
        ("elements",),
        lambda thread: f"thread {thread}",
        lambda turn, thread: f"{taken[turn, thread]} by thread {thread}",
    )


def test_the_first_turns_the_last_and_the_one_under_way_are_shown() -> None:
    assert len(turns(0, 8).taken) == 8 and "28" in words(drawn(turns(0, 8)))
    shown = words(drawn(turns(30.5)))
    assert {"0", "63", "30", "…"} <= set(shown) and "200" not in shown
    shown = drawn(turns(30.5))
    lit = next(m for m in shown.marks if isinstance(m, Texts) and m.bold and "120" in m.strings)
    assert lit.tip is not None and lit.tip(1) == "121 by thread 1"


def test_all_columns_get_the_width_they_need() -> None:
    assert turns(0).need(STAGE, 900).width > 4 * 2 * STAGE.text(14)
