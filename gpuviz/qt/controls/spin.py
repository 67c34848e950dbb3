"""Numbers to type, without buttons: they take what the range allows and nothing else."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractSpinBox, QDoubleSpinBox, QSpinBox

from gpuviz.qt.look.theme import Theme

DIGIT = 9  # pixels of one figure of the number, at scale 1


class Spin(QSpinBox):
    """A whole number, wide enough for so many digits. The wheel scrolls the panel."""

    def __init__(self, theme: Theme, digits: int) -> None:
        super().__init__()
        self._theme, self._digits = theme, digits
        _undress(self)
        theme.changed.connect(self._fit)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take the room of the buttons."""
        super().resizeEvent(event)
        _place(self)

    def wheelEvent(self, event: QEvent) -> None:
        """Scroll the panel instead."""
        event.ignore()

    def _fit(self) -> None:
        _size(self, self._theme, self._digits)


class RealSpin(QDoubleSpinBox):
    """A number with decimals, as `Spin` otherwise."""

    def __init__(self, theme: Theme, digits: int) -> None:
        super().__init__()
        self._theme, self._digits = theme, digits
        _undress(self)
        theme.changed.connect(self._fit)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take the room of the buttons."""
        super().resizeEvent(event)
        _place(self)

    def wheelEvent(self, event: QEvent) -> None:
        """Scroll the panel instead."""
        event.ignore()

    def _fit(self) -> None:
        _size(self, self._theme, self._digits)


def _undress(box: QAbstractSpinBox) -> None:
    box.setButtonSymbols(QAbstractSpinBox.ButtonSymbols.NoButtons)
    box.setAlignment(Qt.AlignmentFlag.AlignRight)
    box.setKeyboardTracking(False)


def _size(box: QAbstractSpinBox, theme: Theme, digits: int) -> None:
    box.setFixedWidth(theme.look.px(20 + DIGIT * digits))
    _place(box)


def _place(box: QAbstractSpinBox) -> None:
    """The style sheet leaves room for buttons that are not there: take it back."""
    box.lineEdit().setGeometry(box.rect().adjusted(4, 1, -4, -1))
