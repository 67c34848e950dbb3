"""A card over the stage that says what went wrong, without hiding the picture for good."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from gpuviz.qt.controls.controls import button, keep_arrows, keep_space, label, restyle, timer
from gpuviz.qt.controls.layouts import column_of, row_of
from gpuviz.words.language import later, tr, trn
from gpuviz.words.terminal import visible

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

QUIET_MS = 250  # of several things said in a hurry only the last is heard


class Announcer(QObject):
    """Says what has changed in a widget; does nothing where no screen reader listens."""

    said = Signal(str)  # the words, at the moment they are said

    def __init__(self, widget: QWidget, urgent: bool = False) -> None:
        super().__init__(widget)
        self._widget = widget
        kinds = QAccessible.AnnouncementPoliteness
        self._how = kinds.Assertive if urgent else kinds.Polite
        self._words = ""
        self._timer = timer(self, QUIET_MS, self._say)

    def say(self, words: str) -> None:
        """Say this, unless something else comes right behind it."""
        self._words = words
        self._timer.start()

    def _say(self) -> None:
        if not self._words:
            return
        if QAccessible.isActive():
            event = QAccessibleAnnouncementEvent(self._widget, self._words)
            event.setPoliteness(self._how)
            QAccessible.updateAccessibility(event)
        self.said.emit(self._words)


if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpuviz.base.errors import Failure
    from gpuviz.traces.trace import Finding

Severity = Literal["error", "warning", "note"]
SELECTABLE = (
    Qt.TextInteractionFlag.TextSelectableByKeyboard | Qt.TextInteractionFlag.TextSelectableByMouse
)
SEVERITIES = {"error": later("error"), "warning": later("warning")}
WIDTH = 640
LINES = 9


class Message(QFrame):
    """Title, text, and buttons to copy the details and to close; Esc closes it too."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self._over = over
        self.setObjectName("card")
        self.setAccessibleName(tr("Message"))
        self._details = ""
        self._stays = False
        self.title = label("", "value")
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setAccessibleName(tr("Message text"))
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setTabChangesFocus(True)
        self.text.setTextInteractionFlags(SELECTABLE)
        keep_arrows(self.text)
        self.copied = button(tr("Copy details"), tr("Copy details"))
        self.copied.clicked.connect(self.copy)
        self.closed = button(tr("Close"), tr("Close message"), "", tr("Close  (Esc)"))
        self.closed.clicked.connect(self.hide)
        for made in (self.copied, self.closed):
            keep_space(made)
        buttons = row_of(1, self.copied, self.closed)
        column_of(self.title, self.text, buttons, on=self, margins=(16, 12, 16, 12))
        over.installEventFilter(self)
        self.announcer = Announcer(self, urgent=True)
        self.hide()

    def show_failure(self, failure: Failure, title: str = "", stays: bool = False) -> None:
        """Say what failed; a run unless the title says otherwise. `stays` as in `say`."""
        details = failure.details
        if failure.expected:
            title = title or tr("This could not be run")
            self.say("error", title, failure.message, details, stays)
        else:
            ours = tr("This is a mistake in gpuviz. The picture is the last good one.")
            text = f"{failure.message}\n\n{ours}"
            self.say("error", tr("Something unexpected happened"), text, details)

    def show_findings(self, findings: Sequence[tuple[str, Finding]]) -> None:
        """Say what the checks of the emulator found; each with the role of its run."""
        severity: Severity = "warning"
        if any(f.severity == "error" for _, f in findings):
            severity = "error"
        lines = [_sentence(role, finding) for role, finding in findings]
        title = tr("What the emulator's checks found")
        self.say(severity, title, "\n\n".join(lines), "\n".join(lines))

    def show_unchecked(self) -> None:
        """Say why nothing was found: nothing was looked for."""
        self.say(
            "note",
            tr("This launch was not checked"),
            tr(
                "It is large, and runs many times as fast without the checks. Smaller sizes are "
                "checked here; gpuviz count --check all looks at large ones, too."
            ),
        )

    def say(
        self, severity: Severity, title: str, text: str, details: str = "", stays: bool = False
    ) -> None:
        """Show a message; `details` is what the copy button copies (the text when empty).

        One that `stays` is not about what is being run: another run does not take it away.
        """
        self._stays = stays
        title, text = visible(title), visible(text)
        self._details = visible(details) or text
        self.title.setText(title)
        self.text.setPlainText(text)
        self.setProperty("severity", severity)
        restyle(self)
        self._place()
        self.show()
        self.raise_()
        self.announcer.say(f"{title}. {text}")

    def pass_by(self) -> None:
        """Another run begins, or is done: what was said of the one before is over."""
        if not self._stays:
            self.hide()

    def copy(self) -> None:
        """Put title, text and details on the clipboard."""
        parts = (self.title.text(), self.text.toPlainText(), self._details)
        QGuiApplication.clipboard().setText("\n\n".join(dict.fromkeys(parts)))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay in place when the stage changes its size."""
        if isinstance(event, QResizeEvent):
            self._place()
        return False

    def _place(self) -> None:
        over = self._over
        room = QSize(over.width() - 40, over.height() - 40)
        width = min(WIDTH, room.width())
        self.text.setFixedHeight(self._text_height(width - 48))
        height = min(self.sizeHint().height(), room.height())
        self.setGeometry((over.width() - width) // 2, over.height() - height - 20, width, height)

    def _text_height(self, width: int) -> int:
        """High enough for the text, up to some lines; beyond that it scrolls."""
        metrics = self.text.fontMetrics()
        flags = int(Qt.TextFlag.TextWordWrap)
        wanted = metrics.boundingRect(0, 0, width, 10_000, flags, self.text.toPlainText()).height()
        return min(wanted, LINES * metrics.lineSpacing()) + 16


def _sentence(role: str, finding: Finding) -> str:
    """A finding with how often it was seen, and its remedy."""
    said = f"{role}: {tr(SEVERITIES[finding.severity])}: {finding.message}"
    if finding.count > 1:
        said = trn("{said} (seen {n} time)", "{said} (seen {n} times)", finding.count, said=said)
    return f"{said}\n{finding.remedy}" if finding.remedy else said
