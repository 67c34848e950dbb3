"""The timeline of a multiprocessor as a widget: enlarged, moved, hovered, clicked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy

from gpuviz.draw.layout import Rect
from gpuviz.draw.stage import Stage
from gpuviz.draw.zoom import STEP
from gpuviz.qt.controls.controls import Ring, keep_arrows
from gpuviz.qt.painting.frame_canvas import FrameCanvas
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.draw.marks import Frame
    from gpuviz.panels.limit_bars import LimitBars, WhatIfs
    from gpuviz.panels.warp_timeline import WarpTimeline
    from gpuviz.qt.look.theme import Theme
    from gpuviz.timing.explanation import Explanation

_NOTCH = 120  # of a wheel, in Qt's eighths of a degree
_STILL = 4  # pixels that a click may move and still be one
_PAN = 0.1  # of what is seen, by a key
_TRACKS = 330  # pixels from which on there is room for tracks


class TimelineCanvas(FrameCanvas):
    """Wheel and + - enlarge what is pointed at, dragging and arrows move, 0 or a double click shows
    all; a click chooses what is there.
    """

    chosen = Signal(int)  # the row of the record's spans that was clicked
    looked = Signal()  # the cycles shown have changed
    letters = 0.9

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._ring = Ring()
        self._held: QPointF | None = None
        self._pressed: QPointF | None = None
        self.panel: WarpTimeline | None = None
        self.setAccessibleName(tr("Timeline of a multiprocessor"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        keep_arrows(self)

    def minimumSizeHint(self) -> QSize:
        """Enough to tell lanes apart."""
        return QSize(300, 120)

    def show_panel(self, panel: WarpTimeline | None) -> None:
        """Show another part, or nothing."""
        self.panel = panel
        self.renew()
        self.looked.emit()

    def enlarge(self, by: float, x: float | None = None) -> None:
        """So many times as large, around a point; by default the middle."""
        if self.panel is not None:
            at = self.width() / 2 if x is None else x
            cycle = self._fitted().cycle_at(self.stage(), self._area(), at)
            self.show_panel(self.panel.zoomed(cycle, by))

    def move_by(self, share: float) -> None:
        """Move by a part of what is seen."""
        if self.panel is not None:
            self.show_panel(self.panel.moved(share * (self.panel.end - self.panel.begin)))

    def show_all(self) -> None:
        """All that was recorded of the launch."""
        if self.panel is not None:
            self.show_panel(self.panel.whole())

    def draw(self) -> Frame | None:
        """The part of the launch that is looked at."""
        if self.panel is None:
            return None
        stage = self.stage()
        return stage.frame(*self._fitted().draw(stage, self._area()))

    def paintEvent(self, event: QPaintEvent) -> None:
        """The picture, and the focus."""
        super().paintEvent(event)
        self._ring.paint(QPainter(self), self, self._theme)

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
        wide = self._fitted().across(self.stage(), self._area())
        self.move_by(-way / max(wide, 1.0))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let go; a click that has not moved chooses what is there."""
        pressed, self._held, self._pressed = self._pressed, None, None
        if pressed is None or self.panel is None:
            return
        at = event.position()
        row = self._fitted().span_at(self.stage(), self._area(), at.x(), at.y())
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

    def _point(self, at: QPointF) -> None:
        """A hand where a click would do something."""
        if self.panel is None:
            return
        row = self._fitted().span_at(self.stage(), self._area(), at.x(), at.y())
        shape = Qt.CursorShape.PointingHandCursor if row >= 0 else Qt.CursorShape.ArrowCursor
        self.setCursor(shape)

    def _fitted(self) -> WarpTimeline:
        """The panel, without tracks where there is no room for them."""
        assert self.panel is not None
        return replace(self.panel, busy=self.height() >= self._theme.look.px(_TRACKS))

    def _area(self) -> Rect:
        return Rect(10.0, 6.0, self.width() - 20.0, self.height() - 8.0)


_GAP = 10.0


class LimitsCanvas(FrameCanvas):
    """As high as it needs."""

    pointed = Signal(int)  # the line of the source of the bar that was clicked
    letters = 0.9

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._shown: tuple[LimitBars, WhatIfs] | None = None
        self.setAccessibleName(tr("What limits"))
        self.setMouseTracking(True)

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
        self.renew()

    def draw(self) -> Frame | None:
        """Bars, below them what would be without."""
        if self._shown is None:
            return None
        stage = self.stage()
        return stage.frame(*(m for one, area in self._parts(stage) for m in one.draw(stage, area)))

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
        stage = self.stage()
        return self._shown[0].line_at(stage, self._parts(stage)[0][1], y)

    def _parts(self, stage: Stage) -> list[tuple[LimitBars | WhatIfs, Rect]]:
        assert self._shown is not None
        y, found = 4.0, list[tuple["LimitBars | WhatIfs", Rect]]()
        for one in self._shown:
            high = one.need(stage, self.width() - 2 * _GAP).height
            found.append((one, Rect(_GAP, y, self.width() - 2 * _GAP, high)))
            y += high + _GAP
        return found

    def renew(self) -> None:
        """As high as the picture needs it."""
        super().renew()
        if self._shown is not None:
            last = self._parts(self.stage())[-1][1]
            self.setMinimumHeight(round(last.bottom + 4))
