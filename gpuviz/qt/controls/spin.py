"""Numbers to type, without buttons: they take what the range allows and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QAbstractSpinBox, QDoubleSpinBox, QSpinBox

from gpuviz.words.language import grouped

DIGIT = 9  # pixels of one figure of the number, at scale 1

# What both kinds of box have in common is said once, before either of Qt's own classes.
if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent, QValidator

    from gpuviz.qt.look.theme import Theme

    _Box = QAbstractSpinBox
else:
    _Box = object


class _Bare(_Box):
    """Wide enough for so many digits. The wheel scrolls the panel."""

    def __init__(self, theme: Theme, digits: int) -> None:
        super().__init__()
        self._theme, self._digits = theme, digits
        self.setButtonSymbols(QAbstractSpinBox.ButtonSymbols.NoButtons)
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.setKeyboardTracking(False)
        theme.changed.connect(self._fit)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The style sheet leaves room for buttons that are not there: take it back."""
        super().resizeEvent(event)
        self._place()

    def wheelEvent(self, event: QEvent) -> None:
        """Scroll the panel instead."""
        event.ignore()

    def _fit(self) -> None:
        self.setFixedWidth(self._theme.look.px(20 + DIGIT * self._digits))
        self._place()

    def _place(self) -> None:
        self.lineEdit().setGeometry(self.rect().adjusted(4, 1, -4, -1))


class Spin(_Bare, QSpinBox):
    """A whole number, thousands apart as everywhere; typed with spaces or without."""

    def textFromValue(self, value: int) -> str:
        """As all numbers are written."""
        return grouped(value)

    def valueFromText(self, text: str) -> int:
        """Without what parts the thousands."""
        return super().valueFromText(_bare(text))

    def validate(self, text: str, at: int) -> tuple[QValidator.State, str, int]:
        """Digits are judged; spaces between them do not matter."""
        return super().validate(_bare(text), at)[0], text, at


def _bare(text: str) -> str:
    return "".join(text.split())


class RealSpin(_Bare, QDoubleSpinBox):
    """A number with decimals."""
