"""What exports are painted with. Needs a QGuiApplication and the fonts (see `headless.painter`)."""

import re
from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QSizeF, QUuid
from PySide6.QtGui import QImage, QPageLayout, QPageSize, QPainter, QPdfWriter

from gpuviz.base.arrays import Rgba
from gpuviz.draw.marks import Frame
from gpuviz.export.svg_marks import hatched_by_lines
from gpuviz.qt.painting.painter import paint, to_image

_DPI = 96  # one dot of the page is one logical pixel
_ID = QUuid("{6f3d2c0a-5b0e-5c55-9d1c-6770752d7669}")  # the same for all, so that runs are equal
_XMP = (
    '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>'
    '<x:xmpmeta xmlns:x="adobe:ns:meta/">'
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/">'
    '<dc:description><rdf:Alt><rdf:li xml:lang="x-default">{}</rdf:li></rdf:Alt>'
    '</dc:description></rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="r"?>'
)


def pages(frames: Sequence[Frame], title: str = "", record: str = "") -> bytes:
    """A PDF file with a page for each picture; all are of the size of the first."""
    first = frames[0]
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setResolution(_DPI)
    size = QSizeF(first.width, first.height) / _DPI
    writer.setPageLayout(
        QPageLayout(
            QPageSize(size, QPageSize.Unit.Inch, matchPolicy=QPageSize.SizeMatchPolicy.ExactMatch),
            QPageLayout.Orientation.Portrait,
            QMarginsF(),
        )
    )
    writer.setTitle(title)
    writer.setCreator("gpuviz")
    writer.setDocumentId(_ID)
    writer.setDocumentXmpMetadata(QByteArray(_XMP.format(record).encode()))  # Qt's own holds a date
    _draw(writer, frames)
    return _undated(bytes(buffer.data().data()))


def _draw(writer: QPdfWriter, frames: Sequence[Frame]) -> None:
    painter = QPainter(writer)
    try:  # a painter left open would bring the process down with its device
        for number, frame in enumerate(frames):
            if number:
                writer.newPage()
            paint(painter, hatched_by_lines(frame))  # the painter's are pixels
    finally:
        painter.end()


def _undated(content: bytes) -> bytes:
    """The file without the time it was made, as long as before: places in it are counted."""
    return re.sub(rb"/(Creation|Mod)Date \([^)]*\)", lambda found: b" " * len(found[0]), content)


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
