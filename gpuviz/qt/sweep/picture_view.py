"""A picture made of panels as a widget: painted, with hover texts, its cells to be clicked."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gpuviz.draw.hit import tip_at
from gpuviz.draw.marks import Frame
from gpuviz.draw.stage import Stage
from gpuviz.panels.picture import Picture, PictureLayout, placed
from gpuviz.qt.controls.controls import plain_tip
from gpuviz.qt.look.theme import Theme
from gpuviz.qt.painting.painter import paint
from gpuviz.words.language import tr

_SMALLEST = QSize(420, 300)


class PictureView(QWidget):
    """Shows one picture at a time.

    Signals
    -------
    picked : values that a click sets
    """

    picked = Signal(Mapping)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._picture: Picture | None = None
        self._placed: PictureLayout | None = None
        self._frame: Frame | None = None
        self.setMouseTracking(True)
        self.setMinimumSize(_SMALLEST)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(tr("Map"))
        theme.changed.connect(self._renew)

    @property
    def frame(self) -> Frame | None:
        """What is drawn, None before the first picture."""
        return self._frame

    def show_picture(self, picture: Picture) -> None:
        """Show another picture."""
        self._picture = picture
        self.setAccessibleDescription(f"{picture.title}. {picture.sentence}")
        self._renew()

    def _renew(self) -> None:
        self._frame = None
        self.update()

    def resizeEvent(self, event: QEvent) -> None:
        """Another size is another picture."""
        self._renew()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The picture, or the ground while there is none."""
        look, painter = self._theme.look, QPainter(self)
        if self._frame is None and self._picture is not None:
            size = float(self.width()), float(self.height())
            self._placed = placed(self._picture, Stage(*size, look.palette, look.scale))
            self._frame = self._placed.frame()
        if self._frame is None:
            painter.fillRect(self.rect(), look.color("ground"))
        else:
            paint(painter, self._frame)

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

    def event(self, event: QEvent) -> bool:
        """Hover texts come from the marks."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            said = self.tip(event.pos().x(), event.pos().y())
            QToolTip.showText(
                event.globalPos(), plain_tip(said), self
            ) if said else QToolTip.hideText()
            return True
        return super().event(event)

    def tip(self, x: float, y: float) -> str:
        """What hovering a point says, "" where nothing is."""
        return (tip_at(self._frame, x, y) or "") if self._frame is not None else ""

    def _values(self, at: QPointF) -> object | None:
        return self._placed.pick(at.x(), at.y()) if self._placed is not None else None
