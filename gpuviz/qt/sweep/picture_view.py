"""A picture made of panels as a widget: painted, with hover texts, its cells to be clicked."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QSizePolicy

from gpuviz.draw.marks import Frame
from gpuviz.panels.picture import Picture, PictureLayout, placed
from gpuviz.qt.look.theme import Theme
from gpuviz.qt.painting.frame_canvas import FrameCanvas
from gpuviz.words.language import tr

_SMALLEST = QSize(420, 300)


class PictureView(FrameCanvas):
    """Shows one picture at a time.

    Signals
    -------
    picked : values that a click sets
    """

    picked = Signal(Mapping)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._picture: Picture | None = None
        self._placed: PictureLayout | None = None
        self.setMouseTracking(True)
        self.setMinimumSize(_SMALLEST)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(tr("Map"))

    def show_picture(self, picture: Picture) -> None:
        """Show another picture."""
        self._picture = picture
        self.setAccessibleDescription(f"{picture.title}. {picture.sentence}")
        self.renew()

    def draw(self) -> Frame | None:
        """The picture with its panels in their places."""
        if self._picture is None:
            return None
        self._placed = placed(self._picture, self.stage())
        return self._placed.frame()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click sets what the picture says."""
        if event.button() == Qt.MouseButton.LeftButton and self._placed is not None:
            values = self._values(event.position())
            if values is not None:
                self.picked.emit(values)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """A hand where a click would do something."""
        if self._values(event.position()) is not None:
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        else:
            self.unsetCursor()

    def _values(self, at: QPointF) -> object | None:
        return self._placed.pick(at.x(), at.y()) if self._placed is not None else None
