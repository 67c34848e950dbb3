"""Undo and redo in a text field: its own while it has something to undo, else the window's."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QLineEdit, QWidget
from shiboken6 import isValid

_UNDO = (QKeySequence("Ctrl+Z"),)
_REDO = (QKeySequence("Ctrl+Shift+Z"), QKeySequence("Ctrl+Y"))


class TextUndo(QObject):
    """Watches the text field that has the focus, and no other widget."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._watched: QWidget | None = None
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._follow)

    def _follow(self, old: QWidget | None, new: QWidget | None) -> None:
        if self._watched is not None and isValid(self._watched):
            self._watched.removeEventFilter(self)
        self._watched = new if isinstance(new, QLineEdit | QAbstractSpinBox) else None
        if self._watched is not None:
            self._watched.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Claim the keys for the field, or leave them to the window."""
        kinds = (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress)
        if not isinstance(event, QKeyEvent) or event.type() not in kinds:
            return False
        line = watched.lineEdit() if isinstance(watched, QAbstractSpinBox) else watched
        if not isinstance(line, QLineEdit):
            return False
        keys = QKeySequence(event.keyCombination())
        if keys in _UNDO:
            return self._offer(event, line.isUndoAvailable(), line.undo)
        if keys in _REDO:
            return self._offer(event, line.isRedoAvailable(), line.redo)
        return False

    def _offer(self, event: QKeyEvent, own: bool, do: Callable[[], None]) -> bool:
        event.setAccepted(own)
        if own and event.type() == QEvent.Type.KeyPress:
            do()
        return True
