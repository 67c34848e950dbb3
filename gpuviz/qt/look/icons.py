"""Icons as outlines on a square of 24, painted at whatever size and colour is wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SIZE = 24.0
STROKE = 1.9


def _polygon(*points: tuple[float, float]) -> QPainterPath:
    path = QPainterPath()
    path.addPolygon(QPolygonF([QPointF(x, y) for x, y in points]))
    path.closeSubpath()
    return path


def _bar(x: float, width: float = 3.6) -> QPainterPath:
    path = QPainterPath()
    path.addRoundedRect(QRectF(x, 5.5, width, 13.0), 1.0, 1.0)
    return path


def _right(x: float) -> QPainterPath:
    return _polygon((x, 5.5), (x + 11.0, 12.0), (x, 18.5))


def _left(x: float) -> QPainterPath:
    return _polygon((x, 5.5), (x - 11.0, 12.0), (x, 18.5))


def _both(one: QPainterPath, other: QPainterPath) -> QPainterPath:
    path = QPainterPath(one)
    path.addPath(other)
    return path


def _double(side: Callable[[float], QPainterPath], near: float, far: float) -> QPainterPath:
    return _both(side(near), side(far))


def _loop() -> QPainterPath:
    """An almost closed turn; its arrow head is part of the line."""
    path = QPainterPath()
    path.arcMoveTo(QRectF(5.0, 5.0, 14.0, 14.0), 40.0)
    path.arcTo(QRectF(5.0, 5.0, 14.0, 14.0), 40.0, 300.0)
    path.moveTo(17.9, 3.4)
    path.lineTo(17.9, 7.9)
    path.lineTo(13.4, 7.9)
    return path


def _chevron() -> QPainterPath:
    path = QPainterPath(QPointF(7.0, 10.0))
    path.lineTo(12.0, 15.0)
    path.lineTo(17.0, 10.0)
    return path


def _menu() -> QPainterPath:
    path = QPainterPath()
    for y in (7.0, 12.0, 17.0):
        path.moveTo(5.0, y)
        path.lineTo(19.0, y)
    return path


def _cross() -> QPainterPath:
    path = QPainterPath(QPointF(7.0, 7.0))
    path.lineTo(17.0, 17.0)
    path.moveTo(17.0, 7.0)
    path.lineTo(7.0, 17.0)
    return path


FILLED: Mapping[str, QPainterPath] = {
    "play": _right(7.5),
    "pause": _both(_bar(6.4), _bar(14.0)),
    "forward": _both(_right(5.5), _bar(17.0, 2.2)),
    "back": _both(_left(18.5), _bar(4.8, 2.2)),
    "first": _both(_double(_left, 14.5, 22.5), _bar(1.2, 2.0)),
    "last": _both(_double(_right, 9.5, 1.5), _bar(20.8, 2.0)),
}
DRAWN: Mapping[str, QPainterPath] = {
    "loop": _loop(),
    "chevron": _chevron(),
    "menu": _menu(),
    "cross": _cross(),
}


def paint_icon(painter: QPainter, name: str, rect: QRectF, color: QColor) -> None:
    """Paint an icon into the largest square in the middle of `rect`."""
    side = min(rect.width(), rect.height())
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(rect.center().x() - side / 2, rect.center().y() - side / 2)
    painter.scale(side / SIZE, side / SIZE)
    if name in FILLED:
        painter.fillPath(FILLED[name], color)
    else:
        painter.setPen(
            QPen(
                color,
                STROKE,
                Qt.PenStyle.SolidLine,
                Qt.PenCapStyle.RoundCap,
                Qt.PenJoinStyle.RoundJoin,
            )
        )
        painter.drawPath(DRAWN[name])
    painter.restore()
