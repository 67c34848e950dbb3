"""The table of who takes what when: which turns are shown, what hovering tells."""

from __future__ import annotations

import numpy as np

from gpuviz.course.global_memory.square_array.trials import TurnTable
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Frame, Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Panel

STAGE = Stage(900, 500, DARK)
AREA = Rect(20, 20, 400, 400)


def drawn(panel: Panel) -> Frame:
    return STAGE.frame(*panel.draw(STAGE, AREA))


def words(frame: Frame) -> list[str]:
    return [s for mark in frame.marks if isinstance(mark, Texts) for s in mark.strings]


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
