"""A small picture of what will be written."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpuviz.qt.look.theme import Theme
from gpuviz.qt.painting.raster import to_image
from gpuviz.views.lesson_view import View
from gpuviz.words.language import tr

SIZE = QSize(448, 280)
_CHECK = 8  # pixels of a square that shows through


class Preview(QWidget):
    """Shows the still of a view, drawn by the code that writes it, as small as it has to be."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.image = QImage()
        self.setAccessibleName(tr("Preview"))
        self.setFixedSize(SIZE)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def show_view(self, view: View, transparent: bool = False) -> None:
        """Draw another picture."""
        made, ratio = view.provenance, self.devicePixelRatioF()
        share = min(SIZE.width() / made.width, SIZE.height() / made.height)
        self.image = to_image(view.frame(made.time, transparent), share * ratio)
        self.image.setDevicePixelRatio(ratio)
        self.setAccessibleDescription(f"{view.story.title}, {made.width} × {made.height}")
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The picture in the middle; where it is clear a chequered ground shows."""
        painter, look = QPainter(self), self._theme.look
        size = self.image.deviceIndependentSize().toSize()
        place = QRect(
            QPoint((self.width() - size.width()) // 2, (self.height() - size.height()) // 2), size
        )
        if self.image.hasAlphaChannel():
            squares = look.color("panel"), look.blend("panel", "border", 0.5)
            painter.drawTiledPixmap(place, _chequered(*squares))
        painter.drawImage(place.topLeft(), self.image)
        painter.setPen(look.color("border"))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(place.adjusted(0, 0, -1, -1))


def _chequered(light: QColor, dark: QColor) -> QPixmap:
    sheet = QPixmap(2 * _CHECK, 2 * _CHECK)
    sheet.fill(light)
    painter = QPainter(sheet)
    for at in (0, _CHECK):
        painter.fillRect(at, at, _CHECK, _CHECK, dark)
    painter.end()
    return sheet
