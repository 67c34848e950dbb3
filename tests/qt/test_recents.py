"""Recent views and links, as a user meets them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialogButtonBox
from pytestqt.qtbot import QtBot

from gpuviz.qt.commands.palette_dialog import PaletteDialog
from gpuviz.qt.history import view_history
from gpuviz.qt.history.link_commands import LinkDialog
from gpuviz.qt.window.window import Window
from gpuviz.story.kernel_launch import KernelLaunch
from gpuviz.story.own_kernel.story import lesson_of
from gpuviz.views.link import link, parse

pytestmark = pytest.mark.usefixtures("course")
Key = Qt.Key
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
OK = QDialogButtonBox.StandardButton.Ok


def entries(window: Window) -> list[str]:
    return [action.text() for action in window.history.recent_menu.actions()]


def palette(window: Window, text: str) -> PaletteDialog:
    QTest.keyClick(window.stage, Key.Key_K, CONTROL)
    dialog = next(d for d in window.findChildren(PaletteDialog) if d.isVisible())
    dialog.line.setText(text)
    return dialog


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_history, "LOOKED_MS", 40)
    monkeypatch.setattr(view_history, "LEFT_MS", 30)


def test_a_view_looked_at_for_some_time_is_remembered(
    quick: None, make: Callable[[], Window], qtbot: QtBot
) -> None:
    window = make()
    window.view.set_values({"stride": 5})
    qtbot.waitUntil(lambda: "Coalescing · stride 5 · CC 9.0" in entries(window))


def test_a_view_that_was_only_passed_is_not(window: Window, qtbot: QtBot) -> None:
    assert not window.history.recent_menu.menuAction().isEnabled()
    for lesson in ("strides", "sums", "pairs"):
        window.actions_[f"open.{lesson}"].trigger()
        qtbot.wait(20)
    assert entries(window) == []


def test_leaving_a_lesson_remembers_how_it_was(
    window: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view_history, "LEFT_MS", 30)
    window.view.set_values({"stride": 7})
    qtbot.wait(50)
    window.player.seek(2.5)
    window.actions_["lesson.next"].trigger()
    assert entries(window) == ["Coalescing · stride 7 · CC 9.0"]
    assert window.history.recents.views[0].time == 2.5


def test_a_recent_view_is_shown_again_from_menu_and_palette(window: Window, qtbot: QtBot) -> None:
    window.view.set_values({"stride": 7})
    window.player.seek(2.5)
    QTest.keyClick(window.stage, Key.Key_L, CONTROL | SHIFT)
    window.actions_["open.sums"].trigger()
    with qtbot.waitSignal(window.director.performed):
        window.history.recent_menu.actions()[0].trigger()
    assert (window.view.now.lesson.id, window.view.now.values["stride"]) == ("pairs", 7)
    assert window.player.t == 2.5
    window.actions_["open.sums"].trigger()
    dialog = palette(window, "recent stride 7")
    assert dialog.found()[0] == "Coalescing · stride 7 · CC 9.0"
    QTest.keyClick(dialog.line, Key.Key_Return)
    assert window.view.now.lesson.id == "pairs"


def test_they_last_from_start_to_start_and_damaged_ones_are_left_out(
    make: Callable[[], Window],
) -> None:
    first = make()
    first.history.recents.keep()
    first.view.set_values({"stride": 7})
    first.history.recents.keep()
    first.close()
    kept = first.settings
    lines = json.loads(kept.text("recents", ""))
    bad = ["nonsense", "gpuviz://gone", "gpuviz://pairs?stride=900", 7, None]
    kept.keep("recents", json.dumps([*bad, *lines]))
    assert entries(make()) == ["Coalescing · stride 7 · CC 9.0", "Coalescing · CC 9.0"]
    kept.keep("recents", "{damaged")
    assert entries(make()) == []


def own_lesson(window: Window, file: Path) -> None:
    file.write_text("// nothing")
    launch = KernelLaunch(file, "pairs", "pairs", (1, 1, 1), (32, 1, 1), ("f32[32]=rand",))
    window.course.open_any(lesson_of(launch))


def test_an_own_kernel_is_remembered_and_missed_when_its_file_is_gone(
    make: Callable[[], Window], tmp_path: Path
) -> None:
    first = make()
    file = tmp_path / "mine.cu"
    own_lesson(first, file)
    first.history.recents.keep()
    first.close()
    second = make()
    assert entries(second) == ["pairs (mine.cu) · <<<1, 32>>> · CC 9.0"]
    file.unlink()
    second.history.recent_menu.actions()[0].trigger()
    assert "there is no file" in second.message.text.toPlainText()
    assert "mine.cu" in second.message.text.toPlainText()
    assert second.view.now.lesson.id == "pairs"
    file.write_text("// here again")
    second.history.recent_menu.actions()[0].trigger()
    assert second.view.now.lesson.title == "pairs (mine.cu)"


def test_the_link_to_a_view_is_copied(window: Window, qtbot: QtBot) -> None:
    window.view.set_values({"stride": 7})
    window.player.seek(2.5)
    QTest.keyClick(window.stage, Key.Key_L, CONTROL | SHIFT)
    view = parse(QGuiApplication.clipboard().text())
    assert (view.lesson, view.values["stride"], view.time) == ("pairs", "7", 2.5)
    assert "clipboard" in window.status.running.text()


def ask(window: Window) -> LinkDialog:
    window.actions_["file.link"].trigger()
    dialog = window.history.links.dialog
    assert dialog is not None and dialog.isVisible()
    return dialog


def test_open_link_says_what_is_wrong_while_it_is_typed(window: Window, qtbot: QtBot) -> None:
    QGuiApplication.clipboard().setText("something else")
    dialog = ask(window)
    accept = dialog.buttons.button(OK)
    assert dialog.line.text() == "" and not accept.isEnabled()
    QTest.keyClicks(dialog.line, "gpuviz://pairs?stride=9")
    assert "stride 9" in dialog.said.text() and accept.isEnabled()
    QTest.keyClicks(dialog.line, "9")
    assert "from 1 to 32" in dialog.said.text() and not accept.isEnabled()
    QTest.keyClick(dialog.line, Key.Key_Backspace)
    with qtbot.waitSignal(window.director.performed):
        QTest.mouseClick(accept, Qt.MouseButton.LeftButton)
    assert window.view.now.values["stride"] == 9


def test_open_link_offers_the_one_on_the_clipboard(window: Window) -> None:
    QGuiApplication.clipboard().setText("  gpuviz://sums?stride=4\n")
    dialog = ask(window)
    assert dialog.line.text() == "gpuviz://sums?stride=4"
    QTest.keyClick(dialog.line, Key.Key_Return)
    assert window.view.now.lesson.id == "sums"


def test_a_link_pasted_into_the_palette_is_offered(window: Window) -> None:
    dialog = palette(window, "gpuviz://sums?stride=4")
    assert dialog.found() == ["Open this view: Matmul: tiled · stride 4 · CC 9.0"]
    QTest.keyClick(dialog.line, Key.Key_Return)
    assert (window.view.now.lesson.id, window.view.now.values["stride"]) == ("sums", 4)


def test_a_wrong_link_in_the_palette_says_why(window: Window) -> None:
    dialog = palette(window, "gpuviz://sums?stride=400")
    assert dialog.found() == ["▲ stride cannot be 400; it goes from 1 to 32"]
    QTest.keyClick(dialog.line, Key.Key_Return)
    assert dialog.isVisible() and window.view.now.lesson.id == "pairs"
    dialog.reject()


def test_links_go_round(window: Window) -> None:
    window.view.set_values({"stride": 7, "element": "double", "guard": True})
    window.actions_["compare.toggle"].trigger()
    view = window.recorder.record()
    again = window.recorder.fit(parse(link(view)))
    assert (again.values, again.compare_values) == (view.values, view.compare_values)
