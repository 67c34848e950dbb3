"""A small picture of a cue, as the class sees it now or will see it next."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpuviz.draw.stage import Stage
from gpuviz.lectures.cues import Cue
from gpuviz.lectures.picture import Shown, frame
from gpuviz.qt.look.style import qcolor
from gpuviz.qt.painting.painter import paint

Wanted = tuple[Shown, Cue, float]


class Preview(QWidget):
    """Paints what `wanted` says on the screen's own stage, made smaller; None is black."""

    def __init__(
        self, name: str, wanted: Callable[[], Wanted | None], stage: Callable[[], Stage]
    ) -> None:
        super().__init__()
        self._wanted, self._stage = wanted, stage
        self.setAccessibleName(name)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setMinimumSize(240, 135)

    def hasHeightForWidth(self) -> bool:
        """As wide and high as the screen is."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The height in the screen's shape."""
        stage = self._stage()
        return round(width * stage.height / stage.width)

    def sizeHint(self) -> QSize:
        """Large enough to recognise the picture."""
        return QSize(480, self.heightForWidth(480))

    def paintEvent(self, event: QPaintEvent) -> None:
        """The picture, as large as fits."""
        painter, stage, wanted = QPainter(self), self._stage(), self._wanted()
        share = min(self.width() / stage.width, self.height() / stage.height)
        painter.scale(share, share)
        whole = QRectF(0, 0, stage.width, stage.height)
        painter.setClipRect(whole)
        if wanted is None:
            painter.fillRect(whole, Qt.GlobalColor.black)
            return
        shown, cue, t = wanted
        try:
            paint(painter, frame(shown, cue, t, stage))
        except Exception:  # the screen tells of it
            painter.fillRect(whole, qcolor(stage.palette.ground))
