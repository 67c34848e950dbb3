"""Find and replace in the words of the lecture that is open."""

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QWidget

from gpuviz.lectures.lecture_texts import replaced
from gpuviz.qt.controls.controls import Switch, answers, label, text_line
from gpuviz.qt.controls.layouts import DIALOG, column_of, form_of, row_of
from gpuviz.qt.lecture.document import Document
from gpuviz.qt.look.theme import Theme
from gpuviz.words.language import tr, trn


class ReplaceDialog(QDialog):
    """Tells how often a text is there while it is typed; replaces all of them as one change."""

    def __init__(self, document: Document, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._document = document
        self.setWindowTitle(tr("Find and replace in the lecture"))
        self.wanted, self.by = text_line(tr("Find")), text_line(tr("Replace by"))
        self.case = Switch(tr("large and small letters differ"), theme)
        self.found = label(tr("titles, words, notes and questions are looked through"), "quiet")
        self.buttons = answers(self, tr("Replace all"))
        words = label(self.case.accessibleName(), "quiet")
        case = row_of(self.case, (words, 1), gap=8)
        rows = (tr("find"), self.wanted), (tr("replace by"), self.by), ("", case)
        column_of(form_of(rows), self.found, self.buttons, on=self, gap=10, margins=DIALOG)
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

    def _look(self) -> None:
        lecture, find = self._document.lecture, self.wanted.text()
        count = 0 if lecture is None else replaced(lecture, find, "", self.case.isChecked())[1]
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(count > 0)
        if find:
            self.found.setText(trn("found in {n} place", "found in {n} places", count))
