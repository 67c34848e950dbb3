"""A line for the link to a view; says what is wrong with it while it is typed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QVBoxLayout, QWidget

from gpuviz.base.errors import InputError
from gpuviz.qt.controls.controls import answers, label, restyle
from gpuviz.qt.look.theme import Theme
from gpuviz.views.provenance import Provenance
from gpuviz.words.language import tr

_WIDTH = 560
_EXAMPLE = "gpuviz://coalescing?stride=2"


class LinkDialog(QDialog):
    """Accepts only a link that can be shown. `read` makes a view of a text, or raises InputError;
    `told` says a view in words.

    Signals
    -------
    opened : the view of the link accepted
    """

    opened = Signal(object)

    def __init__(
        self,
        text: str,
        read: Callable[[str], Provenance],
        told: Callable[[Provenance], str],
        theme: Theme,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._read, self._told = read, told
        self.view: Provenance | None = None
        self.setWindowTitle(tr("Open link"))
        self.setModal(True)
        self.line = QLineEdit(text)
        self.line.setAccessibleName(tr("Link to a view"))
        self.line.setPlaceholderText(_EXAMPLE)
        self.line.setSelection(len(text), -len(text))  # and its beginning is in view
        self.said = label("")
        self.said.setWordWrap(True)
        self.said.setMinimumHeight(2 * self.said.fontMetrics().lineSpacing())
        self.buttons = answers(self, tr("Open"))
        self.accepted.connect(lambda: self.opened.emit(self.view))
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 16)
        column.setSpacing(10)
        column.addWidget(label(tr("A link to a view, as “Copy link to this view” makes it:")))
        for widget in (self.line, self.said, self.buttons):
            column.addWidget(widget)
        self.line.textChanged.connect(self._check)
        self._check()
        self.resize(min(theme.look.px(_WIDTH), parent.width() - 40), self.sizeHint().height())

    def _check(self) -> None:
        """Say what the link shows, or what is wrong with it."""
        self.view, problem, text = None, "", self.line.text().strip()
        try:
            self.view = self._read(text) if text else None
        except InputError as error:
            problem = f"▲ {error}"
        self.said.setProperty("role", "problem" if problem else "quiet")
        self.said.setText(problem or (self._told(self.view) if self.view else ""))
        restyle(self.said)
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(self.view is not None)
