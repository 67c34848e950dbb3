"""What the class sees: the strip above, below it the picture and how it lies there."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QTransform

from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Frame
from gpuviz.qt.look.theme import Look
from gpuviz.qt.painting.painter import paint
from gpuviz.qt.presenter.board import Tool

_INTERSECT = Qt.ClipOperation.IntersectClip
WHOLE = Rect(0.0, 0.0, 1.0, 1.0)


@dataclass(frozen=True, eq=False)
class ScreenContent:
    """`picture`, with its ink, lies in `area` of the window by `onto`; `strip` lies at the top.
    `rubber` is a rectangle of the picture that is being dragged.
    """

    picture: Frame
    area: QRectF
    onto: QTransform
    strip: Frame | None = None
    rubber: Rect | None = None

    def paint(self, painter: QPainter) -> None:
        """Paint all of it; the window's top left corner is the painter's origin."""
        painter.save()
        painter.setClipRect(self.area, _INTERSECT)
        painter.fillRect(self.area, QColor(*self.picture.ground.tolist()))
        painter.setTransform(self.onto, True)
        paint(painter, self.picture)
        if self.rubber is not None:
            _frame(painter, self.picture, self.rubber)
        painter.restore()
        if self.strip is not None:
            paint(painter, self.strip)


def _frame(painter: QPainter, picture: Frame, rubber: Rect) -> None:
    """What is left out of the rectangle is veiled."""
    veil = QPainterPath()
    veil.addRect(QRectF(0, 0, picture.width, picture.height))
    veil.addRect(QRectF(*rubber))
    painter.fillPath(veil, QColor(127, 127, 127, 110))


def fitted(width: float, height: float, area: QRectF, part: Rect = WHOLE) -> QTransform:
    """How a picture of this size lies in an area so that a part of it, in shares, is in full view,
    in the middle and as large as it can be.
    """
    scale = min(area.width() / (part.width * width), area.height() / (part.height * height))
    x, y = part.center
    made = QTransform()
    made.translate(area.center().x(), area.center().y())
    made.scale(scale, scale)
    return made.translate(-x * width, -y * height)


_RADIUS, _DOT = 0.22, 0.011  # of the screen's height
ZOOMS = (1.5, 2.0, 3.0, 4.0)
_RED = QColor(235, 30, 30)


def paint_tool(
    painter: QPainter, tool: Tool, seen: ScreenContent, at: QPointF, zoom: float, look: Look
) -> None:
    """The tool at a place of the window."""
    if tool == "laser":
        _laser(painter, seen.area.bottom() * _DOT, at)
    elif tool == "lens":
        _lens(painter, seen, at, zoom, look)


def _laser(painter: QPainter, radius: float, at: QPointF) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(255, 255, 255, 210), radius * 0.35))
    painter.setBrush(_RED)
    painter.drawEllipse(at, radius, radius)


def _lens(painter: QPainter, seen: ScreenContent, at: QPointF, zoom: float, look: Look) -> None:
    """The picture painted again, larger, within a circle: lines and letters stay sharp."""
    height = seen.area.bottom()
    radius = height * _RADIUS
    circle = QPainterPath()
    circle.addEllipse(at, radius, radius)
    painter.save()
    painter.setClipPath(circle, Qt.ClipOperation.IntersectClip)
    painter.translate(at.x() * (1 - zoom), at.y() * (1 - zoom))
    painter.scale(zoom, zoom)
    seen.paint(painter)
    painter.restore()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(look.color("ink"), max(height / 270, 2.0)))
    painter.drawPath(circle)
