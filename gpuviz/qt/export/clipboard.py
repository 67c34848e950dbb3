"""A picture for the clipboard."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO

from PySide6.QtCore import QByteArray, QMimeData
from PySide6.QtGui import QImage

from gpuviz.export.export import Export, Options
from gpuviz.export.formats import PNG, SVG
from gpuviz.qt.painting.qt_painter import QtPainter
from gpuviz.views.lesson_view import View


@dataclass(frozen=True, eq=False)
class Clip:
    """A picture as other programs take it from the clipboard: image, PNG file and SVG."""

    image: QImage
    png: bytes
    svg: bytes

    def mime(self) -> QMimeData:
        """For the clipboard, which wants it made in the GUI's thread."""
        data = QMimeData()
        data.setImageData(self.image)
        data.setData(PNG.mime, QByteArray(self.png))
        data.setData(SVG.mime, QByteArray(self.svg))
        return data

    def is_in(self, data: QMimeData) -> bool:
        """Whether this is what is on the clipboard."""
        return bytes(data.data(PNG.mime).data()) == self.png


def clip(view: View, options: Options) -> Clip:
    """The picture in every form, in any thread."""
    PNG.check(view.provenance, options)
    export, png, svg = Export(view, options, QtPainter()), BytesIO(), BytesIO()
    PNG.write(export, png)
    SVG.write(Export(view), svg)
    return Clip(QImage.fromData(QByteArray(png.getvalue())), png.getvalue(), svg.getvalue())
