"""The speaker's own window: what is shown, what comes next, notes, slides and the clock."""

import time
from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import QDateTime, QEvent, QObject, QSignalBlocker, QSizeF, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from gpuviz.lectures import pace
from gpuviz.lectures.pace import ON_TIME, clock
from gpuviz.lectures.picture import inked
from gpuviz.qt.controls.controls import button, label, plain_tip, set_look, show_words
from gpuviz.qt.controls.layouts import column_of, row_of, tab_as_laid_out
from gpuviz.qt.controls.message import SELECTABLE
from gpuviz.qt.look.theme import qcolor
from gpuviz.qt.painting.frame_canvas import ScaledPicture
from gpuviz.qt.painting.painter import paint
from gpuviz.qt.presenter.conductor import Conductor
from gpuviz.qt.presenter.screen import Screen
from gpuviz.words.language import texts, tr, trn

Paint = Callable[[QPainter], object]


class Preview(ScaledPicture):
    """Paints what `paint` paints in the screen's own size, made smaller.

    In one `by_hand` the mouse does what it does on the screen.
    """

    def __init__(self, name: str, paint: Paint, screen: Screen, by_hand: bool = False) -> None:
        super().__init__(name, QSizePolicy.Policy.Expanding)
        self._paint, self._screen = paint, screen
        self._hand = screen if by_hand else None
        self.setMouseTracking(by_hand)

    @property
    def whole(self) -> QSizeF:
        """That of the screen."""
        return QSizeF(self._screen.size())

    def paintEvent(self, event: QPaintEvent) -> None:
        """The picture, as large as fits."""
        self._paint(self.painter())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """As on the screen, but that a click does not go on."""
        if self._hand is not None and event.button() == Qt.MouseButton.LeftButton:
            self._hand.press_at(event.position() / self.share)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """As on the screen."""
        if self._hand is not None:
            self._hand.move_to(event.position() / self.share)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """As on the screen."""
        if self._hand is not None:
            self._hand.release()


Clock = Callable[[], float]  # seconds, from whenever


class SlideTimes:
    """Runs from when it is made; `clock` may be another one in tests."""

    def __init__(self, conductor: Conductor, clock: Clock = time.monotonic) -> None:
        self._conductor, self._clock = conductor, clock
        self._begun = self._since = clock()
        self._slide = conductor.slide
        self._past: dict[int, float] = {}
        conductor.moved.connect(self._follow)

    @property
    def passed(self) -> float:
        """Seconds since the beginning."""
        return self._clock() - self._begun

    @property
    def taken(self) -> Mapping[int, float]:
        """Seconds of each slide that was shown, that shown now included."""
        now = self._past.get(self._slide, 0.0) + self._clock() - self._since
        return {**self._past, self._slide: now}

    @property
    def late(self) -> float | None:
        """Seconds behind the plan, less than 0 when ahead; None without a plan."""
        plan = pace.planned(self._conductor.lecture)
        return pace.behind(plan, self._conductor.slide, self.passed) if sum(plan) else None

    @property
    def told(self) -> str:
        """The slide's time and how far behind it is: `0:50 of 1:30 · on time`."""
        plan, slide = pace.planned(self._conductor.lecture), self._conductor.slide
        late = self.late
        here = pace.beside(self.taken.get(slide, 0.0), plan[slide])
        return f"{here} · {pace.told(late)}" if late is not None else ""

    def _follow(self) -> None:
        if self._conductor.slide != self._slide:
            self._past, self._since = dict(self.taken), self._clock()
            self._slide = self._conductor.slide


SIZE = (1180, 720)
_TICK_MS = 500
_FIXED = "\N{NO-BREAK SPACE}"  # where no line ends
# Keys that stay with a text or a list, and with a button, that has the focus.
_TEXT = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter)
_BUTTON = (Qt.Key.Key_Space,)
_PLAIN = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)  # a Mac's arrows
_TABS = (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)


class Speaker(QWidget):
    """Follows the conductor."""

    pressed = Signal(int)  # a key, as Qt names it
    chosen = Signal(int)  # the number of a slide chosen in the list
    asked = Signal(str)  # what a button does, an act of `keys`

    def __init__(self, conductor: Conductor, screen: Screen, times: SlideTimes) -> None:
        super().__init__()
        self._conductor = conductor
        self._times = times
        self._notes = ""
        self.setObjectName("speaker")
        self.setWindowTitle(tr("Notes: {title}", title=conductor.lecture.title))
        self.resize(*SIZE)
        self.now = Preview(tr("What is shown"), screen.paint_on, screen, by_hand=True)
        self.next = Preview(tr("What comes next"), self._paint_following, screen)
        self._screen = screen
        self.place = label("", "value")
        self.coming = label("", "quiet")
        self.clock = label("", "clock")
        self.elapsed = label("", "clock")
        self.pace = label("", "value")
        self.gpu = label("", "quiet", wraps=True)  # else it would take the room of the notes
        self.trouble = label("", "problem", wraps=True)
        self.notes = QPlainTextEdit()
        self.notes.setReadOnly(True)
        self.notes.setObjectName("notes")
        self.notes.setAccessibleName(tr("Notes"))
        self.notes.setTabChangesFocus(True)
        self.notes.setTextInteractionFlags(SELECTABLE)
        self.slides = self._list()
        self._lay_out()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # else the first button would have it
        self.setFocus()
        self._hand_on()
        for signal in (conductor.moved, conductor.changed, conductor.blanked):
            signal.connect(self.refresh)
        conductor.player.t_changed.connect(lambda t: self.now.update())
        screen.board.changed.connect(self.now.update)
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK_MS)
        self._timer.timeout.connect(self._tick)
        self._timer.start()
        self._tick()
        self.refresh()

    def say(self, words: str) -> None:
        """How the GPU is."""
        self.gpu.setText(words)

    def refresh(self) -> None:
        """Tell of the place in the lecture."""
        conductor = self._conductor
        slide, cue = conductor.place
        count = len(conductor.lecture.slides)
        self.place.setText(
            tr(
                "slide {n} of {count} · step {step} of {steps}",
                n=slide + 1,
                count=count,
                step=cue + 1,
                steps=len(conductor.cues),
            )
        )
        hands = conductor.hands
        if hands is not None and hands.total:
            raised = trn("{n} hand", "{n} hands", hands.total)
            self.place.setText(f"{self.place.text()} · {raised}")
        if self._screen.frozen:
            still = tr("the class sees a still picture")
            self.place.setText(f"{self.place.text()} · {still}")
        self.coming.setText(self._coming())
        notes = conductor.shown.slide.notes
        if notes != self._notes:  # which Qt does not give back: it makes some spaces others
            self._notes = notes
            self.notes.setPlainText(notes)
        said = [conductor.shown.trouble, *map(str, conductor.shown.slide.problems)]
        show_words(self.trouble, "\n".join(filter(None, said)))
        with QSignalBlocker(self.slides):
            self.slides.setCurrentRow(slide)
        self.now.update()
        self.next.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keys are the presentation's, whichever window has them."""
        self.pressed.emit(event.key())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Whatever has the focus keeps only the keys it needs: a clicker works everywhere."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            own = _BUTTON if isinstance(watched, QPushButton) else _TEXT
            if event.modifiers() in _PLAIN and (event.key() not in (*own, *_TABS)):
                self.pressed.emit(event.key())
                return True
        return super().eventFilter(watched, event)

    def _hand_on(self) -> None:
        """Notes and slides can be read by keyboard; Enter goes to the slide chosen."""
        for widget in (self.notes, self.slides, *self.findChildren(QPushButton)):
            widget.installEventFilter(self)
        self.slides.itemActivated.connect(lambda item: self.chosen.emit(self.slides.row(item)))
        tab_as_laid_out(self)

    def _paint_following(self, painter: QPainter) -> None:
        """What the next click leads to: the end of what it plays; black behind the last slide."""
        found, whole = self._conductor.following(), self._screen.rect()
        if found is None:
            painter.fillRect(whole, Qt.GlobalColor.black)
            return
        shown, cue = found
        stage = self._screen.stage_of(shown)
        try:
            paint(painter, inked(shown, cue, cue.end, stage))
        except Exception:  # the screen tells of it when it is shown
            painter.fillRect(whole, qcolor(stage.palette.ground))

    def _coming(self) -> str:
        found = self._conductor.following()
        if found is None:
            return tr("next: the end")
        shown, cue = found
        if cue.reveals:
            return tr("next: the answer")
        if cue.asks:
            return tr("next: a question")
        return tr("next: {name}", name=shown.slide.name)

    def _tick(self) -> None:
        """The time of day, and how long the lecture has taken of what it is meant to."""
        self.clock.setText(QDateTime.currentDateTime().toString("HH:mm"))
        seconds = int(self._times.passed)
        planned = self._conductor.lecture.minutes
        passed = clock(seconds)
        self.elapsed.setText(
            tr("{passed} of {planned:g} min", passed=passed, planned=planned) if planned else passed
        )
        self.pace.setText(self._times.told)
        behind = self._times.late
        late = behind is not None and behind >= ON_TIME
        set_look(self.elapsed, "late", late)

    def _list(self) -> QListWidget:
        made = QListWidget()
        made.setAccessibleName(tr("Slides"))
        made.setTextElideMode(Qt.TextElideMode.ElideRight)
        made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for number, slide in enumerate(self._conductor.lecture.slides, 1):
            mark = " ?" if slide.question is not None else ""
            item = QListWidgetItem(f"{number}  {slide.name}{mark}")
            item.setToolTip(plain_tip("\n".join([slide.name, *map(str, slide.problems)])))
            if not slide.playable:
                item.setFlags(Qt.ItemFlag.NoItemFlags)
            made.addItem(item)
        made.itemClicked.connect(lambda item: self.chosen.emit(made.row(item)))
        return made

    def _lay_out(self) -> None:
        clocks = row_of(self.clock, 1, self.pace, 1, self.elapsed)
        left = column_of(self.place, self.now, self.trouble, (self.notes, 1))
        right = column_of(clocks, self.coming, self.next, (self.slides, 1), self.gpu)
        columns = row_of((left, 3), (right, 2), gap=18)
        column_of((columns, 1), self._buttons(), on=self, gap=10, margins=(18, 14, 18, 12))

    def _buttons(self) -> QHBoxLayout:
        names = (
            ("back", tr("Back")),
            ("forward", tr("Next")),
            ("black", tr("Black")),
            ("leave", tr("End lecture")),
        )
        made = [button(text, text) for _, text in names]
        for (act, _), one in zip(names, made, strict=True):
            one.clicked.connect(partial(self.asked.emit, act))
        return row_of(*made, (_keys(), 1))


def _keys() -> QLabel:
    """What the keys do, at the right; two lines where there is no room for one."""
    keys = texts("keys")
    told = (f"{key} {tr(keys[key])}".replace(" ", _FIXED) for key in keys)
    made = label("   ".join(told), "quiet", wraps=True)
    made.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    return made
