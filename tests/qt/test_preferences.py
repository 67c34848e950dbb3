"""The dialog of preferences and what it sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QPushButton
from pytestqt.qtbot import QtBot

from gpuviz.base.waiting import CHOICES
from gpuviz.gpu.gpu_state import USES
from gpuviz.qt.look.theme import MODES
from gpuviz.qt.preferences.dialog import ListControl, PreferencesDialog, RecordingRow, SliderControl
from gpuviz.qt.window.window import Window
from gpuviz.recordings.measurement import Measurement, Timing
from gpuviz.recordings.recording import Entry, Recording, key_of, write
from tests.qt import fake_gpu
from tests.qt.fake_lesson import LESSONS, FakePerform, plan

Key = Qt.Key
LEFT = Qt.MouseButton.LeftButton
CONTROL = Qt.KeyboardModifier.ControlModifier


def prefer(window: Window) -> PreferencesDialog:
    QTest.keyClick(window.stage, Key.Key_Comma, CONTROL)
    dialog = window.features.preferences
    assert dialog is not None and dialog.isVisible()
    return dialog


def press(dialog: PreferencesDialog, kind: QDialogButtonBox.StandardButton) -> None:
    QTest.mouseClick(dialog.buttons.button(kind), LEFT)


def list_of(dialog: PreferencesDialog, key: str) -> ListControl:
    found = dialog.controls[key]
    assert isinstance(found, ListControl)
    return found


def choose(dialog: PreferencesDialog, key: str, value: object) -> None:
    found = list_of(dialog, key)
    found.setCurrentIndex(found.findData(value))


def scale_of(dialog: PreferencesDialog) -> SliderControl:
    found = dialog.controls["scale"]
    assert isinstance(found, SliderControl)
    return found


def recording_of(dialog: PreferencesDialog) -> RecordingRow:
    found = dialog.controls["recording"]
    assert isinstance(found, RecordingRow)
    return found


def change_all(dialog: PreferencesDialog) -> None:
    choose(dialog, "theme", "light")
    QTest.keyClick(scale_of(dialog).slider, Key.Key_Right)
    QTest.mouseClick(dialog.controls["reduced_motion"], LEFT)
    choose(dialog, "language", "es")
    choose(dialog, "gpu_use", 0.25)
    choose(dialog, "emulation_seconds", 300.0)


def state(window: Window) -> tuple[object, ...]:
    return (
        window.theme.mode,
        window.theme.look.scale,
        window.player.state.calm,
        window.settings.text("language", ""),
        window.meter.state.use,
        window.view.now.seconds,
    )


def test_what_is_chosen_is_in_effect_at_once_and_lasts(make: Callable[[], Window]) -> None:
    window = make()
    dialog = prefer(window)
    assert not dialog.notes["language"].isVisible()
    change_all(dialog)
    wanted = ("light", 1.15, True, "es", 0.25, 300.0)
    assert state(window) == wanted
    assert scale_of(dialog).name.text() == "115 %" and dialog.notes["language"].isVisible()
    press(dialog, QDialogButtonBox.StandardButton.Ok)
    assert state(window) == wanted
    window.close()
    assert state(make()) == wanted


@pytest.mark.slow
@pytest.mark.parametrize("by_key", [False, True])
def test_cancel_brings_back_what_was(window: Window, by_key: bool) -> None:
    window.theme.set_mode("dark")
    before = state(window)
    dialog = prefer(window)
    change_all(dialog)
    assert state(window) != before
    if by_key:
        QTest.keyClick(dialog, Key.Key_Escape)
    else:
        press(dialog, QDialogButtonBox.StandardButton.Cancel)
    assert not dialog.isVisible()
    assert state(window) == before


def test_every_theme_can_be_chosen_and_every_control_has_a_name(
    window: Window, qtbot: QtBot
) -> None:
    dialog = prefer(window)
    theme = list_of(dialog, "theme")
    assert [theme.itemData(i) for i in range(theme.count())] == list(MODES)
    controls = (
        theme,
        scale_of(dialog).slider,
        dialog.controls["reduced_motion"],
        list_of(dialog, "language"),
        list_of(dialog, "gpu_use"),
        list_of(dialog, "emulation_seconds"),
        recording_of(dialog).choose,
        dialog.everything,
    )
    assert all(control.accessibleName() for control in controls)
    dialog.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is dialog)
    theme.setFocus()
    reached = []
    for _ in range(10):
        reached.append(QApplication.focusWidget())
        QTest.keyClick(QApplication.focusWidget(), Key.Key_Tab)
    assert set(controls) <= set(reached)


@pytest.mark.slow
def test_the_dialog_grows_with_the_text(window: Window, qtbot: QtBot) -> None:
    dialog = prefer(window)
    before = dialog.width()
    QTest.keyClick(scale_of(dialog).slider, Key.Key_End)
    qtbot.waitUntil(lambda: dialog.width() > before * 1.3)


@pytest.mark.slow
def test_reduced_motion_plays_from_step_to_step(make: Callable[[], Window], qtbot: QtBot) -> None:
    QGuiApplication.styleHints().setCursorFlashTime(900)
    window = make()
    window.core.motion.reduce(True)
    assert QGuiApplication.styleHints().cursorFlashTime() == 0
    seen: set[float] = set()
    window.player.t_changed.connect(seen.add)
    window.player.set_speed(4.0)
    QTest.keyClick(window.stage, Key.Key_Space)
    qtbot.waitUntil(lambda: not window.player.state.playing)
    assert seen == {1.0, 2.0, 3.0, 4.0, 6.0}
    window.core.motion.reduce(False)
    assert QGuiApplication.styleHints().cursorFlashTime() == 900


def answer(dialog: PreferencesDialog, text: str) -> None:
    QTest.mouseClick(dialog.everything, LEFT)
    button = next(b for b in dialog.asked.findChildren(QPushButton) if b.text() == text)
    QApplication.processEvents()
    QTest.mouseClick(button, LEFT)


@pytest.mark.slow
def test_reset_everything_asks_first_and_keeps_the_recent_views(
    make: Callable[[], Window], qtbot: QtBot
) -> None:
    window = make()
    window.actions_["open.strides"].trigger()
    window.view.set_values({"stride": 9})
    window.actions_["open.sums"].trigger()
    window.view.set_values({"stride": 11})
    for id in ("show.source", "compare.toggle", "arch.sm_80", "level.ptx", "play.faster"):
        window.actions_[id].trigger()
    window.history.recents.keep()
    dialog = prefer(window)
    change_all(dialog)
    before = state(window)
    answer(dialog, "Cancel")
    assert state(window) == before and window.view.now.values["stride"] == 11
    answer(dialog, "Reset")
    reset = ("system", 1.0, False, "", 0.1, 60.0)
    assert state(window) == reset
    assert window.view.now.values == LESSONS[2].defaults()
    assert window.layout_.shown == {"lessons", "source", "side"}
    assert (window.view.now.arch, window.view.now.level) == ("sm_90", "sass")
    assert not window.view.now.compared and window.player.state.speed == 1.0
    press(dialog, QDialogButtonBox.StandardButton.Cancel)
    assert state(window) == reset
    assert window.history.recents.views[0].values["stride"] == 11
    window.activateWindow()
    QApplication.processEvents()
    QTest.keyClick(window.stage, Key.Key_Z, CONTROL)
    assert window.view.now.values["stride"] == 11
    window.close()
    again = make()
    again.actions_["open.strides"].trigger()
    assert again.view.now.values["stride"] == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("scale", "nan"),
        ("scale", "inf"),
        ("scale", "1e6"),
        ("speed", "-1"),
        ("speed", "nan"),
        ("code", "inf"),
        ("code", "1e300"),
        ("code", "nan"),
        ("gpu_use", "nan"),
        ("gpu_use", "0.3"),
        ("gpu_use", "7"),
        ("emulation_seconds", "nan"),
        ("emulation_seconds", "1e9"),
        ("recents", "[" * 50_000),
        ("values/pairs", "[" * 50_000),
        ("export/still", "[" * 50_000),
    ],
)
def test_settings_that_make_no_sense_are_as_usual(
    key: str, value: str, tmp_path: Path, make: Callable[[], Window]
) -> None:
    settings = QSettings(str(tmp_path / "gpuviz.ini"), QSettings.Format.IniFormat)
    settings.setValue(key, value)
    settings.sync()
    window = make()
    assert (window.theme.look.scale, window.player.state.speed) == (1.0, 1.0)
    assert window.source.tabs.currentIndex() == 0 and window.meter.state.use in USES
    assert window.view.now.seconds in CHOICES
    window.actions_["edit.preferences"].trigger()
    dialog = window.features.preferences
    assert dialog is not None
    dialog.controls["reduced_motion"].click()
    assert window.core.motion.reduced
    dialog.reject()
    window.actions_["export.still"].trigger()
    asked = window.files.exporting.dialog
    assert asked is not None
    asked.reject()


def test_a_language_of_a_newer_gpuviz_is_kept(tmp_path: Path, make: Callable[[], Window]) -> None:
    settings = QSettings(str(tmp_path / "gpuviz.ini"), QSettings.Format.IniFormat)
    settings.setValue("language", "xx")
    settings.sync()
    window = make()
    window.actions_["edit.preferences"].trigger()
    dialog = window.features.preferences
    assert dialog is not None and list_of(dialog, "language").currentText() == "English"
    dialog.controls["reduced_motion"].click()
    dialog.accept()
    assert window.settings.text("language", "") == "xx"


def h200(tmp_path: Path) -> Path:
    """A recording of the fake lesson's first preset."""
    facts = replace(fake_gpu.facts(0), name="NVIDIA A100")
    timing = Timing(np.linspace(2.0, 3.0, 101))
    made = Measurement("recorded", "2026-11-20", facts, {}, timing)
    entry = Entry("pairs", "pairs", {}, key_of(plan("pairs", {"stride": 2})), made)
    write(tmp_path / "mine.gpurec", Recording(facts, (entry,)))
    return tmp_path / "mine.gpurec"


def test_the_users_own_recording_is_chosen_named_remembered_and_put_away(
    make: Callable[[], Window], perform: FakePerform, qtbot: QtBot, tmp_path: Path
) -> None:
    perform.planned = True
    window, file = make(), h200(tmp_path)
    row = recording_of(prefer(window))
    assert row.name.said == "no recording" and not row.remove.isEnabled()
    row.ask_which = lambda parent: file
    QTest.mouseClick(row.choose, LEFT)
    qtbot.waitUntil(lambda: row.said.text() == "1 launch on NVIDIA A100")
    assert row.name.said == "mine.gpurec"
    said = "recorded on NVIDIA A100, 2026-11-20, from mine.gpurec"
    qtbot.waitUntil(lambda: said in window.timing.note.text())
    press(window.features.preferences, QDialogButtonBox.StandardButton.Ok)
    window.close()
    again = make()
    qtbot.waitUntil(lambda: said in again.timing.note.text())
    dialog = prefer(again)
    QTest.mouseClick(recording_of(dialog).remove, LEFT)
    qtbot.waitUntil(lambda: said not in again.timing.note.text())
    press(dialog, QDialogButtonBox.StandardButton.Cancel)
    qtbot.waitUntil(lambda: said in again.timing.note.text())


def test_a_recording_that_cannot_be_read_is_not_chosen(
    window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "bad.gpurec").write_text("no recording")
    dialog = prefer(window)
    recording_of(dialog).ask_which = lambda parent: tmp_path / "bad.gpurec"
    QTest.mouseClick(recording_of(dialog).choose, LEFT)
    qtbot.waitUntil(lambda: "damaged" in recording_of(dialog).said.text())
    assert recording_of(dialog).file == "" and window.settings.text("recording", "") == ""


def test_a_launch_is_given_the_time_that_was_chosen(
    make: Callable[[], Window], perform: FakePerform, qtbot: QtBot
) -> None:
    window = make()
    qtbot.waitUntil(lambda: bool(perform.budgets))
    assert set(perform.budgets) == {60.0}
    dialog = prefer(window)
    choose(dialog, "emulation_seconds", 15.0)
    qtbot.waitUntil(lambda: perform.budgets[-1] == 15.0)
