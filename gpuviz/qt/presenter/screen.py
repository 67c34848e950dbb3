"""What the class sees: the picture of the cue, and nothing else."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from gpuviz.draw.marks import Frame
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.lectures import strip
from gpuviz.lectures.answer import named, shown
from gpuviz.lectures.picture import Shown, frame, letters, titled
from gpuviz.qt.controls.announce import Announcer
from gpuviz.qt.look.theme import Look
from gpuviz.qt.presenter.conductor import Conductor
from gpuviz.qt.presenter.pointer import ZOOMS, Tool, paint_tool
from gpuviz.qt.presenter.seen import Seen, fitted
from gpuviz.qt.presenter.tuning import Tuning

_BLANK = {"black": QColor(0, 0, 0), "white": QColor(255, 255, 255)}
_REST_MS = 2000  # after which a pointer that does not move is hidden


class Screen(QWidget):
    """Paints `lectures.picture.frame`. Keeps the last good picture when one cannot be made.

    Signals
    -------
    pressed : a key, as Qt names it
    closed : the window was closed
    troubled : why a picture could not be made, whenever that is something new
    """

    pressed = Signal(int)
    closed = Signal()
    troubled = Signal(str)

    def __init__(self, conductor: Conductor, tuning: Tuning, look: Look) -> None:
        super().__init__()
        self._conductor, self._tuning, self._look = conductor, tuning, look
        self._frame: Frame | None = None
        self._fresh = False
        self._at = QPointF(-1e6, -1e6)
        self.tool: Tool = ""
        self.zoom = ZOOMS[1]
        self.trouble = ""
        self.setWindowTitle(conductor.lecture.title)
        self.setAccessibleName(tr("Screen for the class"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumSize(640, 360)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_REST_MS)
        self._rest.timeout.connect(self._show_cursor)
        for signal in (conductor.moved, conductor.changed, conductor.blanked, tuning.changed):
            signal.connect(self.refresh)
        conductor.player.t_changed.connect(self.refresh)
        self.announcer = Announcer(self)
        conductor.moved.connect(self._tell)
        self._show_cursor()

    @property
    def frame(self) -> Frame | None:
        """The picture shown, without what follows the mouse."""
        return self._frame

    def set_look(self, look: Look) -> None:
        """Other colours, or larger letters."""
        self._look = look
        self.refresh()

    def set_tool(self, tool: Tool) -> None:
        """Let this follow the mouse; nothing when it does already."""
        self.tool = "" if tool == self.tool else tool
        self._show_cursor()
        self.update()

    def refresh(self, *_: object) -> None:
        """Make a new picture at the next painting."""
        self._fresh = False
        self.update()

    def stage(self) -> Stage:
        """The stage below the strip, with letters for the back row."""
        whole = self.stage_of(self._conductor.shown)
        room = strip.height(self._window()) if self._tuning.strip is not None else 0.0
        return replace(whole, height=whole.height - room)

    def stage_of(self, shown: Shown) -> Stage:
        """The stage of a slide that has the whole widget."""
        view = shown.slide.view
        scale = letters(self.height(), view is not None and view.compared)
        return replace(self._window(), scale=self._look.scale * scale)

    def seen(self) -> Seen | None:
        """What is to be seen; the last good picture when there is none, None before the first."""
        if not self._fresh:
            self._make()
        if self._frame is None:
            return None
        above = self._tuning.strip
        drawn = strip.frame(self._window(), above) if above is not None else None
        top = drawn.height if drawn is not None else 0.0
        area = QRectF(0, top, self.width(), self.height() - top)
        onto = fitted(self._frame.width, self._frame.height, area)
        return Seen(self._frame, area, onto, drawn)

    def paint_on(self, painter: QPainter) -> None:
        """The picture with all that lies over it, or a colour, in the size of this widget."""
        if self._conductor.blank:
            painter.fillRect(self.rect(), _BLANK[self._conductor.blank])
        elif (seen := self.seen()) is None:
            painter.fillRect(self.rect(), self._look.color("ground"))
        else:
            seen.paint(painter)
            paint_tool(painter, self.tool, seen, self._at, self.zoom, self._look)

    def paintEvent(self, event: QPaintEvent) -> None:
        """What the class sees."""
        self.paint_on(QPainter(self))

    def _window(self) -> Stage:
        """A stage of the whole widget, with letters as for one picture."""
        scale = self._look.scale * letters(self.height(), False)
        return Stage(float(self.width()), float(self.height()), self._look.palette, scale)

    def _tell(self) -> None:
        """Say the slide, the question, or what comes out."""
        said, cue = self._conductor.shown, self._conductor.cue
        words = [said.slide.name]
        if said.slide.question is not None and cue.asks:
            words += [said.slide.question.ask, ", ".join(map(shown, named(said.slide.question)))]
        elif cue.reveals and said.answer is not None:
            words.append(
                tr("answer: {value} {unit}", value=shown(said.answer.value), unit=said.answer.unit)
            )
        elif said.story is not None:
            words.append(said.story.sentence)
        self.announcer.say(". ".join(word for word in words if word))

    def _make(self) -> None:
        self._fresh = True
        conductor = self._conductor
        try:
            self._frame = frame(conductor.shown, conductor.cue, conductor.player.t, self.stage())
        except Exception as error:  # a lesson's mistake must not stop a lecture
            said, before = f"{type(error).__name__}: {error}", self.trouble
            self.trouble = said
            if said != before:
                self.troubled.emit(said)
            return
        self.trouble = ""
        self.setAccessibleDescription(conductor.shown.slide.name)

    def resizeEvent(self, event: QEvent) -> None:
        """Another size is another picture."""
        self.refresh()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keys are the presentation's."""
        self.pressed.emit(event.key())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click goes on, as remote controls have it; the other button goes back. One on the title
        opens the strip.
        """
        left, at = event.button() == Qt.MouseButton.LeftButton, event.position()
        seen = self.seen()
        if left and seen is not None and not self._conductor.blank:
            if not seen.area.contains(at):
                self._tuning.click(self._window(), at.x(), at.y())
                return
            there = seen.onto.inverted()[0].map(at)
            if titled(seen.picture, there.x(), there.y()) and self._tuning.offered:
                self._tuning.toggle()
                return
        self.pressed.emit(Qt.Key.Key_Space if left else Qt.Key.Key_PageUp)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """The tool follows."""
        self._at = event.position()
        self._rest.start()
        if self.tool:
            self.update()
        else:
            self.unsetCursor()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel enlarges what the lens shows."""
        if self.tool == "lens" and event.angleDelta().y():
            way = 1 if event.angleDelta().y() > 0 else -1
            index = min(max(ZOOMS.index(self.zoom) + way, 0), len(ZOOMS) - 1)
            self.zoom = ZOOMS[index]
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """Without the mouse there is nothing to follow it."""
        self._at = QPointF(-1e6, -1e6)
        self.update()

    def closeEvent(self, event: QEvent) -> None:
        """Closing the screen ends the lecture."""
        self.closed.emit()
        super().closeEvent(event)  # type: ignore[arg-type]

    def _show_cursor(self) -> None:
        """No arrow on what is taught: it comes with the mouse and goes with it."""
        self.setCursor(Qt.CursorShape.BlankCursor)
