"""The stage: paints the picture of the story at the player's time."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gpuviz.draw.hit import following, lane_at, letter_at, lit_at, tip_at
from gpuviz.draw.stage import Stage
from gpuviz.draw.zoom import STEP, Zoom
from gpuviz.qt.controls.controls import Ring, plain_tip
from gpuviz.qt.painting.painter import paint
from gpuviz.qt.playing.spoken_steps import SpokenSteps
from gpuviz.views.playback import told
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.draw.marks import Frame
    from gpuviz.draw.palette import Palette
    from gpuviz.qt.look.theme import Theme
    from gpuviz.qt.playing.player import Player
    from gpuviz.qt.running.view_store import ViewStore
    from gpuviz.story.lesson import Story, Values

SMALLEST = QSize(420, 260)
_NOTCH = 120  # of a wheel, in Qt's eighths of a degree
_PAN = 60  # pixels that a key moves an enlarged picture
_STILL = 4  # pixels that a click may move and still be one
_VEIL = 0.62  # how much of a picture that is not that of the values shown is hidden


@lru_cache(maxsize=4)
def _stage(
    width: float, height: float, palette: Palette, scale: float, asked: str, told: bool
) -> Stage:
    return Stage(width, height, palette, scale, asked, revealed=told)


class StageView(QWidget):
    """Shows `story.frame(t, stage)`. Keeps the last good picture when a frame cannot be made.

    Wheel, pinch and keys enlarge it, dragging moves what is enlarged; it is painted anew for that,
    not scaled up. A click sets what the story says of the point; else it follows the lane that is
    there, or explains the word of the field. A picture of other values than those shown is veiled.
    """

    broke = Signal(Exception)  # an exception met while making a picture
    picked = Signal(Mapping, bool)  # values that a click sets, and whether it was in the right half
    painted = Signal()  # it has been seen for the first time

    def __init__(self, player: Player, view: ViewStore, theme: Theme) -> None:
        super().__init__()
        self._player, self._view, self._theme = player, view, theme
        self._ring = Ring()
        self._frame: Frame | None = None
        self._fresh = self._seen = False
        self._doubts: dict[str, str] = {}  # by what cannot be shown: why
        self._at: QPointF | None = None
        self._chosen: Values | None = None  # by the click that is held
        self._held: QPointF | None = None  # where the enlarged picture is dragged
        self._pressed: QPointF | None = None
        self.lane: int | None = None  # the one that is followed
        self._asked, self._told = "", False
        self.zoom = Zoom()
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
        view.follow("lesson", self._leave)
        player.story_changed.connect(self._arrive)

    @property
    def frame(self) -> Frame | None:
        """The picture shown, None before the first story."""
        return self._frame

    @property
    def doubted(self) -> bool:
        """Whether the picture is not of what was asked for."""
        return bool(self._doubts)

    def doubt(self, what: str, doubted: bool, why: str = "") -> None:
        """The picture is veiled while something (`what`) is not shown as it is asked for; `why`
        stands over it, where that is not said elsewhere.
        """
        before = dict(self._doubts)
        self._doubts.pop(what, None)
        if doubted:
            self._doubts[what] = why
        if before != self._doubts:
            self.update()

    def stage(self) -> Stage:
        """The stage of this widget's size, in the colours in use: the same one until any of that
        changes, as stories keep what they laid out for a stage.
        """
        look = self._theme.look
        size = float(self.width()), float(self.height())
        return _stage(*size, look.palette, look.scale, self._asked, self._told)

    def ask(self, question: str, told: bool = False) -> None:
        """Ask at the head of the picture, which keeps back what answers it until that is `told`."""
        if (question, told) != (self._asked, self._told):
            self._asked, self._told = question, told
            self.refresh()

    def refresh(self, *_: object) -> None:
        """Make a new picture at the next painting."""
        self._fresh = False
        self.update()

    def _leave(self, view: object) -> None:
        """Another lesson is opened: the picture is still that of the one before."""
        self.doubt("lesson", self._frame is not None)
        self.follow(None)
        self.show_all()

    def _arrive(self, *_: object) -> None:
        self.doubt("lesson", False)

    def follow(self, lane: int | None) -> None:
        """Show what belongs to a lane, and the others hardly; None shows all alike."""
        if lane != self.lane:
            self.lane = lane
            self.update()

    def resizeEvent(self, event: QEvent) -> None:
        """Another size is another picture."""
        self._look_at(self.zoom)
        self.refresh()

    def enlarge(self, by: float, at: QPointF | None = None) -> None:
        """Show the picture so many times as large, around a point; by default its middle."""
        point = QPointF(self.rect().center()) if at is None else at
        size = float(self.width()), float(self.height())
        self._look_at(self.zoom.about(point.x(), point.y(), by, *size))

    def show_all(self) -> None:
        """Show all of the picture."""
        self._look_at(Zoom())

    def _look_at(self, zoom: Zoom) -> None:
        self.zoom = zoom.fitted(float(self.width()), float(self.height()))
        self._look()
        self.update()

    def _inside(self, at: QPointF) -> QPointF:
        """The point of the picture that is seen at a point of the widget."""
        return QPointF(*self.zoom.inside(at.x(), at.y()))

    def paintEvent(self, event: QPaintEvent) -> None:
        """The picture, or the ground while there is none."""
        if not self._fresh:
            self._make()
        painter = QPainter(self)
        if self._frame is None:
            painter.fillRect(self.rect(), self._theme.look.color("ground"))
            self._announce(painter)
        else:
            self._paint(painter, self._frame)
            self._veil(painter)
        self._ring.paint(painter, self, self._theme)
        if not self._seen:
            self._seen = True
            QTimer.singleShot(0, self, self.painted.emit)  # when all of the window is painted

    def _paint(self, painter: QPainter, frame: Frame) -> None:
        """The part of the picture that is seen."""
        zoom = self.zoom
        painter.save()
        painter.scale(zoom.factor, zoom.factor)
        painter.translate(-zoom.left, -zoom.top)
        paint(painter, frame if self.lane is None else following(frame, self.lane))
        self._light(painter)
        painter.restore()
        said = []
        if self.lane is not None:
            said.append(tr("lane {lane} is followed · click it again for all", lane=self.lane))
        if zoom.on:
            said.append(tr("{n} % · 0 shows all", n=round(100 * zoom.factor)))
        if said:
            self._say_in_corner(painter, " · ".join(said))

    def _veil(self, painter: QPainter) -> None:
        """Over a picture that is not that of the values shown, and why there is none."""
        look = self._theme.look
        if self._doubts:
            painter.fillRect(self.rect(), look.color("ground", _VEIL))
        why = next(filter(None, self._doubts.values()), "")
        if not why:
            return
        painter.setFont(look.font(15, bold=True))
        most = QRectF(self.rect()).adjusted(look.px(40), look.px(40), -look.px(40), -look.px(40))
        wrap = int(Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignCenter)
        room = painter.boundingRect(most, wrap, why)
        plate = room.adjusted(-look.px(16), -look.px(12), look.px(16), look.px(12))
        painter.setPen(QPen(look.color("warn"), 1.5))
        painter.setBrush(look.color("panel"))
        painter.drawRoundedRect(plate, 6, 6)
        painter.setPen(look.color("ink"))
        painter.drawText(room, wrap, why)

    def _say_in_corner(self, painter: QPainter, said: str) -> None:
        look = self._theme.look
        painter.setFont(look.font(12))
        wide = painter.fontMetrics().horizontalAdvance(said) + look.px(16)
        plate = QRectF(self.width() - wide - 3, 2, wide, look.px(18))
        painter.setPen(QPen(look.color("border"), 1))
        painter.setBrush(look.color("panel"))
        painter.drawRoundedRect(plate, 5, 5)
        painter.setPen(look.color("ink"))
        painter.drawText(plate, Qt.AlignmentFlag.AlignCenter, said)

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
        look, lesson = self._theme.look, self._view.now.lesson
        room = QRectF(self.rect()).adjusted(look.px(20), look.px(16), -look.px(20), -look.px(16))
        painter.setPen(look.color("ink"))
        painter.setFont(look.font(26, bold=True))
        painter.drawText(room, tr(lesson.title))
        painter.setPen(look.color("muted"))
        painter.setFont(look.font(15))
        below = room.adjusted(0, look.px(38), 0, 0)
        painter.drawText(below, int(Qt.TextFlag.TextWordWrap), tr(lesson.look_for))

    def foresee(self, story: Story, keeps: bool) -> None:
        """Make ready what a story is shown with: from its beginning, or where the player is. Called
        in a thread, so that the one of the window need not lay it out.
        """
        story.frame(told(self._player.state, story, keeps).t, self.stage())

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
        """A click takes the focus, and sets what the story says, or holds an enlarged picture."""
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self._chosen = self._held = self._pressed = None
        if event.button() == Qt.MouseButton.LeftButton:
            self._choose(event.position(), self.pick(event.position()))
            self._pressed = event.position() if self._chosen is None else None
        grips = (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton)
        if self.zoom.on and self._chosen is None and event.button() in grips:
            self._held = event.position()
            self.setCursor(Qt.CursorShape.ClosedHandCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let go of an enlarged picture; what was clicked is followed or explained."""
        if self._pressed is not None and event.button() == Qt.MouseButton.LeftButton:
            if (event.position() - self._pressed).manhattanLength() <= _STILL:
                self._click(event)
            self._pressed = None
        if self._held is not None:
            self._held = None
            self._point()
        super().mouseReleaseEvent(event)

    def _click(self, event: QMouseEvent) -> None:
        """Follow the lane that is there, or let go; a word of the field explains itself."""
        if self._frame is None:
            return
        inside = self._inside(event.position())
        lane = lane_at(self._frame, inside.x(), inside.y())
        self.follow(None if lane == self.lane else lane)
        if lane is None and (said := self._word(inside)):
            QToolTip.showText(event.globalPosition().toPoint(), plain_tip(said), self)

    def _word(self, inside: QPointF) -> str:
        """What the word of the field at a point means; "" where none is."""
        from gpuviz.words.glossary import explained, words_in

        found = letter_at(self._frame, inside.x(), inside.y()) if self._frame else None
        if found is None:
            return ""
        text, letter = found
        here = (one for start, end, one in words_in(text) if start <= letter < end)
        return next(map(explained, here), "")

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show all of an enlarged picture, unless the click is for what is there."""
        if self.zoom.on and self.pick(event.position()) is None:
            self.show_all()
        else:
            super().mouseDoubleClickEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Enlarge what is under the pointer, or less; a touch pad's two fingers do the same."""
        turned = event.angleDelta().y()
        if turned:
            self.enlarge(STEP ** (turned / _NOTCH), event.position())
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Shift and an arrow move an enlarged picture."""
        ways = {
            Qt.Key.Key_Left: (_PAN, 0),
            Qt.Key.Key_Right: (-_PAN, 0),
            Qt.Key.Key_Up: (0, _PAN),
            Qt.Key.Key_Down: (0, -_PAN),
        }
        way = ways.get(Qt.Key(event.key()))
        if (
            way is None
            or not self.zoom.on
            or not event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        ):
            super().keyPressEvent(event)
            return
        self._move(*way)

    def _move(self, dx: float, dy: float) -> None:
        self._look_at(self.zoom.moved(dx, dy, float(self.width()), float(self.height())))

    def _choose(self, at: QPointF, values: Values | None) -> None:
        """Set what the story says of a point, unless it is what was set last."""
        if values is not None and values != self._chosen:
            self._chosen = values
            self.picked.emit(values, self._inside(at).x() >= self.width() / 2)

    def pick(self, at: QPointF) -> Values | None:
        """The values that a click at a point sets, None when it sets none."""
        story = self._player.story
        if story is None:
            return None
        try:
            inside = self._inside(at)
            return story.pick(self._player.t, self.stage(), inside.x(), inside.y())
        except Exception as error:  # as with a picture
            self.broke.emit(error)
            return None

    def _look(self) -> None:
        """What lights up under the pointer."""
        lit = np.zeros((0, 4), np.float32)
        if self._at is not None and self._frame is not None:
            inside = self._inside(self._at)
            lit = lit_at(self._frame, inside.x(), inside.y())
        if not np.array_equal(lit, self.lit):
            self.lit = lit
            self.update()

    def _point(self) -> None:
        """A hand where a click would do something; what is linked lights up."""
        self._look()
        if self._at is not None and self.pick(self._at) is not None:
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        elif self.zoom.on:
            self.setCursor(Qt.CursorShape.OpenHandCursor)
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
        if self._held is not None:
            way = event.position() - self._held
            self._held = event.position()
            self._move(way.x(), way.y())
            return
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
        pinch = Qt.NativeGestureType.ZoomNativeGesture
        if isinstance(event, QNativeGestureEvent) and event.gestureType() == pinch:
            self.enlarge(1 + event.value(), event.position())
            return True
        return super().event(event)

    def tip(self, x: float, y: float) -> str:
        """What hovering a point of the picture says, empty where nothing is."""
        if self._frame is None:
            return ""
        return tip_at(self._frame, x, y) or self._word(QPointF(x, y))

    def _say(self, at: QPoint, globally: QPoint) -> None:
        inside = self._inside(QPointF(at))
        said = self.tip(inside.x(), inside.y())
        if said:
            QToolTip.showText(globally, plain_tip(said), self)
        else:
            QToolTip.hideText()
