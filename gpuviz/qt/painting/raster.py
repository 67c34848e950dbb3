"""A `Frame` as an image or a PNG file. Needs a QGuiApplication (the offscreen platform will do)."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QByteArray
from PySide6.QtGui import QImage, QImageWriter, QPainter

from gpuviz.draw.marks import Frame
from gpuviz.errors import InputError
from gpuviz.qt.painting.painter import paint


def to_image(frame: Frame, scale: float = 1.0) -> QImage:
    """The picture with `scale` image pixels to a logical pixel."""
    width, height = round(frame.width * scale), round(frame.height * scale)
    image = QImage(width, height, QImage.Format.Format_ARGB32_Premultiplied)
    painter = QPainter(image)
    try:  # a painter left open would bring the process down with its image
        painter.scale(scale, scale)
        paint(painter, frame)
    finally:
        painter.end()
    return image


def save_png(frame: Frame, path: Path, scale: float = 1.0) -> None:
    """Write the picture as a PNG file; InputError when that cannot be done."""
    writer = QImageWriter(str(path), QByteArray(b"png"))
    if not writer.write(to_image(frame, scale)):
        raise InputError(f"cannot write a picture to {path}: {writer.errorString()}")
