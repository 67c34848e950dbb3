"""What a user is asked about the file of a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from gpuviz.qt.controls.asking import answer
from gpuviz.words.language import tr

_KINDS = QMessageBox.StandardButton


def unsaved_box(window: QWidget, path: Path) -> QMessageBox:
    """Asks what becomes of changes that are not saved."""
    words = {
        _KINDS.Save: tr("Save"),
        _KINDS.Discard: tr("Do not save"),
        _KINDS.Cancel: tr("Cancel"),
    }
    return _box(window, tr("Save the changes of {file}?", file=path.name), "", words)


def both_box(window: QWidget, path: Path) -> QMessageBox:
    """Asks whose text goes on: another program has changed the file, too."""
    words = {
        _KINDS.Yes: tr("Keep mine"),
        _KINDS.No: tr("Take the file's"),
        _KINDS.Cancel: tr("Decide later"),
    }
    asked = tr("{file} was changed here and by another program", file=path.name)
    more = tr("The one that you do not choose is kept in a file beside it.")
    return _box(window, asked, more, words)


def unsaved(window: QWidget, path: Path) -> str:
    """What becomes of changes that are not saved: "save", "discard" or "cancel"."""
    said = {_KINDS.Save: "save", _KINDS.Discard: "discard"}
    return said.get(_KINDS(answer(unsaved_box(window, path))), "cancel")


def both(window: QWidget, path: Path) -> str:
    """Whose text goes on: "mine", "theirs" or "cancel"."""
    said = {_KINDS.Yes: "mine", _KINDS.No: "theirs"}
    return said.get(_KINDS(answer(both_box(window, path))), "cancel")


def _box(
    window: QWidget, asked: str, more: str, words: Mapping[QMessageBox.StandardButton, str]
) -> QMessageBox:
    kinds = _KINDS.NoButton
    for kind in words:
        kinds |= kind
    box = QMessageBox(QMessageBox.Icon.Question, "gpuviz", asked, kinds, window)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setInformativeText(more)
    for kind, text in words.items():
        box.button(kind).setText(text)
    return box
