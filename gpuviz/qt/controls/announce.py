"""What is said aloud by a screen reader though the focus stays where it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent

from gpuviz.qt.controls.controls import timer

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

QUIET_MS = 250  # of several things said in a hurry only the last is heard


class Announcer(QObject):
    """Says what has changed in a widget; does nothing where no screen reader listens.

    Signals
    -------
    said : the words, at the moment they are said
    """

    said = Signal(str)

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
