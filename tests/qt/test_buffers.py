"""The tab with the buffers of a run: what changed, what was expected, and where it differs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gpuviz.qt.code.buffers_view import COLUMNS, STATE_ROLE, BuffersView
from gpuviz.qt.code.source import BUFFERS
from gpuviz.qt.window.window import Window


@pytest.fixture
def buffers(window: Window, qtbot: QtBot) -> BuffersView:
    """A run of 1000 doubled numbers, one of them wrong, and one buffer that is only read."""
    window.source.tabs.setCurrentIndex(BUFFERS)
    view = window.source.buffers
    before = np.arange(1000, dtype=np.float32)
    after = 2 * before
    after[700] += 0.5
    run = window.source._runs[window.source._role]
    view.show_run(
        replace(run, inputs={"x": before, "y": before}, outputs={"x": before, "y": after})
    )
    qtbot.waitUntil(lambda: view.names.count() == 2)
    return view


def expect(view: BuffersView, text: str, said: str, qtbot: QtBot) -> None:
    """Write what is expected, and wait until it is told how that is."""
    view.field.setText(text)
    view.field.editingFinished.emit()
    qtbot.waitUntil(lambda: said in view.said.said)


def test_the_buffer_that_changed_is_shown_first(buffers: BuffersView) -> None:
    assert buffers.names.currentText() == "y"
    assert buffers.said.said == "999 of 1\u202f000 elements changed"  # twice 0 is 0
    assert buffers.model.rowCount() == -(-1000 // COLUMNS)
    cell = buffers.model.place(700)
    assert cell.data() == "1400.5" and cell.data(STATE_ROLE) == "changed"
    buffers.shown.setCurrentIndex(buffers.shown.findData("before"))
    assert buffers.model.place(700).data() == "700"


def test_the_largest_difference_is_lit_and_told(buffers: BuffersView, qtbot: QtBot) -> None:
    expect(buffers, "2 * x", "1 element is wrong: largest difference 0.5 at [700]", qtbot)
    assert buffers.table.currentIndex() == buffers.model.place(700)
    assert buffers.model.place(700).data(STATE_ROLE) == "worst"
    assert (
        buffers.table.viewport()
        .rect()
        .intersects(buffers.table.visualRect(buffers.model.place(700)))
    )
    tip = buffers.model.place(700).data(Qt.ItemDataRole.ToolTipRole)
    assert "after: 1400.5" in tip and "expected: 1400.0" in tip
    expect(buffers, "where(arange(1000) == 700, 1400.5, 2 * x)", "every element", qtbot)


def test_what_cannot_be_evaluated_is_said_and_the_buffer_stays(
    buffers: BuffersView, qtbot: QtBot
) -> None:
    expect(buffers, "2 * z", "there is no 'z'", qtbot)
    assert buffers.field.property("bad") and buffers.model.place(1).data() == "2"
    expect(buffers, "", "elements changed", qtbot)
    assert not buffers.field.property("bad")


def test_why_there_are_no_arrays_is_said(buffers: BuffersView, window: Window) -> None:
    run = window.source._runs[window.source._role]
    buffers.show_run(replace(run, inputs={}, outputs={}))
    assert buffers.empty.isVisible() and not buffers.table.isVisible()
