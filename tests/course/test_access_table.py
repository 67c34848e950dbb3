"""The table of accesses: what stands in its cells, and what is left out where there is no room."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuviz.course.together.matmul_common.access_table import Accesses, AccessTable
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage

STAGE = Stage(760, 480, DARK)
ASKS = replace(STAGE, question="How often is each element read?")
ELEMENT = np.array([[0, 0, -1], [1, 1, -1]])  # two steps of three threads
BEFORE = np.array([[0, 1, 0], [0, 1, 0]])
ARRAY = Accesses(ELEMENT, BEFORE, 2, lambda e: f"M{e}", lambda e: f"element {e}")
TABLE = AccessTable(
    ("A long name", "Name"), (ARRAY,), ("(0)", "(1)", "(2)"), ("k = 0", "k = 1"), 1, 0, 1, True
)


def drawn(area: Rect, stage: Stage = STAGE, table: AccessTable = TABLE) -> list[Mark]:
    return list(table.draw(stage, area))


def words(marks: list[Mark]) -> list[str]:
    return [text for mark in marks if isinstance(mark, Texts) for text in mark.strings]


def hatched(marks: list[Mark]) -> list[int]:
    return [len(m.rect) for m in marks if isinstance(m, Boxes) and m.hatch is not None]


def test_elements_accessed_again_are_hatched_as_they_come() -> None:
    area = Rect(0, 0, 400, 200)
    assert {"A long name", "k = 0", "(2)", "M0", "M1"} <= set(words(drawn(area)))
    assert hatched(drawn(area)) == [1, 2]  # what came again so far, and a thread without elements
    assert hatched(drawn(area, table=replace(TABLE, seen=2))) == [2, 2]
    assert hatched(drawn(area, ASKS)) == [0, 2]


def test_hovering_an_element_says_which_it_is() -> None:
    cells = next(m for m in drawn(Rect(0, 0, 400, 200)) if isinstance(m, Boxes) and m.tip)
    assert [cells.tip(i) for i in range(4)] == [f"element {n}" for n in (0, 1, 0, 1)]  # type: ignore[misc]


def test_a_low_table_has_a_short_name_and_no_caption() -> None:
    low = Rect(0, 0, 400, TABLE.need(STAGE, 400).least)
    assert "Name" in words(drawn(low)) and "A long name" not in words(drawn(low))


def test_a_whole_table_wants_room_for_all_of_it() -> None:
    part = replace(TABLE, whole=False)
    need = TABLE.need(STAGE, 400)
    assert part.need(STAGE, 400).width < need.width and part.need(STAGE, 400).least < need.least
    assert TABLE.window(STAGE, Rect(0, 0, need.width, need.least)) == (0, 3, 0, 2)


def test_a_window_follows_the_step_and_holds_the_thread() -> None:
    narrow = Rect(0, 0, TABLE.need(STAGE, 400).width - 20, 60)
    for seen in (1, 2):
        window = replace(TABLE, seen=seen, now=seen - 1).window(STAGE, narrow)
        assert window is not None and window.steps == 1 and window.step == seen - 1
        assert window.thread <= 1 < window.thread + window.threads
    assert TABLE.window(STAGE, Rect(0, 0, 10, 60)) is None
    assert drawn(Rect(0, 0, 10, 60)) == []
