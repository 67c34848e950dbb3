"""Find and replace in the words of the lecture that is open."""

from __future__ import annotations

from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from gpuviz.lectures.replacing import replaced
from gpuviz.qt.controls.controls import Switch, answers, label
from gpuviz.qt.lecture.document import Document
from gpuviz.qt.look.theme import Theme
from gpuviz.words.language import tr, trn


class ReplaceDialog(QDialog):
    """Tells how often a text is there while it is typed; replaces all of them as one change."""

    def __init__(self, document: Document, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._document = document
        self.setWindowTitle(tr("Find and replace in the lecture"))
        self.wanted, self.by = QLineEdit(), QLineEdit()
        self.wanted.setAccessibleName(tr("Find"))
        self.by.setAccessibleName(tr("Replace by"))
        self.case = Switch(tr("large and small letters differ"), theme)
        self.found = label(tr("titles, words, notes and questions are looked through"), "quiet")
        self.buttons = answers(self, tr("Replace all"))
        form = QFormLayout()
        form.setHorizontalSpacing(14)
        form.addRow(tr("find"), self.wanted)
        form.addRow(tr("replace by"), self.by)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.case)
        row.addWidget(label(self.case.accessibleName(), "quiet"), 1)
        form.addRow("", row)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 16, 18, 14)
        column.setSpacing(10)
        column.addLayout(form)
        column.addWidget(self.found)
        column.addWidget(self.buttons)
        self.setMinimumWidth(460)
        self.wanted.textChanged.connect(self._look)
        self.case.toggled.connect(self._look)
        document.changed.connect(self._look)
        self._look()

    def accept(self) -> None:
        """Replace all; it can be taken back as one change."""
        find, by, case = self.wanted.text(), self.by.text(), self.case.isChecked()
        self._document.change(lambda lecture: replaced(lecture, find, by, case)[0])
        super().accept()

    def _look(self, *_: object) -> None:
        lecture, find = self._document.lecture, self.wanted.text()
        count = 0 if lecture is None else replaced(lecture, find, "", self.case.isChecked())[1]
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(count > 0)
        if find:
            self.found.setText(trn("found in {n} place", "found in {n} places", count))
