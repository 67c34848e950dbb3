"""A small picture of a cue, as the class sees it now or will see it next."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

Paint = Callable[[QPainter], object]


class Preview(QWidget):
    """Paints what `paint` paints in the screen's own size, made smaller."""

    def __init__(self, name: str, paint: Paint, screen: QWidget) -> None:
        super().__init__()
        self._paint, self._screen = paint, screen
        self.setAccessibleName(name)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setMinimumSize(240, 135)

    def hasHeightForWidth(self) -> bool:
        """As wide and high as the screen is."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The height in the screen's shape."""
        return round(width * self._screen.height() / self._screen.width())

    def sizeHint(self) -> QSize:
        """Large enough to recognise the picture."""
        return QSize(480, self.heightForWidth(480))

    def paintEvent(self, event: QPaintEvent) -> None:
        """The picture, as large as fits."""
        painter, screen = QPainter(self), self._screen
        share = self.share
        painter.scale(share, share)
        painter.setClipRect(QRectF(screen.rect()))
        self._paint(painter)

    @property
    def share(self) -> float:
        """How large it is beside the screen."""
        screen = self._screen
        return min(self.width() / screen.width(), self.height() / screen.height())
