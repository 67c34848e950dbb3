"""Undo and redo by keys, as a user does."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from gpuviz.qt.controls.knobs import NumberKnob
from gpuviz.qt.window.window import Window
from gpuviz.recordings.measurement import DeviceFacts
from gpuviz.views import history
from tests.qt.fake_lesson import FakePerform

Key = Qt.Key
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def undo(window: Window, where: QWidget | None = None) -> None:
    QTest.keyClick(where or window.stage, Key.Key_Z, CONTROL)
    QApplication.processEvents()


def redo(window: Window, where: QWidget | None = None) -> None:
    QTest.keyClick(where or window.stage, Key.Key_Y, CONTROL)
    QApplication.processEvents()


def knob(window: Window) -> NumberKnob:
    made = window.parameters.knobs["stride"]
    assert isinstance(made, NumberKnob)
    return made


def settle(window: Window, qtbot: QtBot) -> None:
    QApplication.processEvents()
    qtbot.waitUntil(lambda: not window.director.performer.busy)


def test_every_kind_of_change_goes_back_and_forward(window: Window, qtbot: QtBot) -> None:
    def state() -> tuple[object, ...]:
        return (
            window.view.now.lesson.id,
            dict(window.view.now.values),
            window.view.now.arch,
            window.view.now.level,
            window.view.now.compared,
            dict(window.view.now.compare_values) if window.view.now.compared else {},
        )

    seen = [state()]
    steps: list[Callable[[], object]] = [
        lambda: QTest.keyClick(knob(window).slider, Key.Key_Right),
        lambda: window.actions_["arch.sm_80"].trigger(),
        lambda: window.parameters.presets[1][1].click(),
        lambda: window.actions_["level.ptx"].trigger(),
        lambda: window.actions_["compare.toggle"].trigger(),
        lambda: QTest.keyClick(knob(window).slider, Key.Key_Right),
        lambda: window.actions_["compare.swap"].trigger(),
        lambda: window.actions_["lesson.next"].trigger(),
        lambda: window.actions_["lesson.reset"].trigger(),
    ]
    for step in steps:
        step()
        settle(window, qtbot)
        seen.append(state())
    assert len({str(one) for one in seen}) == len(seen)
    for wanted in reversed(seen[:-1]):
        undo(window)
        assert state() == wanted
    assert not window.actions_["edit.undo"].isEnabled()
    for wanted in seen[1:]:
        QTest.keyClick(window.stage, Key.Key_Z, CONTROL | SHIFT)
        assert state() == wanted
    assert not window.actions_["edit.redo"].isEnabled()


def test_the_command_says_what_it_undoes(window: Window) -> None:
    action = window.actions_["edit.undo"]
    assert (action.text(), action.isEnabled()) == ("Undo", False)
    window.view.set_values({"stride": 5})
    QApplication.processEvents()
    assert (action.text(), action.isEnabled()) == ("Undo: stride 2 → 5", True)
    undo(window)
    assert (action.text(), action.isEnabled()) == ("Undo", False)
    assert window.actions_["edit.redo"].text() == "Redo: stride 2 → 5"


def test_a_drag_of_a_slider_is_one_step(window: Window) -> None:
    slider = knob(window).slider
    for _ in range(6):
        QTest.keyClick(slider, Key.Key_Right)
        QApplication.processEvents()
    assert window.view.now.values["stride"] == 8
    undo(window)
    assert window.view.now.values["stride"] == 2
    redo(window)
    assert window.view.now.values["stride"] == 8


def test_changes_with_a_pause_between_are_two_steps(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "BURST", 0.0)
    slider = knob(window).slider
    for _ in range(2):
        QTest.keyClick(slider, Key.Key_Right)
        QApplication.processEvents()
    undo(window)
    assert window.view.now.values["stride"] == 3


def test_undo_keeps_the_place_in_the_story(window: Window, qtbot: QtBot) -> None:
    window.view.set_values({"stride": 5})
    settle(window, qtbot)
    window.player.seek(3.5)
    undo(window)
    qtbot.waitUntil(lambda: "word 2" in window.player.story.title)  # type: ignore[union-attr]
    assert window.player.t == 3.5


def test_undoing_a_change_of_lesson_goes_to_where_it_was_left(window: Window, qtbot: QtBot) -> None:
    window.player.seek(2.5)
    window.actions_["lesson.next"].trigger()
    settle(window, qtbot)
    window.player.seek(1.5)
    with qtbot.waitSignal(window.director.performed):
        undo(window)
    assert (window.view.now.lesson.id, window.player.t) == ("pairs", 2.5)
    with qtbot.waitSignal(window.director.performed):
        redo(window)
    assert (window.view.now.lesson.id, window.player.t) == ("strides", 1.5)


def test_values_that_make_no_sense_can_be_undone_and_redone(window: Window, qtbot: QtBot) -> None:
    window.view.set_values({"element": "double"})
    settle(window, qtbot)
    window.view.set_values({"stride": 9})
    QApplication.processEvents()
    assert window.parameters.problem.isVisible()
    undo(window)
    assert not window.parameters.problem.isVisible()
    redo(window)
    assert window.parameters.problem.isVisible()
    assert not window.message.isVisible()


def test_what_a_gpu_changes_is_not_undone(window: Window) -> None:
    window.view.set_values({"stride": 5})
    window.features.suit(DeviceFacts(0, "GPU", "8.0", "580", "13.0", 108, 1, 1))
    assert window.view.now.arch == "sm_80"
    undo(window)
    assert (window.view.now.arch, window.view.now.values["stride"]) == ("sm_90", 2)
    assert not window.actions_["edit.undo"].isEnabled()


def test_the_own_undo_of_a_text_field_comes_first(window: Window, perform: FakePerform) -> None:
    spin = knob(window).spin
    spin.setFocus()
    spin.selectAll()
    QTest.keyClicks(spin, "17")
    undo(window, spin)
    assert spin.lineEdit().text() != "17"
    assert window.view.now.values["stride"] == 2
    redo(window, spin)
    assert spin.lineEdit().text() == "17"


def test_a_text_field_without_anything_to_undo_leaves_the_keys_to_the_window(
    window: Window,
) -> None:
    spin = knob(window).spin
    spin.setFocus()
    QTest.keyClick(spin, Key.Key_Up)
    QApplication.processEvents()
    assert window.view.now.values["stride"] == 3
    undo(window, spin)
    assert window.view.now.values["stride"] == 2
    redo(window, spin)
    assert window.view.now.values["stride"] == 3
