"""The word about a window that was lost."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QPushButton, QWidget

from gpuviz.qt.controls.controls import button, keep_space
from gpuviz.qt.controls.message import Message
from gpuviz.qt.diagnostics.report import homeless
from gpuviz.words.language import tr


class CrashNotice(QObject):
    """A button in the status bar that says gpuviz did not end properly; it tells more, then goes.

    `restored` says whether the view of then is shown again, `aside` where else it is.
    """

    def __init__(
        self,
        restored: bool,
        aside: Path | None,
        folder: Path | None,
        message: Message,
        bar: QWidget,
    ) -> None:
        super().__init__(bar)
        self._message = message
        where = homeless(str(folder)) if folder else ""
        self._said = _told(restored, where)
        if aside is not None:
            self._said += "\n" + tr("What was kept of it is put aside: {file}", file=aside.name)
        self.button: QPushButton = button(
            "▲ " + tr("unexpected end last time"),
            tr("gpuviz did not end properly last time"),
            "link",
            self._said,
        )
        self.button.setProperty("severity", "warning")
        self.button.setMinimumWidth(32)  # in a narrow window it gives way to what else is said
        self.button.clicked.connect(self._tell)
        keep_space(self.button)

    def _tell(self) -> None:
        self._message.say("note", tr("gpuviz did not end properly last time"), self._said)
        self.button.hide()


def _told(restored: bool, folder: str) -> str:
    """What became of the view, and where the log is."""
    kept = (
        tr("The view it showed is shown again, at the same moment.")
        if restored
        else tr(
            "The view it showed is not shown again, for it may be the cause; it is among the "
            "recent views."
        )
    )
    log = (
        tr(
            "The log is in {folder}; “Copy diagnostics” in the Help menu has its end.",
            folder=folder,
        )
        if folder
        else ""
    )
    return f"{kept}\n{log}".strip()
