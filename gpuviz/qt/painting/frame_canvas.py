"""Pictures as widgets: in their own size, with the hover texts of their marks; or made smaller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gpuviz.draw.hit import tip_at
from gpuviz.draw.stage import Stage
from gpuviz.qt.controls.controls import plain_tip
from gpuviz.qt.painting.painter import paint

if TYPE_CHECKING:
    from gpuviz.draw.marks import Frame
    from gpuviz.qt.look.theme import Theme


class FrameCanvas(QWidget):
    """A kind of canvas says in `draw` what there is to see, with letters enlarged by `letters`."""

    letters = 1.0

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._frame: Frame | None = None
        theme.changed.connect(self.renew)

    @property
    def frame(self) -> Frame | None:
        """The picture, None where there is none."""
        if self._frame is None:
            self._frame = self.draw()
        return self._frame

    def draw(self) -> Frame | None:
        """Make the picture."""
        raise NotImplementedError

    def renew(self) -> None:
        """There is another picture."""
        self._frame = None
        self.update()

    def stage(self) -> Stage:
        """What the picture is drawn on."""
        look, size = self._theme.look, (float(self.width()), float(self.height()))
        return Stage(*size, look.palette, look.scale * self.letters)

    def tip(self, x: float, y: float) -> str:
        """What hovering a point says, "" where nothing is."""
        return (tip_at(self.frame, x, y) or "") if self.frame is not None else ""

    def resizeEvent(self, event: QEvent) -> None:
        """Another size is another picture."""
        self.renew()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The picture, or the ground."""
        painter = QPainter(self)
        painter.fillRect(event.rect(), self._theme.look.color("ground"))
        if self.frame is not None:
            paint(painter, self.frame)

    def event(self, event: QEvent) -> bool:
        """Hover texts come from the marks."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            said = self.tip(event.pos().x(), event.pos().y())
            QToolTip.showText(event.globalPos(), plain_tip(said), self)
            return True
        return super().event(event)


class ScaledPicture(QWidget):
    """A picture of another size, made as large as fits."""

    def __init__(self, name: str, upright: QSizePolicy.Policy) -> None:
        super().__init__()
        self.setAccessibleName(name)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, upright)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setMinimumSize(240, 135)

    @property
    def whole(self) -> QSizeF:
        """The size of the picture."""
        raise NotImplementedError

    @property
    def share(self) -> float:
        """How large it is made."""
        return min(self.width() / self.whole.width(), self.height() / self.whole.height())

    def painter(self) -> QPainter:
        """One in the picture's own size."""
        made = QPainter(self)
        made.scale(self.share, self.share)
        made.setClipRect(QRectF(QPointF(), self.whole))
        return made

    def hasHeightForWidth(self) -> bool:
        """In the shape of the picture."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The height in the picture's shape."""
        return round(width * self.whole.height() / self.whole.width())

    def sizeHint(self) -> QSize:
        """Large enough to be read."""
        return QSize(480, self.heightForWidth(480))
