"""A number typed digit by digit: it counts after a while, or when no longer one could be meant."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

_LONGEST = 9  # digits


class TypedNumber(QObject):
    """Signals
    -------
    typed : the number, when it counts
    changed : there are other digits
    """

    typed = Signal(int)
    changed = Signal()

    def __init__(self, wait_ms: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.text = ""
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        self._wait.setInterval(wait_ms)
        self._wait.timeout.connect(self.finish)

    def add(self, digit: int, most: int) -> None:
        """One more digit of a number that is at most so large."""
        self.text = (self.text + str(digit))[-_LONGEST:]
        self.changed.emit()
        if int(self.text) * 10 > most:
            self.finish()
        else:
            self._wait.start()

    def finish(self) -> None:
        """It counts as it is."""
        if text := self.forget():
            self.typed.emit(int(text))

    def forget(self) -> str:
        """What was typed; it does not count any more."""
        self._wait.stop()
        text, self.text = self.text, ""
        if text:
            self.changed.emit()
        return text
