"""What exports are painted with. Needs a QGuiApplication and the fonts (see `headless.painter`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtGui import QImage

from gpuviz.base.arrays import Rgba
from gpuviz.draw.marks import Frame
from gpuviz.qt.painting.pdf import pages
from gpuviz.qt.painting.raster import to_image


class QtPainter:
    """A `Painter`."""

    def pixels(self, frame: Frame, scale: float = 1.0) -> Rgba:
        """(H, W, 4) pixels of a picture as the window paints it."""
        return rgba(to_image(frame, scale))

    def pdf(self, frames: Sequence[Frame], title: str = "", record: str = "") -> bytes:
        """A PDF file with a page for each picture."""
        return pages(frames, title, record)


def rgba(image: QImage) -> Rgba:
    """(H, W, 4) pixels of an image."""
    plain = image.convertToFormat(QImage.Format.Format_RGBA8888)
    rows = np.frombuffer(plain.constBits(), np.uint8)
    return rows.reshape(plain.height(), plain.width(), 4).copy()
