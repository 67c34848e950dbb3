"""Numbers that are typed: thousands stand apart as everywhere, and are typed either way."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpuviz.qt.controls.spin import Spin
from gpuviz.qt.window.window import Window
from tests.qt.fake_lesson import FakePerform


@pytest.mark.parametrize("typed", ["65536", "65 536", "65\u202f536"])
def test_thousands_stand_apart_and_may_be_typed(
    make: Callable[..., Window], qtbot: QtBot, typed: str
) -> None:
    spin = Spin(make().theme, 6)
    qtbot.addWidget(spin)
    spin.setRange(1, 70_000)
    spin.setValue(20_000)
    assert spin.text() == "20\u202f000"
    spin.lineEdit().selectAll()
    spin.lineEdit().insert(typed)  # as pasted: the test's keyboard has no thin space
    QTest.keyClick(spin, Qt.Key.Key_Return)
    assert (spin.value(), spin.text()) == (65_536, "65\u202f536")
    spin.lineEdit().selectAll()
    QTest.keyClicks(spin, "99999x")
    QTest.keyClick(spin, Qt.Key.Key_Return)
    assert spin.value() == 9_999, "a digit too many, and a letter, are not taken"


def test_tabs_are_seen_whole_before_long_names_of_runs(
    make: Callable[..., Window], perform: FakePerform
) -> None:
    perform.roles = ("interleaved unrolled", "adjacent unrolled, one after the other")
    window = make()
    window.resize(1280, 720)
    QApplication.processEvents()
    source = window.source
    assert source.tabs.width() >= source.tabs.sizeHint().width()
    assert source.roles.isVisible() and source.roles.width() > 80
    shown = [n for n in range(source.tabs.count()) if source.tabs.isTabVisible(n)]
    assert source.tabs.rect().contains(source.tabs.tabRect(shown[-1]))
