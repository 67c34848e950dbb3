"""What the dialogs for pictures and for films have in common: choices left, a preview right."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QVBoxLayout,
    QWidget,
)

from gpuviz.base.errors import failure_of
from gpuviz.export.formats import Holds, holding
from gpuviz.export.settings import THEME_CHOICES
from gpuviz.qt.controls.controls import Combo, Switch, answers, keep_arrows, keep_space, label
from gpuviz.qt.controls.tab_order import tab_as_laid_out
from gpuviz.qt.export.preview import Preview
from gpuviz.qt.export.size_choice import SizeChoice
from gpuviz.qt.look.theme import Theme
from gpuviz.views.lesson_view import View
from gpuviz.words.language import tr

DRAW_MS = 40  # what is chosen in a hurry is drawn once


class ExportDialog(QDialog):
    """Says what will be written, and why something cannot be; accepts only what can."""

    def __init__(self, title: str, view: View, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.shown_view, self._theme = view, theme
        self.setWindowTitle(title)
        self.setModal(True)
        made = view.provenance
        self.size_ = SizeChoice(theme, (made.width, made.height))
        self.preview = Preview(theme)
        self.said, self.problem = label("", "quiet"), label("", "problem")
        for words in (self.said, self.problem):
            words.setWordWrap(True)
        self.buttons = answers(self, tr("Save …"))
        self.save = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.form = QFormLayout()
        self.form.setHorizontalSpacing(14)
        self.form.setVerticalSpacing(8)
        self._lay_out()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DRAW_MS)
        self._timer.timeout.connect(self._draw)
        self.size_.changed.connect(self.renew)

    def showEvent(self, event: QShowEvent) -> None:
        """The first choice has the focus, the buttons come last."""
        tab_as_laid_out(self)
        super().showEvent(event)

    def renew(self, *_: object) -> None:
        """Something else was chosen."""
        self.suit()
        problem = self.why_not()
        self.problem.setText(f"▲ {problem}" if problem else "")
        self.problem.setVisible(bool(problem))
        self.save.setEnabled(not problem)
        self.said.setText("" if problem else self.words())
        self._timer.start()

    def suit(self) -> None:
        """Show only what applies to what is chosen."""
        raise NotImplementedError

    def why_not(self) -> str:
        """Why what is chosen cannot be written, "" when it can."""
        raise NotImplementedError

    def words(self) -> str:
        """What will be written."""
        raise NotImplementedError

    def draw(self) -> None:
        """Draw the preview."""
        raise NotImplementedError

    def choice(self, name: str, items: Iterable[tuple[str, object]]) -> Combo:
        """A list to choose from, with the words and the value of each item."""
        made = Combo(name, self._theme)
        for words, value in items:
            made.addItem(words, value)
        for keep in (keep_space, keep_arrows):
            keep(made)
        made.currentIndexChanged.connect(self.renew)
        return made

    def formats(self, *holding_: Holds) -> Combo:
        """The list of formats that hold this."""
        rows = holding(*holding_)
        return self.choice(tr("Format"), [(tr(row.name), row.suffix) for row in rows])

    def themes(self, names: Iterable[str]) -> Combo:
        """The list of themes."""
        return self.choice(tr("Colours"), [(tr(THEME_CHOICES[name]), name) for name in names])

    def switch(self, name: str) -> Switch:
        """Yes or no."""
        made = Switch(name, self._theme)
        keep_space(made)
        made.toggled.connect(self.renew)
        return made

    def _draw(self) -> None:
        """A picture that cannot be drawn is a problem, not the end of the dialog."""
        try:
            self.draw()
        except Exception as error:  # a lesson's mistake must not take the dialog down
            self.said.setText(failure_of(error).message)

    def _lay_out(self) -> None:
        left = QVBoxLayout()
        left.addLayout(self.form)
        left.addStretch(1)
        right = QVBoxLayout()
        right.setSpacing(8)
        right.addWidget(self.preview)
        right.addWidget(self.said)
        right.addStretch(1)
        both = QHBoxLayout()
        both.setSpacing(22)
        both.addLayout(left, 1)
        both.addLayout(right)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 16, 18, 14)
        column.setSpacing(12)
        column.addLayout(both)
        column.addWidget(self.problem)
        column.addWidget(self.buttons, alignment=Qt.AlignmentFlag.AlignRight)


def choose(box: Combo, value: object) -> None:
    """Show a value, if the list has it."""
    if (index := box.findData(value)) >= 0:
        box.setCurrentIndex(index)
