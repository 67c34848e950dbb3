"""What a user is asked about a lecture's file: where it is, and what becomes of changes."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from gpuviz.lectures.lecture import SUFFIX
from gpuviz.qt.controls.asking import answer
from gpuviz.words.language import tr

_KINDS = QMessageBox.StandardButton


def path_to_open(window: QWidget) -> Path | None:
    """The file of a lecture."""
    told, _ = QFileDialog.getOpenFileName(window, tr("Open lecture"), "", _kinds())
    return Path(told) if told else None


def path_to_save(window: QWidget, path: Path | None, title: str) -> Path | None:
    """The file to write a lecture to: where it is now, or one named after its title."""
    name = path or Path.home() / f"{_file_name(title)}{SUFFIX}"
    told, _ = QFileDialog.getSaveFileName(window, tr("Save lecture"), str(name), _kinds())
    return Path(told) if told else None


def unsaved_box(window: QWidget, name: str) -> QMessageBox:
    """Asks what becomes of changes that are not saved."""
    box = QMessageBox(
        QMessageBox.Icon.Question,
        "gpuviz",
        tr("Save the changes of the lecture “{name}”?", name=name),
        _KINDS.Save | _KINDS.Discard | _KINDS.Cancel,
        window,
    )
    box.setTextFormat(Qt.TextFormat.PlainText)
    said = {_KINDS.Save: tr("Save"), _KINDS.Discard: tr("Do not save"), _KINDS.Cancel: tr("Cancel")}
    for kind, text in said.items():
        box.button(kind).setText(text)
    return box


def about_unsaved(window: QWidget, name: str) -> str:
    """What becomes of changes that are not saved: "save", "discard" or "cancel"."""
    answers = {_KINDS.Save: "save", _KINDS.Discard: "discard"}
    return answers.get(_KINDS(answer(unsaved_box(window, name))), "cancel")


def _kinds() -> str:
    return f"{tr('Lectures')} (*{SUFFIX});;{tr('All files')} (*)"


def _file_name(title: str) -> str:
    """A file name from the title."""
    words = "".join(c.lower() if c.isalnum() else "-" for c in title).strip("-")
    return words or "lecture"
