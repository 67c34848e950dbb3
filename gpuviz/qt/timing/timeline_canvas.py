"""The timeline of a multiprocessor as a widget: enlarged, moved, hovered, clicked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gpuviz.draw.hit import tip_at
from gpuviz.draw.layout import Rect
from gpuviz.draw.stage import Stage
from gpuviz.draw.zoom import STEP
from gpuviz.qt.controls.controls import Ring, keep_arrows, plain_tip
from gpuviz.qt.painting.painter import paint
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.draw.marks import Frame
    from gpuviz.panels.warp_timeline import WarpTimeline
    from gpuviz.qt.look.theme import Theme

_NOTCH = 120  # of a wheel, in Qt's eighths of a degree
_STILL = 4  # pixels that a click may move and still be one
_PAN = 0.1  # of what is seen, by a key
_TRACKS = 330  # pixels from which on there is room for tracks


class TimelineCanvas(QWidget):
    """Wheel and + - enlarge what is pointed at, dragging and arrows move, 0 or a double click shows
    all; a click chooses what is there.

    Signals
    -------
    chosen : the row of the record's spans that was clicked
    looked : the cycles shown have changed
    """

    chosen = Signal(int)
    looked = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._ring = Ring()
        self._frame: Frame | None = None
        self._held: QPointF | None = None
        self._pressed: QPointF | None = None
        self.panel: WarpTimeline | None = None
        self.setAccessibleName(tr("Timeline of a multiprocessor"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        keep_arrows(self)
        theme.changed.connect(self._renew)

    def minimumSizeHint(self) -> QSize:
        """Enough to tell lanes apart."""
        return QSize(300, 120)

    def show_panel(self, panel: WarpTimeline | None) -> None:
        """Show another part, or nothing."""
        self.panel = panel
        self._renew()
        self.looked.emit()

    def enlarge(self, by: float, x: float | None = None) -> None:
        """So many times as large, around a point; by default the middle."""
        if self.panel is not None:
            at = self.width() / 2 if x is None else x
            cycle = self._fitted().cycle_at(self._stage(), self._area(), at)
            self.show_panel(self.panel.zoomed(cycle, by))

    def move_by(self, share: float) -> None:
        """Move by a part of what is seen."""
        if self.panel is not None:
            self.show_panel(self.panel.moved(share * (self.panel.end - self.panel.begin)))

    def show_all(self) -> None:
        """All that was recorded of the launch."""
        if self.panel is not None:
            self.show_panel(self.panel.whole())

    def tip(self, x: float, y: float) -> str:
        """What hovering a point says, "" where nothing is."""
        return (tip_at(self._frame, x, y) or "") if self._frame is not None else ""

    def resizeEvent(self, event: QEvent) -> None:
        """Another size is another picture."""
        self._renew()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The picture, or the ground."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.look.color("ground"))
        if self._frame is None and self.panel is not None:
            stage = self._stage()
            self._frame = stage.frame(*self._fitted().draw(stage, self._area()))
        if self._frame is not None:
            paint(painter, self._frame)
        self._ring.paint(painter, self, self._theme)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the focus when it came by the keyboard."""
        self._ring.enter(event.reason())
        super().focusInEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Enlarge what is under the pointer; sideways, or with Shift, move."""
        turned, aside = event.angleDelta().y(), event.angleDelta().x()
        if aside or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.move_by(-_PAN * (aside or turned) / _NOTCH)
        elif turned:
            self.enlarge(STEP ** (turned / _NOTCH), event.position().x())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Hold it, or begin a click."""
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        if event.button() == Qt.MouseButton.LeftButton:
            self._held = self._pressed = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """What is held moves with the pointer."""
        if self._held is None or self.panel is None:
            self._point(event.position())
            return
        way = event.position().x() - self._held.x()
        if self._pressed is not None and abs(event.position().x() - self._pressed.x()) <= _STILL:
            return
        self._held, self._pressed = event.position(), None
        wide = self._fitted().across(self._stage(), self._area())
        self.move_by(-way / max(wide, 1.0))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let go; a click that has not moved chooses what is there."""
        pressed, self._held, self._pressed = self._pressed, None, None
        if pressed is None or self.panel is None:
            return
        at = event.position()
        row = self._fitted().span_at(self._stage(), self._area(), at.x(), at.y())
        if row >= 0:
            event_ = int(self.panel.record.spans.event[row])
            self.show_panel(replace(self.panel, chosen=event_))
            self.chosen.emit(row)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show all."""
        self.show_all()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """+ and - enlarge, arrows move, 0 shows all."""
        key = Qt.Key(event.key())
        if key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Up):
            self.enlarge(STEP)
        elif key in (Qt.Key.Key_Minus, Qt.Key.Key_Down):
            self.enlarge(1 / STEP)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.move_by(_PAN if key == Qt.Key.Key_Right else -_PAN)
        elif key in (Qt.Key.Key_0, Qt.Key.Key_Home):
            self.show_all()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Hover texts come from the marks."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            said = self.tip(event.pos().x(), event.pos().y())
            QToolTip.showText(event.globalPos(), plain_tip(said), self)
            return True
        return super().event(event)

    def _point(self, at: QPointF) -> None:
        """A hand where a click would do something."""
        if self.panel is None:
            return
        row = self._fitted().span_at(self._stage(), self._area(), at.x(), at.y())
        shape = Qt.CursorShape.PointingHandCursor if row >= 0 else Qt.CursorShape.ArrowCursor
        self.setCursor(shape)

    def _fitted(self) -> WarpTimeline:
        """The panel, without tracks where there is no room for them."""
        assert self.panel is not None
        return replace(self.panel, busy=self.height() >= self._theme.look.px(_TRACKS))

    def _stage(self) -> Stage:
        look = self._theme.look
        return Stage(float(self.width()), float(self.height()), look.palette, look.scale * 0.9)

    def _area(self) -> Rect:
        return Rect(10.0, 6.0, self.width() - 20.0, self.height() - 8.0)

    def _renew(self) -> None:
        self._frame = None
        self.update()


if TYPE_CHECKING:
    from gpuviz.draw.marks import Frame
    from gpuviz.panels.limit_bars import LimitBars, WhatIfs
    from gpuviz.qt.look.theme import Theme
    from gpuviz.timing.explanation import Explanation

_GAP = 10.0


class LimitsCanvas(QWidget):
    """As high as it needs.

    Signals
    -------
    pointed : the line of the source of the bar that was clicked
    """

    pointed = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._shown: tuple[LimitBars, WhatIfs] | None = None
        self._frame: Frame | None = None
        self.setAccessibleName(tr("What limits"))
        self.setMouseTracking(True)
        theme.changed.connect(self._fit)

    def show_explained(self, e: Explanation | None) -> None:
        """Show a launch, or nothing."""
        from gpuviz.panels.limit_bars import LimitBars, WhatIfs, bars_of
        from gpuviz.panels.limit_words import what_if_words

        self._shown = None
        if e is not None:
            bars = LimitBars(bars_of(e), e.prediction.cycles, e.limits.limiter)
            self._shown = bars, WhatIfs(e)
            self.setAccessibleDescription(
                " ".join(what_if_words(e, one) + "." for one in e.what_ifs)
            )
        self._fit()

    def resizeEvent(self, event: QEvent) -> None:
        """Another width is another picture."""
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The picture, or the ground."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.look.color("ground"))
        if self._shown is not None and self._frame is None:
            stage = self._stage()
            marks = [m for one, area in self._parts(stage) for m in one.draw(stage, area)]
            self._frame = stage.frame(*marks)
        if self._frame is not None:
            paint(painter, self._frame)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click on a bar goes to its line."""
        if line := self._line(event.position().y()):
            self.pointed.emit(line)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """A hand where a click would do something."""
        there = bool(self._line(event.position().y()))
        self.setCursor(Qt.CursorShape.PointingHandCursor if there else Qt.CursorShape.ArrowCursor)

    def _line(self, y: float) -> int:
        if self._shown is None:
            return 0
        stage = self._stage()
        return self._shown[0].line_at(stage, self._parts(stage)[0][1], y)

    def _stage(self) -> Stage:
        look = self._theme.look
        return Stage(float(self.width()), float(self.height()), look.palette, look.scale * 0.9)

    def _parts(self, stage: Stage) -> list[tuple[LimitBars | WhatIfs, Rect]]:
        assert self._shown is not None
        y, found = 4.0, list[tuple["LimitBars | WhatIfs", Rect]]()
        for one in self._shown:
            high = one.need(stage, self.width() - 2 * _GAP).height
            found.append((one, Rect(_GAP, y, self.width() - 2 * _GAP, high)))
            y += high + _GAP
        return found

    def _fit(self) -> None:
        self._frame = None
        if self._shown is not None:
            last = self._parts(self._stage())[-1][1]
            self.setMinimumHeight(round(last.bottom + 4))
        self.update()
