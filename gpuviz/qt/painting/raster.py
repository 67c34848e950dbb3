"""A `Frame` as an image. Needs a QGuiApplication (the offscreen platform will do)."""

from __future__ import annotations

from PySide6.QtGui import QImage, QPainter

from gpuviz.draw.marks import Frame
from gpuviz.qt.painting.painter import paint


def to_image(frame: Frame, scale: float = 1.0) -> QImage:
    """The picture with `scale` image pixels to a logical pixel, clear where it has no ground."""
    width, height = round(frame.width * scale), round(frame.height * scale)
    image = QImage(width, height, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(0)
    painter = QPainter(image)
    try:  # a painter left open would bring the process down with its image
        painter.scale(scale, scale)
        paint(painter, frame)
    finally:
        painter.end()
    return image
