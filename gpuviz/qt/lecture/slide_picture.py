"""A small picture of a slide, as the class will see it."""

from PySide6.QtCore import QSizeF
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QSizePolicy

from gpuviz.draw.marks import Frame
from gpuviz.draw.palette import THEMES
from gpuviz.draw.stage import Stage
from gpuviz.lectures.cues import Cue
from gpuviz.lectures.picture import SlideState, frame, letters
from gpuviz.qt.painting.frame_canvas import ScaledPicture
from gpuviz.qt.painting.painter import paint

WALL = (1920.0, 1080.0)


def wall(compared: bool = False) -> Stage:
    """That of a large screen in a lecture hall."""
    return Stage(*WALL, THEMES["projector"], letters(WALL[1], compared))


class SlidePicture(ScaledPicture):
    """Paints what it was given last."""

    def __init__(self, name: str) -> None:
        super().__init__(name, QSizePolicy.Policy.Preferred)
        self.frame: Frame | None = None

    @property
    def whole(self) -> QSizeF:
        """That of the wall."""
        return QSizeF(*WALL)

    def show_slide(self, shown: SlideState) -> None:
        """Another slide, or the same one changed."""
        self.frame = frame(shown, Cue(), 0.0, wall())
        self.setAccessibleDescription(shown.slide.name)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The picture, as large as fits."""
        if self.frame is not None:
            paint(self.painter(), self.frame)
