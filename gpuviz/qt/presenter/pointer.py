"""What follows the mouse on the screen: a laser's dot, or a lens that shows the picture larger."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from gpuviz.draw.marks import Frame
from gpuviz.qt.look.theme import Look
from gpuviz.qt.painting.painter import paint

Tool = Literal["", "laser", "lens"]
_RADIUS, _DOT = 0.22, 0.011  # of the screen's height
ZOOMS = (1.5, 2.0, 3.0, 4.0)
_RED = QColor(235, 30, 30)


def paint_tool(
    painter: QPainter, tool: Tool, frame: Frame, at: QPointF, zoom: float, look: Look
) -> None:
    """The tool at a place of the picture."""
    if tool == "laser":
        _laser(painter, frame.height * _DOT, at)
    elif tool == "lens":
        _lens(painter, frame, at, zoom, look)


def _laser(painter: QPainter, radius: float, at: QPointF) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(255, 255, 255, 210), radius * 0.35))
    painter.setBrush(_RED)
    painter.drawEllipse(at, radius, radius)


def _lens(painter: QPainter, frame: Frame, at: QPointF, zoom: float, look: Look) -> None:
    """The picture painted again, larger, within a circle: lines and letters stay sharp."""
    radius = frame.height * _RADIUS
    circle = QPainterPath()
    circle.addEllipse(at, radius, radius)
    painter.save()
    painter.setClipPath(circle)
    painter.translate(at.x() * (1 - zoom), at.y() * (1 - zoom))
    painter.scale(zoom, zoom)
    paint(painter, frame)
    painter.restore()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(look.color("ink"), max(frame.height / 270, 2.0)))
    painter.drawPath(circle)
