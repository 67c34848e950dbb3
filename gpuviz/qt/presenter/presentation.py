"""A lecture being given: the screen, the speaker's window, and the keys of both."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication, QScreen

from gpuviz.base.errors import Error, InputError, failure_of
from gpuviz.draw.palette import THEMES
from gpuviz.gpu.gpu_state import State
from gpuviz.lectures.lecture import Lecture, Slide
from gpuviz.lectures.writing import Changes, Keep
from gpuviz.lectures.writing import changed as changed_by
from gpuviz.qt.controls.controls import timer
from gpuviz.qt.look.theme import Look
from gpuviz.qt.presenter.board import Board, Tool
from gpuviz.qt.presenter.conductor import Conductor
from gpuviz.qt.presenter.keys import HandCount, TypedNumber, act_of, digit_of
from gpuviz.qt.presenter.screen import Screen
from gpuviz.qt.presenter.slide_measurements import SlideMeasurements
from gpuviz.qt.presenter.slide_runs import SlideRuns, VariedRuns
from gpuviz.qt.presenter.speaker import Clock, SlideTimes, Speaker
from gpuviz.qt.presenter.strip_controller import StripController
from gpuviz.qt.running.meter import Meter
from gpuviz.qt.running.worker import Perform
from gpuviz.run.session import Library
from gpuviz.story.exhibit import Exhibit
from gpuviz.story.sources import Sources

THEME = "projector"
SCALES = (0.75, 0.85, 1.0, 1.15, 1.3, 1.5)  # of the letters, to what a screen begins with
TOOLS: tuple[Tool, ...] = ("laser", "lens", "pen", "marker", "part")
_LEAST = 1.0  # seconds that a slide has to be shown to have been rehearsed
SCREENS_MS = 400  # after which windows follow the screens that there are
DIGITS_MS = 700  # after which a number that was typed is gone to


@dataclass(frozen=True, eq=False)
class Places:
    """The screens of the class and of the speaker; the same one when there is only one."""

    audience: QScreen
    speaker: QScreen

    @property
    def one(self) -> bool:
        """Whether both share a screen."""
        return self.audience is self.speaker


def places() -> Places:
    """The speaker keeps the primary screen; the class gets another one if there is any."""
    primary = QGuiApplication.primaryScreen()
    others = [screen for screen in QGuiApplication.screens() if screen is not primary]
    return Places(others[0] if others else primary, primary)


def _taking(seconds: float, slide: Slide) -> Slide:
    return replace(slide, taken=seconds)


def _application() -> QGuiApplication:
    app = QGuiApplication.instance()
    assert isinstance(app, QGuiApplication)
    return app


class Presentation(QObject):
    """Begins with `start`; ends by Esc, by closing the screen, or behind the last slide.

    Launches are looked up in `library`, by default in what ships. `known` are slides that have been
    performed already, `calm` is for those who want no motion. A GPU is kept busy with what is shown
    for the share `use` of the time, 0 for not at all. What `keep` is given, it keeps with the
    lecture: ink, and when it `rehearses`, how long each slide took.
    """

    # The seconds of each slide shown, by number, and where they are kept, in words.
    rehearsed = Signal(Mapping, str)
    ended = Signal(int)  # it is over, on the slide of this number

    def __init__(
        self,
        lecture: Lecture,
        perform: Perform,
        sources: Sources,
        library: Library | None = None,
        parent: QObject | None = None,
        known: Mapping[int, Exhibit] | None = None,
        calm: bool = False,
        use: float = State().use,
        keep: Keep | None = None,
        rehearses: bool = False,
        clock: Clock = time.monotonic,
    ) -> None:
        super().__init__(parent)
        if not any(slide.playable for slide in lecture.slides):
            raise InputError(f"the lecture “{lecture.title}” has no slide that can be shown")
        self._scale = 1.0
        self._rehearses = rehearses
        self._keep = keep and self._keeping(keep)
        self._over = self._placed = False
        self.slide_runs = SlideRuns(lecture, perform, library, self, known)
        self.measurements = SlideMeasurements(self._meter(sources, use), self)
        self.varied_runs = VariedRuns(perform, library, self)
        self.conductor = Conductor(
            lecture, self.slide_runs, self.varied_runs, self.measurements, self
        )
        self.conductor.player.set_calm(calm)
        self.tuning = StripController(self.conductor, self.varied_runs, DIGITS_MS, self)
        self.board = Board(self.conductor, self._keep, self)
        self.screen = Screen(self.conductor, self.tuning, self.board, self._look())
        self.times = SlideTimes(self.conductor, clock)
        self.hand_count = HandCount(self.conductor)
        self.speaker = Speaker(self.conductor, self.screen, self.times)
        self._acts = self._acting()
        self._number = TypedNumber(DIGITS_MS, self)
        self._number.typed.connect(lambda number: self.conductor.go(number - 1))
        # A beamer that is plugged in comes and goes a few times.
        self._screens = timer(self, SCREENS_MS, self._place)
        for window in (self.screen, self.speaker):
            window.pressed.connect(self.press)
        self.conductor.over.connect(self.close)
        self.speaker.chosen.connect(self._go)
        self.speaker.asked.connect(self._do)
        self.screen.troubled.connect(self.speaker.say)
        self.screen.closed.connect(self.close)
        for told in (self.measurements.said, self.board.said):
            told.connect(self.speaker.say)

    def _meter(self, sources: Sources, use: float) -> Meter:
        made = Meter(sources, self)
        made.by_itself = use > 0
        made.set_use(use or made.state.use)
        return made

    def start(self, slide: int = 0) -> None:
        """Show both windows, each on its screen, and the first slide."""
        self._place()
        app = _application()
        for changed in (app.screenAdded, app.screenRemoved):
            changed.connect(self._follow_screens)
        self.conductor.start(slide)
        self.measurements.look()

    def _place(self) -> None:
        """Each window on its screen. On a single one the speaker's waits behind the other."""
        where, self._placed = places(), True
        self.screen.setScreen(where.audience)
        self.screen.setGeometry(where.audience.geometry())
        self.screen.showFullScreen()
        if self._rehearses and where.one:
            self.speaker.show()
        if not where.one:
            self.speaker.setScreen(where.speaker)
            self.speaker.move(where.speaker.availableGeometry().topLeft())
            self.speaker.showMaximized()
        elif self.speaker.isVisible():
            self.speaker.showNormal()
        first = self.speaker if self._rehearses and where.one else self.screen
        first.raise_()
        first.activateWindow()
        first.setFocus()

    def _follow_screens(self, screen: QScreen) -> None:
        self._screens.start()

    def press(self, key: int) -> None:
        """A key of either window."""
        if self.hand_count.takes(key) or self.tuning.takes(key):
            return
        digit = digit_of(key)
        if digit is not None:
            self._number.add(digit, len(self.conductor.lecture.slides))
        elif self._number.text and act_of(key) == "forward":
            self._number.finish()
        else:
            self._do(act_of(key))

    def close(self) -> None:
        """End it; closing what is closed already does nothing."""
        if self._over:
            return
        self._over = True
        self._number.forget()
        self._screens.stop()
        if self._placed:
            app = _application()
            for changed in (app.screenAdded, app.screenRemoved):
                changed.disconnect(self._follow_screens)
        self.conductor.close()
        self.slide_runs.close()
        self.varied_runs.close()
        self.measurements.close()
        self.speaker.close()
        self.screen.close()
        if self._rehearses:
            self._note_times()
        self.ended.emit(self.conductor.slide)

    def _note_times(self) -> None:
        """What was rehearsed is kept with the slides."""
        taken = {n: float(round(s)) for n, s in self.times.taken.items() if s >= _LEAST}
        said = ""
        if self._keep is not None and taken:
            said = self._keep({n: partial(_taking, s) for n, s in taken.items()})
        self.rehearsed.emit(taken, said)

    def _acting(self) -> dict[str, Callable[[], object]]:
        conductor, screen, board = self.conductor, self.screen, self.board
        return {
            "forward": conductor.forward,
            "back": conductor.back,
            "first": partial(conductor.go, 0),
            "last": partial(conductor.go, len(conductor.lecture.slides) - 1),
            "black": partial(conductor.set_blank, "black"),
            "white": partial(conductor.set_blank, "white"),
            "tune": self.tuning.toggle,
            **{tool: partial(board.set_tool, tool) for tool in TOOLS},
            "hands": self.hand_count.begin,
            "undo": board.undo,
            "clear": board.clear,
            "keep": board.keep,
            "freeze": self._freeze,
            "larger": partial(self._zoom, 1),
            "smaller": partial(self._zoom, -1),
            "measure": self.measurements.again,
            "speaker": self._toggle_speaker,
            "full": self._toggle_full,
            "start": screen.showFullScreen,
            "leave": self._leave,
        }

    def _do(self, act: str) -> None:
        if act:
            self._number.forget()
            self._acts[act]()

    def _go(self, slide: int) -> None:
        self._number.forget()
        self.conductor.go(slide)

    def _zoom(self, way: int) -> None:
        index = min(max(SCALES.index(self._scale) + way, 0), len(SCALES) - 1)
        self._scale = SCALES[index]
        self.screen.set_look(self._look())
        self.speaker.refresh()

    def _look(self) -> Look:
        return Look(THEMES[THEME], self._scale)

    def _freeze(self) -> None:
        """The class's picture stands still; or goes with the speaker's again."""
        self.screen.freeze(not self.screen.frozen)
        self.speaker.refresh()

    def _keeping(self, keep: Keep) -> Keep:
        """Changes of slides are this lecture's, too, as it is being given."""

        def kept(changes: Changes) -> str:
            try:
                said = keep(changes)
            except Error as error:  # a full disk, say: the lecture goes on
                return failure_of(error).message
            self.conductor.lecture = changed_by(self.conductor.lecture, changes)
            return said

        return kept

    def _toggle_speaker(self) -> None:
        self.speaker.setVisible(not self.speaker.isVisible())
        if self.speaker.isVisible():
            self.speaker.raise_()

    def _toggle_full(self) -> None:
        if self.screen.isFullScreen():
            self.screen.showNormal()
        else:
            self.screen.showFullScreen()

    def _leave(self) -> None:
        """What is switched on goes first, the lecture last."""
        if self.conductor.blank:
            self.conductor.set_blank(self.conductor.blank)
        elif self.board.tool:
            self.board.set_tool(self.board.tool)
        elif self.board.part is not None:
            self.board.all_of_it()
        elif self.tuning.varied:
            self.tuning.back_to_plan()
        elif self.screen.frozen:
            self._freeze()
        else:
            self.close()
