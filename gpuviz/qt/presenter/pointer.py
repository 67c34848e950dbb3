"""What follows the mouse on the screen: a laser's dot, or a lens that shows the picture larger."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from gpuviz.qt.look.theme import Look
from gpuviz.qt.presenter.board import Tool
from gpuviz.qt.presenter.screen_content import ScreenContent

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
