"""What the class sees: the strip above, the picture of the cue below it, and nothing else."""

from dataclasses import dataclass, replace

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QTransform,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget

from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Frame
from gpuviz.draw.stage import Stage
from gpuviz.lectures import strip
from gpuviz.lectures.answer import named, shown
from gpuviz.lectures.picture import SlideState, frame, letters, line_of, titled
from gpuviz.qt.controls.controls import timer
from gpuviz.qt.controls.message import Announcer
from gpuviz.qt.look.theme import Look
from gpuviz.qt.painting.painter import paint
from gpuviz.qt.presenter.board import DRAGGED, Board, Tool
from gpuviz.qt.presenter.conductor import Conductor
from gpuviz.qt.presenter.strip_controller import StripController
from gpuviz.words.language import tr

_INTERSECT = Qt.ClipOperation.IntersectClip
WHOLE = Rect(0.0, 0.0, 1.0, 1.0)


@dataclass(frozen=True, eq=False)
class ScreenContent:
    """`picture`, with its ink, lies in `area` of the window by `onto`; `strip` lies at the top.
    `rubber` is a rectangle of the picture that is being dragged.
    """

    picture: Frame
    area: QRectF
    onto: QTransform
    strip: Frame | None = None
    rubber: Rect | None = None

    def paint(self, painter: QPainter) -> None:
        """Paint all of it; the window's top left corner is the painter's origin."""
        painter.save()
        painter.setClipRect(self.area, _INTERSECT)
        painter.fillRect(self.area, QColor(*self.picture.ground.tolist()))
        painter.setTransform(self.onto, True)
        paint(painter, self.picture)
        if self.rubber is not None:
            _frame(painter, self.picture, self.rubber)
        painter.restore()
        if self.strip is not None:
            paint(painter, self.strip)


def _frame(painter: QPainter, picture: Frame, rubber: Rect) -> None:
    """What is left out of the rectangle is veiled."""
    veil = QPainterPath()
    veil.addRect(QRectF(0, 0, picture.width, picture.height))
    veil.addRect(QRectF(*rubber))
    painter.fillPath(veil, QColor(127, 127, 127, 110))


def fitted(width: float, height: float, area: QRectF, part: Rect = WHOLE) -> QTransform:
    """How a picture of this size lies in an area so that a part of it, in shares, is in full view,
    in the middle and as large as it can be.
    """
    scale = min(area.width() / (part.width * width), area.height() / (part.height * height))
    x, y = part.center
    made = QTransform()
    made.translate(area.center().x(), area.center().y())
    made.scale(scale, scale)
    return made.translate(-x * width, -y * height)


_RADIUS, _DOT = 0.22, 0.011  # of the screen's height
ZOOMS = (1.5, 2.0, 3.0, 4.0)
_RED = QColor(235, 30, 30)


def paint_tool(
    painter: QPainter, tool: Tool, seen: ScreenContent, at: QPointF, zoom: float, look: Look
) -> None:
    """The tool at a place of the window."""
    if tool == "laser":
        _laser(painter, seen.area.bottom() * _DOT, at)
    elif tool == "lens":
        _lens(painter, seen, at, zoom, look)


def _laser(painter: QPainter, radius: float, at: QPointF) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(255, 255, 255, 210), radius * 0.35))
    painter.setBrush(_RED)
    painter.drawEllipse(at, radius, radius)


def _lens(painter: QPainter, seen: ScreenContent, at: QPointF, zoom: float, look: Look) -> None:
    """The picture painted again, larger, within a circle: lines and letters stay sharp."""
    height = seen.area.bottom()
    radius = height * _RADIUS
    circle = QPainterPath()
    circle.addEllipse(at, radius, radius)
    painter.save()
    painter.setClipPath(circle, Qt.ClipOperation.IntersectClip)
    painter.translate(at.x() * (1 - zoom), at.y() * (1 - zoom))
    painter.scale(zoom, zoom)
    seen.paint(painter)
    painter.restore()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(look.color("ink"), max(height / 270, 2.0)))
    painter.drawPath(circle)


_BLANK = {"black": QColor(0, 0, 0), "white": QColor(255, 255, 255)}
_REST_MS = 2000  # after which a pointer that does not move is hidden


class Screen(QWidget):
    """Paints `lectures.picture.frame`. Keeps the last good picture when one cannot be made."""

    pressed = Signal(int)  # a key, as Qt names it
    closed = Signal()  # the window was closed
    troubled = Signal(str)  # why a picture could not be made, whenever that is something new

    def __init__(
        self, conductor: Conductor, tuning: StripController, board: Board, look: Look
    ) -> None:
        super().__init__()
        self._conductor, self._tuning, self._look = conductor, tuning, look
        self.board = board
        self._drawn_on: tuple[float, float, float] | None = None
        self._frozen: tuple[ScreenContent, QSize] | None = None
        self._predicts = False  # whether a prediction is being dragged
        self.frame: Frame | None = None  # without what follows the mouse
        self._fresh = False
        self._at = QPointF(-1e6, -1e6)
        self.zoom = ZOOMS[1]
        self.trouble = ""
        self.setWindowTitle(conductor.lecture.title)
        self.setAccessibleName(tr("Screen for the class"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumSize(640, 360)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._rest = timer(self, _REST_MS, self._show_cursor)
        for signal in (conductor.moved, conductor.changed, conductor.blanked, tuning.changed):
            signal.connect(self.refresh)
        conductor.player.t_changed.connect(self.refresh)
        board.changed.connect(self._follow_board)
        self.announcer = Announcer(self)
        conductor.moved.connect(self._tell)
        self._show_cursor()

    def set_look(self, look: Look) -> None:
        """Other colours, or larger letters."""
        self._look = look
        self.refresh()

    @property
    def frozen(self) -> bool:
        """Whether the class sees a picture that stands still."""
        return self._frozen is not None

    def freeze(self, on: bool) -> None:
        """Let what the class sees stand still, whatever the speaker does; or go with it again."""
        seen = self.seen() if on else None
        self._frozen = (seen, self.size()) if seen is not None else None
        self.update()

    def refresh(self) -> None:
        """Make a new picture at the next painting."""
        self._fresh = False
        self.update()

    def stage(self) -> Stage:
        """The stage that the picture is laid out on: the one its ink was drawn on, or that below
        the strip, with letters for the back row.
        """
        ink = self.board.ink
        if ink is not None:
            return ink.stage(self._look.palette)
        whole = self.stage_of(self._conductor.shown)
        room = strip.height(self._window()) if self._tuning.strip is not None else 0.0
        return replace(whole, height=whole.height - room)

    def stage_of(self, shown: SlideState) -> Stage:
        """The stage of a slide that has the whole widget."""
        scale = letters(self.height(), shown.slide.halved)
        return replace(self._window(), scale=self._look.scale * scale)

    def seen(self) -> ScreenContent | None:
        """What is to be seen; the last good picture when there is none, None before the first."""
        stage = self.stage()
        on = stage.width, stage.height, stage.scale
        if not self._fresh or on != self._drawn_on:
            self._drawn_on = on
            self._make(stage)
        if self.frame is None:
            return None
        above = self._tuning.strip
        drawn = strip.frame(self._window(), above) if above is not None else None
        top = drawn.height if drawn is not None else 0.0
        area = QRectF(0, top, self.width(), self.height() - top)
        onto = fitted(self.frame.width, self.frame.height, area, self.board.part or WHOLE)
        ink = self.board.ink
        marks = ink.marks(self._look.palette) if ink is not None else ()
        picture = replace(self.frame, marks=(*self.frame.marks, *marks))
        return ScreenContent(picture, area, onto, drawn, self.board.rubber)

    def paint_on(self, painter: QPainter) -> None:
        """The picture with all that lies over it, or a colour, in the size of this widget."""
        if self._conductor.blank:
            painter.fillRect(self.rect(), _BLANK[self._conductor.blank])
        elif (seen := self.seen()) is None:
            painter.fillRect(self.rect(), self._look.color("ground"))
        else:
            seen.paint(painter)
            paint_tool(painter, self.board.tool, seen, self._at, self.zoom, self._look)

    def paintEvent(self, event: QPaintEvent) -> None:
        """What the class sees."""
        painter = QPainter(self)
        if self._frozen is None or self._conductor.blank:
            self.paint_on(painter)
            return
        seen, size = self._frozen
        painter.fillRect(self.rect(), self._look.color("ground"))
        share = min(self.width() / size.width(), self.height() / size.height())
        painter.scale(share, share)
        seen.paint(painter)

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

    def _follow_board(self) -> None:
        self._show_cursor()
        self.update()

    def _make(self, stage: Stage) -> None:
        self._fresh = True
        conductor = self._conductor
        try:
            self.frame = frame(conductor.shown, conductor.cue, conductor.player.t, stage)
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
        undo = event.matches(QKeySequence.StandardKey.Undo)
        self.pressed.emit(Qt.Key.Key_U if undo else event.key())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click goes on, as remote controls have it; the other button goes back."""
        left = event.button() == Qt.MouseButton.LeftButton
        if not left or not self.press_at(event.position()):
            self.pressed.emit(Qt.Key.Key_Space if left else Qt.Key.Key_PageUp)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """The tool follows."""
        self.move_to(event.position())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A line ends."""
        self.release()

    def release(self) -> None:
        """The button goes up."""
        self._predicts = False
        self.board.end()

    def _predict(self, there: QPointF, begins: bool = False) -> bool:
        """The class predicts the number at a point of the picture; False where none is asked for,
        or it `begins` beside the line.
        """
        conductor = self._conductor
        line, one = (
            line_of(conductor.shown, conductor.cue, self.stage()),
            conductor.shown.prediction,
        )
        if line is None or one is None:
            return False
        inside = line.x <= there.x() <= line.right and line.y <= there.y() <= line.bottom
        if begins and not inside:
            return False
        conductor.predict(one.reach.at((there.x() - line.x) / line.width))
        return True

    def press_at(self, at: QPointF) -> bool:
        """The button goes down at a point of the window: a line begins, the strip is clicked, or
        the title, which opens it. False where none of these is.
        """
        seen = self.seen()
        if seen is None or self._conductor.blank:
            return False
        there = seen.onto.inverted()[0].map(at)
        if not seen.area.contains(at):
            self._tuning.click(self._window(), at.x(), at.y())
        elif self.board.tool in DRAGGED:
            self.board.begin(there.x(), there.y(), self.stage())
        elif self._predict(there, begins=True):
            self._predicts = True
        elif titled(seen.picture, there.x(), there.y()) and self._tuning.offered:
            self._tuning.toggle()
        else:
            return False
        return True

    def move_to(self, at: QPointF) -> None:
        """The mouse is at a point of the window."""
        self._at = at
        self._rest.start()
        if self._predicts and (seen := self.seen()) is not None:
            self._predict(seen.onto.inverted()[0].map(at))
        elif self.board.tool in DRAGGED and (seen := self.seen()) is not None:
            there = seen.onto.inverted()[0].map(at)
            self.board.draw(there.x(), there.y())
        elif self.board.tool:
            self.board.changed.emit()
        else:
            self.unsetCursor()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel enlarges what the lens shows."""
        if self.board.tool == "lens" and event.angleDelta().y():
            way = 1 if event.angleDelta().y() > 0 else -1
            index = min(max(ZOOMS.index(self.zoom) + way, 0), len(ZOOMS) - 1)
            self.zoom = ZOOMS[index]
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """Without the mouse there is nothing to follow it."""
        self._at = QPointF(-1e6, -1e6)
        self.board.changed.emit()

    def closeEvent(self, event: QEvent) -> None:
        """Closing the screen ends the lecture."""
        self.closed.emit()
        super().closeEvent(event)  # type: ignore[arg-type]

    def _show_cursor(self) -> None:
        """No arrow on what is taught: it comes with the mouse and goes with it."""
        draws = self.board.tool in DRAGGED
        self.setCursor(Qt.CursorShape.CrossCursor if draws else Qt.CursorShape.BlankCursor)
