"""A small picture of a cue, as the class sees it now or will see it next."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpuviz.qt.presenter.screen import Screen

Paint = Callable[[QPainter], object]


class Preview(QWidget):
    """Paints what `paint` paints in the screen's own size, made smaller.

    In one `by_hand` the mouse does what it does on the screen.
    """

    def __init__(self, name: str, paint: Paint, screen: Screen, by_hand: bool = False) -> None:
        super().__init__()
        self._paint, self._screen = paint, screen
        self._hand = screen if by_hand else None
        self.setMouseTracking(by_hand)
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

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """As on the screen, but that a click does not go on."""
        if self._hand is not None and event.button() == Qt.MouseButton.LeftButton:
            self._hand.press_at(event.position() / self.share)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """As on the screen."""
        if self._hand is not None:
            self._hand.move_to(event.position() / self.share)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """As on the screen."""
        if self._hand is not None:
            self._hand.release()

    @property
    def share(self) -> float:
        """How large it is beside the screen."""
        screen = self._screen
        return min(self.width() / screen.width(), self.height() / screen.height())
