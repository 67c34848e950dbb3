"""A card over the stage that says what went wrong, without hiding the picture for good."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from gpuviz.qt.controls import button, keep_arrows, keep_space, label, restyle
from gpuviz.qt.worker import Failure
from gpuviz.trace import Finding

Severity = Literal["error", "warning", "note"]
SELECTABLE = (
    Qt.TextInteractionFlag.TextSelectableByKeyboard | Qt.TextInteractionFlag.TextSelectableByMouse
)
WIDTH = 640
LINES = 9
_ISSUE = "This is a mistake in gpuviz. The picture is the last good one."


class Message(QFrame):
    """Title, text, and buttons to copy the details and to close; Esc closes it too."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self._over = over
        self.setObjectName("card")
        self.setAccessibleName("Message")
        self._details = ""
        self.title = label("", "value")
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setAccessibleName("Message text")
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setTabChangesFocus(True)
        self.text.setTextInteractionFlags(SELECTABLE)
        keep_arrows(self.text)
        self.copied = button("Copy details", "Copy details")
        self.copied.clicked.connect(self.copy)
        self.closed = button("Close", "Close message", "", "Close  (Esc)")
        self.closed.clicked.connect(self.hide)
        row = QHBoxLayout()
        row.addStretch(1)
        for made in (self.copied, self.closed):
            keep_space(made)
            row.addWidget(made)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.addWidget(self.title)
        column.addWidget(self.text)
        column.addLayout(row)
        over.installEventFilter(self)
        self.hide()

    def show_failure(self, failure: Failure) -> None:
        """Say why a run failed."""
        title = "This could not be run" if failure.expected else "Something unexpected happened"
        text = failure.message if failure.expected else f"{failure.message}\n\n{_ISSUE}"
        self.say("error", title, text, failure.details)

    def show_findings(self, findings: Sequence[tuple[str, Finding]]) -> None:
        """Say what the checks of the emulator found; each with the role of its run."""
        severity: Severity = "warning"
        if any(f.severity == "error" for _, f in findings):
            severity = "error"
        lines = [_sentence(role, finding) for role, finding in findings]
        self.say(severity, "What the emulator's checks found", "\n\n".join(lines), "\n".join(lines))

    def say(self, severity: Severity, title: str, text: str, details: str = "") -> None:
        """Show a message; `details` is what the copy button copies (the text when empty)."""
        self._details = details or text
        self.title.setText(title)
        self.text.setPlainText(text)
        self.setProperty("severity", severity)
        restyle(self)
        self._place()
        self.show()
        self.raise_()

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
    """A finding with how often it was seen."""
    times = f" (seen {finding.count} times)" if finding.count > 1 else ""
    return f"{role}: {finding.severity}: {finding.message}{times}"
