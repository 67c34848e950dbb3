"""A line below the code to find words in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QTextCursor, QTextDocument
from PySide6.QtWidgets import QPushButton, QWidget

from gpuviz.qt.controls.controls import button, keep_space, label, text_line
from gpuviz.qt.controls.layouts import row_of
from gpuviz.words.language import tr, trn

if TYPE_CHECKING:
    from gpuviz.qt.code.code_view import CodeView

_SHIFT = Qt.KeyboardModifier.ShiftModifier


class FindBar(QWidget):
    """Finds in the code it is begun with: Return the next place, with Shift the one before."""

    closed = Signal()  # Esc

    def __init__(self) -> None:
        super().__init__()
        self._view: CodeView | None = None
        self.line = text_line(tr("Find"), "", tr("Find"))
        self.line.setMaximumWidth(320)
        self.line.textChanged.connect(lambda text: self._search(anew=True))
        self.line.installEventFilter(self)
        self.said = label("", "quiet")
        chips = [
            self._chip("↑", tr("The one before"), back=True),
            self._chip("↓", tr("Next"), back=False),
        ]
        row_of(self.line, *chips, self.said, 1, on=self, margins=(8, 2, 12, 4))
        self.hide()

    def _chip(self, text: str, name: str, back: bool) -> QPushButton:
        made = button(text, name, "chip", name)
        made.clicked.connect(lambda: self.go(back))
        keep_space(made)
        return made

    def begin(self, view: CodeView) -> None:
        """Find in this code; what is selected there is what to find."""
        self._view = view
        if (chosen := view.textCursor().selectedText()) and "\u2029" not in chosen:
            self.line.setText(chosen)
        self.show()
        self.line.setFocus()
        self.line.selectAll()
        self._count()

    def go(self, back: bool = False) -> None:
        """The next place, or the one before; round the end."""
        self._search(back)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Return and Esc in the line."""
        if not isinstance(event, QKeyEvent) or event.type() not in (
            QEvent.Type.KeyPress,
            QEvent.Type.ShortcutOverride,
        ):
            return False
        leave = event.key() == Qt.Key.Key_Escape
        if not leave and event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            return False
        event.accept()
        if event.type() == QEvent.Type.KeyPress:
            if leave:
                self.hide()
                self.closed.emit()
            else:
                self.go(bool(event.modifiers() & _SHIFT))
        return True

    def _search(self, back: bool = False, anew: bool = False) -> None:
        view, wanted = self._view, self.line.text()
        if view is None or not wanted:
            self.said.setText("")
            return
        cursor = view.textCursor()
        if anew:
            cursor.setPosition(cursor.selectionStart())
        how = QTextDocument.FindFlag.FindBackward if back else QTextDocument.FindFlag(0)
        found = view.document().find(wanted, cursor, how)
        if found.isNull():
            end = QTextCursor.MoveOperation.End if back else QTextCursor.MoveOperation.Start
            cursor.movePosition(end)
            found = view.document().find(wanted, cursor, how)
        if not found.isNull():
            view.setTextCursor(found)
            view.centerCursor()
        self._count()

    def _count(self) -> None:
        wanted = self.line.text().casefold()
        if self._view is None or not wanted:
            self.said.setText("")
            return
        many = self._view.toPlainText().casefold().count(wanted)
        self.said.setText(trn("{n} place", "{n} places", many) if many else tr("not found"))
