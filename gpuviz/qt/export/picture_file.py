"""An image as a PNG file that tells which view it shows."""

from __future__ import annotations

from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QImage, QImageWriter

from gpuviz.errors import InputError
from gpuviz.export import png
from gpuviz.views.provenance import KEYWORD, Provenance


def png_of(image: QImage, provenance: Provenance) -> bytes:
    """The PNG file of an image; InputError when Qt cannot write it."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QImageWriter(buffer, QByteArray(b"png"))
    if not writer.write(image):
        raise InputError(f"the picture cannot be written as PNG: {writer.errorString()}")
    return png.with_text(bytes(buffer.data().data()), KEYWORD, provenance.text())
