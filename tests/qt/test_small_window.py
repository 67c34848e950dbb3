"""At 1280x720: what lies below the fold is reached by keys, and long titles are not cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from gpuviz.course import SCENES, LessonEntry
from gpuviz.qt.controls.knobs import ChoiceKnob
from gpuviz.qt.window.lesson_list import in_lines
from gpuviz.qt.window.window import Window
from gpuviz.words.language import ENGLISH, choose, languages, tr
from tests.qt import fake_lesson
from tests.qt.fake_lesson import FakePerform

CONTROL = Qt.KeyboardModifier.ControlModifier
ROLES = ("naive", "tiled", "padded", "swizzled")


@pytest.fixture
def small(make: Callable[..., Window], perform: FakePerform) -> Window:
    perform.roles, perform.planned = ROLES, True
    window = make()
    window.resize(1280, 720)
    window.theme.set_scale(1.3)
    QApplication.processEvents()
    return window


def in_view(window: Window, widget: QWidget, at: QPoint) -> bool:
    area = window.panes.side.findChild(QScrollArea)
    assert area is not None
    return area.viewport().rect().contains(widget.mapTo(area.viewport(), at))


def test_the_times_are_gone_to_though_there_is_no_gpu(small: Window, qtbot: QtBot) -> None:
    panel = small.timing
    assert not in_view(small, panel, QPoint(5, 15))
    QTest.keyClick(small.stage, Qt.Key.Key_7, CONTROL)
    assert QApplication.focusWidget() is panel
    assert in_view(small, panel, QPoint(5, 15))
    QTest.keyClick(panel, Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is not panel


def test_the_panel_follows_the_row_of_counts(small: Window) -> None:
    table = small.counts.table
    QTest.keyClick(small.stage, Qt.Key.Key_6, CONTROL)
    last = table.model().index(table.model().rowCount() - 1, 0)
    for _ in range(table.model().rowCount()):
        QTest.keyClick(table, Qt.Key.Key_Down)
    assert table.currentIndex().row() == last.row()
    assert in_view(small, table.viewport(), table.visualRect(last).center() - QPoint(40, 0))
    QTest.keyClick(table, Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is not table


@pytest.fixture(params=languages())
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    choose(request.param)
    yield request.param
    choose(ENGLISH)


def test_no_title_of_a_lesson_is_cut(language: str, window: Window) -> None:
    window.resize(1280, 720)
    measure = QFontMetrics(window.theme.look.font(13, bold=True))
    room = window.lessons.viewport().width() - 86
    assert [x.id for x in SCENES if "…" in in_lines(tr(x.title), measure, room)] == []


def test_a_title_of_three_lines_has_a_higher_row(
    make: Callable[..., Window], monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "Strides, offsets and groups of threads within several warps"
    lessons = (fake_lesson.LESSONS[0], replace(fake_lesson.LESSONS[1], title=long))
    monkeypatch.setattr("tests.qt.conftest.COURSE", tuple(map(LessonEntry.of, lessons)))
    window = make()
    rows = [window.lessons.visualRect(window.lessons.model().index(i, 0)) for i in (1, 2)]
    assert rows[1].height() > rows[0].height()


def test_rows_make_room_for_their_titles_when_the_list_gets_narrow(
    make: Callable[..., Window], monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    long = "Strides, offsets and groups of threads"
    lessons = tuple(replace(one, title=long) for one in fake_lesson.LESSONS)
    monkeypatch.setattr("tests.qt.conftest.COURSE", tuple(map(LessonEntry.of, lessons)))
    window = make()
    window.resize(1309, 720)
    qtbot.wait(150)  # until Qt has laid it out for the other height
    rows = window.lessons.model().rowCount()
    room = window.lessons.viewport().width()
    window.panes.across.setSizes([170, 759, 380])
    qtbot.waitUntil(lambda: window.lessons.viewport().width() < room)
    qtbot.wait(20)
    rects = [window.lessons.visualRect(window.lessons.model().index(i, 0)) for i in range(rows)]
    assert max(rect.height() for rect in rects) > 50  # three lines
    assert all(a.bottom() < b.top() for a, b in pairwise(rects))


def test_seven_runs_leave_the_window_to_the_stage(
    make: Callable[..., Window], perform: FakePerform
) -> None:
    perform.roles = tuple(f"variant number {n}" for n in range(1, 8))
    window = make()
    window.resize(1280, 720)
    QApplication.processEvents()
    assert window.panes.side.width() < 1280 * 0.31 and window.stage.width() > 1280 / 2
    table = window.counts.table
    assert table.names.isVisible() and table.horizontalScrollBar().maximum() > 0
    QTest.keyClick(window.stage, Qt.Key.Key_6, CONTROL)
    QTest.keyClick(table, Qt.Key.Key_Down)
    for column in range(1, table.model().columnCount()):
        QTest.keyClick(table, Qt.Key.Key_Right)
        cell = table.visualRect(table.currentIndex())
        assert table.currentIndex().column() == column
        assert table.names.width() <= cell.left() and cell.right() < table.viewport().width()
    assert table.names.horizontalScrollBar().value() == 0


def test_two_runs_need_no_scrolling(
    make: Callable[..., Window], perform: FakePerform, language: str
) -> None:
    perform.roles = ("naive", "tiled")
    window = make()
    window.resize(1280, 720)
    QApplication.processEvents()
    assert window.counts.table.names.isHidden()
    assert window.counts.table.horizontalScrollBar().maximum() == 0


def test_what_a_list_of_choices_cuts_is_in_its_tip_and_its_popup(window: Window) -> None:
    knob = window.parameters.knobs["element"]
    assert isinstance(knob, ChoiceKnob)
    assert knob.combo.toolTip().startswith("float, 4 bytes")
    window.view.set_values({"element": "double"})
    assert knob.combo.toolTip().startswith("double, 8 bytes")
    knob.combo.showPopup()
    assert knob.combo.view().width() >= knob.combo.view().sizeHintForColumn(0)
    knob.combo.hidePopup()
