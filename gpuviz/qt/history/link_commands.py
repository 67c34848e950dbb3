"""Links to views: copied, typed, pasted into the command line of the window, and followed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QWidget

from gpuviz.base.errors import InputError
from gpuviz.qt.commands.actions import Command
from gpuviz.qt.controls.controls import answers, ask, label, set_look
from gpuviz.qt.controls.layouts import column_of
from gpuviz.qt.look.theme import Theme
from gpuviz.qt.running.view_recorder import ViewRecorder
from gpuviz.views.link import SCHEME, link, parse
from gpuviz.views.make_view import check_file
from gpuviz.views.naming import described
from gpuviz.views.provenance import Provenance
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.qt.commands.palette_dialog import Entry


_START = f"{SCHEME}://"


class LinkCommands(QObject):
    """Follows links."""

    said = Signal(str)  # what was done, in words
    copied = Signal(Provenance)  # the view whose link was copied
    refused = Signal(Exception)  # the exception when a view cannot be shown

    def __init__(self, recorder: ViewRecorder, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._recorder, self._theme, self._window = recorder, theme, window
        self.dialog: LinkDialog | None = None

    def copy(self) -> None:
        """Put the link to the view now on the clipboard."""
        view = self._recorder.record()
        QGuiApplication.clipboard().setText(link(view))
        self.copied.emit(view)
        self.said.emit(tr("The link to this view is on the clipboard."))

    def ask(self) -> None:
        """Ask for a link; the clipboard's is offered."""
        pass

        held = QGuiApplication.clipboard().text().strip()
        text = held if held.startswith(_START) else ""
        dialog = self.dialog = LinkDialog(text, self.read, self._told, self._theme, self._window)
        dialog.opened.connect(self.show_view)
        ask(dialog)

    def read(self, text: str) -> Provenance:
        """The view that a link tells of; InputError when it cannot be shown."""
        view = self._recorder.fit(parse(text))
        check_file(view)
        return view

    def show_view(self, view: Provenance) -> None:
        """Show a view, or tell why that cannot be."""
        try:
            check_file(view)
            self._recorder.show(view)
        except InputError as error:
            self.refused.emit(error)

    def offer(self, text: str) -> Sequence[Entry]:
        """What the palette offers for a link that was pasted into it; nothing for other text."""
        if not text.strip().startswith(_START):
            return ()
        try:
            view = self.read(text)
        except InputError as error:
            return (_entry(f"▲ {error}", self),)
        command, action = _entry(tr("Open this view: {view}", view=self._told(view)), self)
        action.triggered.connect(lambda: self.show_view(view))
        action.setEnabled(True)
        return ((command, action),)

    def _told(self, view: Provenance) -> str:
        return described(view, self._recorder.lesson_of(view))


def _entry(text: str, parent: QObject) -> Entry:
    """A command that cannot be triggered yet."""
    action = QAction(text, parent)
    action.setEnabled(False)
    return Command("link.open", text, "File"), action


_WIDTH = 560
_EXAMPLE = "gpuviz://coalescing?stride=2"


class LinkDialog(QDialog):
    """Accepts only a link that can be shown. `read` makes a view of a text, or raises InputError;
    `told` says a view in words.
    """

    opened = Signal(Provenance)  # the view of the link accepted

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
        self.said = label("", wraps=True)
        self.said.setMinimumHeight(2 * self.said.fontMetrics().lineSpacing())
        self.buttons = answers(self, tr("Open"))
        self.accepted.connect(lambda: self.opened.emit(self.view))
        head = label(tr("A link to a view, as “Copy link to this view” makes it:"))
        parts = head, self.line, self.said, self.buttons
        column_of(*parts, on=self, gap=10, margins=(20, 16, 20, 16))
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
        set_look(self.said, "role", "problem" if problem else "quiet")
        self.said.setText(problem or (self._told(self.view) if self.view else ""))
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(self.view is not None)
