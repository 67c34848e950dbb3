"""The stage: paints the picture of the story at the player's time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gpuviz.draw.hit import lit_at, tip_at
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.qt.controls.controls import Ring, plain_tip
from gpuviz.qt.painting.painter import paint
from gpuviz.qt.playing.spoken_steps import SpokenSteps

if TYPE_CHECKING:
    from gpuviz.draw.marks import Frame
    from gpuviz.qt.look.theme import Theme
    from gpuviz.qt.playing.player import Player
    from gpuviz.scenes.base import Values

SMALLEST = QSize(420, 260)


class StageView(QWidget):
    """Shows `story.frame(t, stage)`. Keeps the last good picture when a frame cannot be made.

    Signals
    -------
    broke : an exception met while making a picture
    picked : values that a click sets, and whether it was in the right half
    painted : it has been seen for the first time
    """

    broke = Signal(object)
    picked = Signal(object, bool)
    painted = Signal()

    def __init__(self, player: Player, theme: Theme) -> None:
        super().__init__()
        self._player = player
        self._theme = theme
        self._ring = Ring()
        self._frame: Frame | None = None
        self._fresh = self._seen = False
        self._at: QPointF | None = None
        self._chosen: Values | None = None  # by the click that is held
        self.lit = np.zeros((0, 4), np.float32)
        self.spoken = SpokenSteps(player, self)
        self.setAccessibleName(tr("Stage"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumSize(SMALLEST)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        for signal in (player.story_changed, player.t_changed):
            signal.connect(self.refresh)
        theme.changed.connect(self.refresh)

    @property
    def frame(self) -> Frame | None:
        """The picture shown, None before the first story."""
        return self._frame

    def stage(self) -> Stage:
        """The stage of this widget's size, in the colours in use."""
        look = self._theme.look
        return Stage(float(self.width()), float(self.height()), look.palette, look.scale)

    def refresh(self, *_: object) -> None:
        """Make a new picture at the next painting."""
        self._fresh = False
        self.update()

    def resizeEvent(self, event: QEvent) -> None:
        """Another size is another picture."""
        self.refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The picture, or the ground while there is none."""
        if not self._fresh:
            self._make()
        painter = QPainter(self)
        if self._frame is None:
            painter.fillRect(self.rect(), self._theme.look.color("ground"))
            self._announce(painter)
        else:
            paint(painter, self._frame)
            self._light(painter)
        self._ring.paint(painter, self, self._theme)
        if not self._seen:
            self._seen = True
            QTimer.singleShot(0, self, self.painted.emit)  # when all of the window is painted

    def _light(self, painter: QPainter) -> None:
        """A line around what is linked with what the pointer is at."""
        look = self._theme.look
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for color, width, gap in (("ground", 4.0, 1.0), ("outline", 2.0, 2.0)):
            painter.setPen(QPen(look.color(color), width))
            for x, y, wide, high in self.lit.tolist():
                painter.drawRect(QRectF(x, y, wide, high).adjusted(-gap, -gap, gap, gap))

    def _announce(self, painter: QPainter) -> None:
        """Before the first run is done: what the lesson will show."""
        look, lesson = self._theme.look, self._player.lesson
        room = QRectF(self.rect()).adjusted(look.px(20), look.px(16), -look.px(20), -look.px(16))
        painter.setPen(look.color("ink"))
        painter.setFont(look.font(26, bold=True))
        painter.drawText(room, tr(lesson.title))
        painter.setPen(look.color("muted"))
        painter.setFont(look.font(15))
        below = room.adjusted(0, look.px(38), 0, 0)
        painter.drawText(below, int(Qt.TextFlag.TextWordWrap), tr(lesson.look_for))

    def _make(self) -> None:
        self._fresh = True
        story = self._player.story
        if story is None:
            self._frame = None
            return
        try:
            self._frame = story.frame(self._player.t, self.stage())
        except Exception as error:  # a lesson's mistake must not take the window down
            self.broke.emit(error)
            return
        self.setAccessibleDescription(f"{story.title}. {story.sentence}")
        self._point()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the focus when it came by the keyboard."""
        self._ring.enter(event.reason())
        super().focusInEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click takes the focus, and sets what the story says."""
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self._chosen = None
        if event.button() == Qt.MouseButton.LeftButton:
            self._choose(event.position(), self.pick(event.position()))

    def _choose(self, at: QPointF, values: Values | None) -> None:
        """Set what the story says of a point, unless it is what was set last."""
        if values is not None and values != self._chosen:
            self._chosen = values
            self.picked.emit(values, at.x() >= self.width() / 2)

    def pick(self, at: QPointF) -> Values | None:
        """The values that a click at a point sets, None when it sets none."""
        story = self._player.story
        if story is None:
            return None
        try:
            return story.pick(self._player.t, self.stage(), at.x(), at.y())
        except Exception as error:  # as with a picture
            self.broke.emit(error)
            return None

    def _look(self) -> None:
        """What lights up under the pointer."""
        lit = np.zeros((0, 4), np.float32)
        if self._at is not None and self._frame is not None:
            lit = lit_at(self._frame, self._at.x(), self._at.y())
        if not np.array_equal(lit, self.lit):
            self.lit = lit
            self.update()

    def _point(self) -> None:
        """A hand where a click would do something; what is linked lights up."""
        self._look()
        if self._at is not None and self.pick(self._at) is not None:
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        else:
            self.unsetCursor()

    def leaveEvent(self, event: QEvent) -> None:
        """Pictures that change need not look for what is under the pointer."""
        self._at = None
        self._look()
        super().leaveEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Once a tip is open it follows the pointer, and of what is linked it opens at once; what
        was clicked can be dragged on.
        """
        self._at = event.position()
        self._point()
        if self._chosen is not None and event.buttons() & Qt.MouseButton.LeftButton:
            self._choose(event.position(), self.pick(event.position()))
        if QToolTip.isVisible() or len(self.lit):
            self._say(event.position().toPoint(), event.globalPosition().toPoint())

    def event(self, event: QEvent) -> bool:
        """Hover tips come from the marks."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            self._say(event.pos(), event.globalPos())
            return True
        return super().event(event)

    def tip(self, x: float, y: float) -> str:
        """What hovering a point says, empty where nothing is."""
        return (tip_at(self._frame, x, y) or "") if self._frame is not None else ""

    def _say(self, at: QPoint, globally: QPoint) -> None:
        said = self.tip(at.x(), at.y())
        if said:
            QToolTip.showText(globally, plain_tip(said), self)
        else:
            QToolTip.hideText()
