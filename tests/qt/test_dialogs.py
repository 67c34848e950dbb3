"""Dialogs leave nothing behind when they are closed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog
from pytestqt.qtbot import QtBot

from gpuviz.qt.export import file_dialogs
from gpuviz.qt.export.file_dialogs import Question
from gpuviz.qt.window.window import Window

COMMANDS = ("help.commands", "help.keys", "view.words", "edit.preferences", "export.still")


def widgets(qtbot: QtBot) -> int:
    qtbot.wait(20)  # what is to be deleted later is deleted
    return len(QApplication.allWidgets())


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_dialog_that_is_closed_is_gone(window: Window, qtbot: QtBot, command: str) -> None:
    def open_and_close() -> None:
        window.actions_[command].trigger()
        (dialog,) = (w for w in window.findChildren(QDialog) if w.isVisible())
        dialog.reject()

    open_and_close()
    before = widgets(qtbot)
    for _ in range(3):
        open_and_close()
    assert widgets(qtbot) <= before


def test_a_file_that_was_asked_for_leaves_no_dialog(
    make: Callable[[], Window], qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = make()
    monkeypatch.setattr(QFileDialog, "exec", lambda self: 0)
    question = Question("Save", tmp_path / "picture.png", (".png",))
    before = widgets(qtbot)
    for _ in range(3):
        assert file_dialogs.ask_where(window, question) is None
    assert widgets(qtbot) <= before
