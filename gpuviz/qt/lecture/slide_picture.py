"""A small picture of a slide, as the class will see it."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpuviz.draw.marks import Frame
from gpuviz.draw.palette import THEMES
from gpuviz.draw.stage import Stage
from gpuviz.lectures.cues import Cue
from gpuviz.lectures.picture import SlideState, frame, letters
from gpuviz.qt.painting.painter import paint

WALL = (1920.0, 1080.0)


def wall(compared: bool = False) -> Stage:
    """That of a large screen in a lecture hall."""
    return Stage(*WALL, THEMES["projector"], letters(WALL[1], compared))


class SlidePicture(QWidget):
    """Paints what it was given last, as large as fits."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.frame: Frame | None = None
        self.setAccessibleName(name)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setMinimumSize(240, 135)

    def show_slide(self, shown: SlideState) -> None:
        """Another slide, or the same one changed."""
        self.frame = frame(shown, Cue(), 0.0, wall())
        self.setAccessibleDescription(shown.slide.name)
        self.update()

    def hasHeightForWidth(self) -> bool:
        """As wide and high as the wall is."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The height in the wall's shape."""
        return round(width * WALL[1] / WALL[0])

    def sizeHint(self) -> QSize:
        """Large enough to be read."""
        return QSize(480, self.heightForWidth(480))

    def paintEvent(self, event: QPaintEvent) -> None:
        """The picture, as large as fits."""
        if self.frame is None:
            return
        painter = QPainter(self)
        share = min(self.width() / WALL[0], self.height() / WALL[1])
        painter.scale(share, share)
        painter.setClipRect(QRectF(0, 0, *WALL))
        paint(painter, self.frame)
