"""The control for the size of a picture: as shown, one of the usual ones, or custom."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpuviz.export.settings import CUSTOM, SHOWN, SIZES
from gpuviz.qt.controls.controls import Combo, keep_arrows, keep_space, label
from gpuviz.qt.controls.spin import Spin
from gpuviz.qt.look.theme import Theme
from gpuviz.views.performed import LARGEST, SMALLEST
from gpuviz.words.language import tr


class SizeChoice(QWidget):
    """A list, and two numbers below it when the size is custom. `changed` when the user chose."""

    changed = Signal()

    def __init__(self, theme: Theme, shown: tuple[int, int]) -> None:
        super().__init__()
        self.names = Combo(tr("Size"), theme)
        for name in SIZES:
            self.names.addItem(_words(name, shown), name)
        for keep in (keep_space, keep_arrows):
            keep(self.names)
        self.width_ = _number(tr("Width in pixels"), SMALLEST[0], theme)
        self.height_ = _number(tr("Height in pixels"), SMALLEST[1], theme)
        self._custom = QWidget()
        row = QHBoxLayout(self._custom)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        for widget in (self.width_, label("×"), self.height_):
            row.addWidget(widget)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self.names)
        column.addWidget(self._custom)
        self.names.currentIndexChanged.connect(self._choose)
        for number in (self.width_, self.height_):
            number.valueChanged.connect(lambda value: self.changed.emit())
        self._choose()

    @property
    def name(self) -> str:
        """One of `SIZES`."""
        return str(self.names.currentData())

    @property
    def custom(self) -> tuple[int, int]:
        """The two numbers, whether they count or not."""
        return self.width_.value(), self.height_.value()

    def show_size(self, name: str, width: int, height: int) -> None:
        """Show a choice."""
        self.width_.setValue(width)
        self.height_.setValue(height)
        self.names.setCurrentIndex(self.names.findData(name))

    def _choose(self, *_: object) -> None:
        self._custom.setVisible(self.name == CUSTOM)
        self.changed.emit()


def _words(name: str, shown: tuple[int, int]) -> str:
    if name == SHOWN:
        return tr("as shown: {width} × {height}", width=shown[0], height=shown[1])
    return tr("custom") if name == CUSTOM else name.replace("x", " × ")


def _number(name: str, least: int, theme: Theme) -> Spin:
    made = Spin(theme, len(str(LARGEST)))
    made.setRange(least, LARGEST)
    made.setAccessibleName(name)
    return made
