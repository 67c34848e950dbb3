"""The speaker's own window: what is shown, what comes next, notes, slides and the clock."""

from __future__ import annotations

from PySide6.QtCore import QDateTime, QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gpuviz.lectures.pace import ON_TIME, clock
from gpuviz.lectures.picture import inked
from gpuviz.qt.controls.controls import button, label, plain_tip, restyle
from gpuviz.qt.controls.message import SELECTABLE
from gpuviz.qt.controls.tab_order import tab_as_laid_out
from gpuviz.qt.look.style import qcolor
from gpuviz.qt.painting.painter import paint
from gpuviz.qt.presenter.conductor import Conductor
from gpuviz.qt.presenter.keys import WORDS
from gpuviz.qt.presenter.preview import Preview
from gpuviz.qt.presenter.screen import Screen
from gpuviz.qt.presenter.slide_times import SlideTimes
from gpuviz.words.language import tr, trn

SIZE = (1180, 720)
_TICK_MS = 500
_FIXED = "\N{NO-BREAK SPACE}"  # where no line ends
# Keys that stay with a text or a list, and with a button, that has the focus.
_TEXT = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter)
_BUTTON = (Qt.Key.Key_Space,)
_PLAIN = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)  # a Mac's arrows
_TABS = (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)


class Speaker(QWidget):
    """Follows the conductor.

    Signals
    -------
    pressed : a key, as Qt names it
    chosen : the number of a slide chosen in the list
    asked : what a button does, an act of `keys`
    """

    pressed = Signal(int)
    chosen = Signal(int)
    asked = Signal(str)

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
        self.gpu = label("", "quiet")
        self.gpu.setWordWrap(True)  # else what is long would take the room of the notes
        self.trouble = label("", "problem")
        self.trouble.setWordWrap(True)
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
        self.trouble.setText("\n".join(text for text in said if text))
        self.trouble.setVisible(bool(self.trouble.text()))
        self.slides.blockSignals(True)
        self.slides.setCurrentRow(slide)
        self.slides.blockSignals(False)
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
        if self.elapsed.property("late") != late:
            self.elapsed.setProperty("late", late)
            restyle(self.elapsed)

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
        left, right = QVBoxLayout(), QVBoxLayout()
        clocks = QHBoxLayout()
        clocks.addWidget(self.clock)
        clocks.addStretch(1)
        clocks.addWidget(self.pace)
        clocks.addStretch(1)
        clocks.addWidget(self.elapsed)
        for widget in (self.place, self.now):
            left.addWidget(widget)
        left.addWidget(self.trouble)
        left.addWidget(self.notes, 1)
        right.addLayout(clocks)
        right.addWidget(self.coming)
        right.addWidget(self.next)
        right.addWidget(self.slides, 1)
        right.addWidget(self.gpu)
        columns = QHBoxLayout()
        columns.setSpacing(18)
        columns.addLayout(left, 3)
        columns.addLayout(right, 2)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(18, 14, 18, 12)
        whole.setSpacing(10)
        whole.addLayout(columns, 1)
        whole.addLayout(self._buttons())

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        names = (
            ("back", tr("Back")),
            ("forward", tr("Next")),
            ("black", tr("Black")),
            ("leave", tr("End lecture")),
        )
        for act, text in names:
            made = button(text, text)
            made.clicked.connect(lambda checked=False, act=act: self.asked.emit(act))
            row.addWidget(made)
        row.addWidget(_keys(), 1)
        return row


def _keys() -> QLabel:
    """What the keys do, at the right; two lines where there is no room for one."""
    told = (f"{key} {tr(WORDS[key])}".replace(" ", _FIXED) for key in WORDS)
    made = label("   ".join(told), "quiet")
    made.setWordWrap(True)
    made.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    return made
