"""A `Frame` as a page of PDF: shapes and texts stay such, fonts are embedded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QSizeF, QUuid
from PySide6.QtGui import QPageLayout, QPageSize, QPainter, QPdfWriter

from gpuviz.arrays import F32
from gpuviz.draw.marks import Boxes, Frame, Lines, Mark
from gpuviz.export.svg_marks import HATCH_STEP, HATCH_WIDTH
from gpuviz.qt.painting.painter import paint
from gpuviz.views.provenance import Provenance

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


def page(frame: Frame, provenance: Provenance | None = None, title: str = "") -> bytes:
    """A PDF file of one page."""
    return pages((frame,), provenance, title)


def pages(frames: Iterable[Frame], provenance: Provenance | None = None, title: str = "") -> bytes:
    """A PDF file with a page for each picture; all are of the size of the first."""
    first, *others = frames
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
    record = provenance.text() if provenance is not None else ""  # Qt's own would hold a date
    writer.setDocumentXmpMetadata(QByteArray(_XMP.format(record).encode()))
    _draw(writer, (first, *others))
    return _undated(bytes(buffer.data().data()))


def _draw(writer: QPdfWriter, frames: Sequence[Frame]) -> None:
    painter = QPainter(writer)
    try:  # a painter left open would bring the process down with its device
        for number, frame in enumerate(frames):
            if number:
                writer.newPage()
            paint(painter, replace(frame, marks=tuple(_vectors(frame.marks))))
    finally:
        painter.end()


def _undated(content: bytes) -> bytes:
    """The file without the time it was made, as long as before: places in it are counted."""
    return re.sub(rb"/(Creation|Mod)Date \([^)]*\)", lambda found: b" " * len(found[0]), content)


def _vectors(marks: tuple[Mark, ...]) -> list[Mark]:
    """The same marks with hatches as lines: the painter's own are made of pixels."""
    found: list[Mark] = []
    for mark in marks:
        if not isinstance(mark, Boxes) or mark.hatch is None:
            found.append(mark)
            continue
        lines = Lines(hatch_lines(mark.rect), mark.hatch, HATCH_WIDTH)
        found += [
            replace(mark, hatch=None, stroke=None),
            lines,
            replace(mark, fill=None, hatch=None),
        ]
    return found


def hatch_lines(rects: F32) -> F32:
    """(N, 2, 2) diagonals that hatch (N, 4) rectangles and end inside them."""
    found = [_diagonals(*rect) for rect in rects.tolist()]
    return np.concatenate([np.zeros((0, 2, 2), np.float32), *found])


def _diagonals(x: float, y: float, width: float, height: float) -> F32:
    """The lines x + y = k * step + 1 in a rectangle, less what their thickness adds at the ends."""
    edge = HATCH_WIDTH / 2 / np.sqrt(2)
    left, top, right, bottom = x + edge, y + edge, x + width - edge, y + height - edge
    if right <= left or bottom <= top:
        return np.zeros((0, 2, 2), np.float32)
    first = np.ceil((left + top - 1) / HATCH_STEP) * HATCH_STEP + 1
    sums = np.arange(first, right + bottom, HATCH_STEP)
    low, high = np.maximum(left, sums - bottom), np.minimum(right, sums - top)
    ends = np.stack([low, sums - low, high, sums - high], axis=1)
    return np.asarray(ends[high > low].reshape(-1, 2, 2), dtype=np.float32)
