"""The tabs of a run's code: lines ranked by cost, and source, PTX and SASS side by side."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpuviz.memory.spread import Place
from gpuviz.qt.code.lines_view import ACCESS, LESSON, RATIO
from gpuviz.qt.code.source import BESIDE, LINES, SOURCE
from gpuviz.qt.window.window import Window


@pytest.fixture
def ranked(window: Window) -> Window:
    """A window with the lines in front, its first lesson reading every other word."""
    window.source.tabs.setCurrentIndex(LINES)
    return window


def test_lines_are_ranked_and_a_row_goes_to_its_line_and_moment(ranked: Window) -> None:
    lines, player = ranked.source.lines, ranked.player
    assert lines.table.isVisible() and lines.model.rows
    loads = [n for n, row in enumerate(lines.model.rows) if row.access.instruction.op == "store"]
    player.seek(0.0)
    lines.table.selectRow(loads[0])
    assert 3 in ranked.source.views[0].lit
    story = player.story
    assert story is not None and story.steps[story.step_at(player.t)].line == 3
    lines.table.activated.emit(lines.table.currentIndex())
    assert ranked.source.tabs.currentIndex() == SOURCE


def test_a_click_on_a_lesson_opens_it(ranked: Window, qtbot: QtBot) -> None:
    lines = ranked.source.lines
    asked: list[str] = []
    lines.lesson_asked.connect(asked.append)
    wrong = next(n for n, row in enumerate(lines.model.rows) if row.access.reason.lesson)
    cell = lines.table.visualRect(lines.model.index(wrong, LESSON))
    qtbot.mouseClick(
        lines.table.viewport(),
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
        cell.center(),
    )
    assert asked == [lines.model.rows[wrong].access.reason.lesson]


def test_copies_of_an_expression_are_a_row_that_opens(ranked: Window, qtbot: QtBot) -> None:
    lines = ranked.source.lines
    first = lines.model.rows[0]
    twice = replace(first, access=replace(first.access, copies=(first.access, first.access)))
    lines.show_rows("one", [twice, *lines.model.rows[1:]])
    count, cell = lines.model.rowCount(), lines.table.visualRect(lines.model.index(0, ACCESS))
    assert "2 ×" in lines.model.index(0, ACCESS).data()
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    qtbot.mouseClick(lines.table.viewport(), left, none, cell.center())
    assert lines.model.rowCount() == count + 2 and lines.model.rows[1].inner
    lines.table.selectRow(0)
    qtbot.keyClick(lines.table, Qt.Key.Key_Asterisk)
    assert lines.model.rowCount() == count


def test_operands_are_told_when_they_are_found(ranked: Window) -> None:
    source = ranked.source
    run = source._runs[source._role]
    at = source.lines.model.rows[0].access.instruction
    source._finder._take(run.trace.ptx, {at.ptx_line: Place(3, 14, "in[i * stride]")})
    assert "in[i * stride]" in source.lines.model.index(0, ACCESS).data()


def test_what_belongs_together_has_one_colour_and_is_lit_together(window: Window) -> None:
    window.source.tabs.setCurrentIndex(BESIDE)
    cuda, ptx, _ = window.source.beside.views
    assert cuda._bands[3] == ptx._bands[15] == ptx._bands[17]
    assert cuda._bands[4] != cuda._bands[3] and 1 not in cuda._bands
    line = next(rect for n, rect in ptx.visible_lines() if n == 15)
    QTest.mouseClick(
        ptx.viewport(),
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
        line.center().toPoint(),
    )
    assert cuda.lit == {3} and {15, 17} <= ptx.lit
    assert "ld.global.f32" in ptx._tips[15]


def test_nothing_is_left_of_a_run_that_is_gone(window: Window) -> None:
    window.source.tabs.setCurrentIndex(LINES)
    window.source.clear()
    assert not window.source.lines.model.rows and window.source.lines.empty.isVisible()


def test_compared_runs_stand_line_by_line_the_ratio_first(ranked: Window, qtbot: QtBot) -> None:
    lines = ranked.source.lines
    assert lines.table.isColumnHidden(RATIO)
    ranked.view.become(ranked.view.now.compare())
    qtbot.waitUntil(lambda: any(row.ratio for row in lines.model.rows))
    assert not lines.table.isColumnHidden(RATIO)
    # A loads 4096 sectors and B 2048; both store 2048, on the same line
    assert lines.model.index(0, RATIO).data() == "0.667×"
    assert "B / A" in lines.model.headerData(RATIO, Qt.Orientation.Horizontal)
