"""Differences of code: what went and came, and how many lines there is no room for."""

from __future__ import annotations

from gpuviz.course.matrix_products.ladder.panels import Difference, DiffLine, difference
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage

STAGE = Stage(800, 400, DARK)


def words(panel: Difference, width: float, height: float) -> list[str]:
    marks = panel.draw(STAGE, Rect(0, 0, width, height))
    return [s for m in marks if isinstance(m, Texts) for s in m.strings]


def test_lines_far_from_a_change_are_left_out() -> None:
    before = ["a", "b", "c", "d", "e", "f", "g"]
    after = ["a", "b", "c", "d", "e", "F", "g"]
    assert difference(before, after) == (
        DiffLine(" ", "e"),
        DiffLine("-", "f"),
        DiffLine("+", "F"),
        DiffLine(" ", "g"),
    )
    assert DiffLine(" ", "⋯") in difference(["x", *before], ["y", *after])


def test_a_statement_that_is_cut_keeps_its_end() -> None:
    code = "    int column = blockIdx.x * WIDTH + threadIdx.x;"
    _, shown = words(Difference((DiffLine("+", code),)), 380, 200)
    assert shown.startswith("  int column = ") and shown.endswith("…threadIdx.x;")
    assert words(Difference((DiffLine("+", code),)), 800, 200) == ["+", code]


def test_what_has_no_room_is_counted() -> None:
    panel = Difference(tuple(DiffLine("+", f"line{n}") for n in range(40)))
    shown = words(panel, 300, 200)
    lines = [word for word in shown if word.startswith("line")]
    assert f"… {40 - len(lines)} more lines" in shown
    assert len([w for w in words(panel, 900, 200) if w.startswith("line")]) > len(lines)
    assert len([w for w in words(panel, 300, 2000) if w.startswith("line")]) == 40
