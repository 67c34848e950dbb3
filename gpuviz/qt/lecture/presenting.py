"""From the window to the lecture being given, and back."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from gpuviz.errors import Error, failure_of
from gpuviz.lectures.answer_preview import same_run
from gpuviz.lectures.lecture import Lecture, Slide
from gpuviz.qt.lecture.document import Document
from gpuviz.qt.presenter.presentation import Presentation
from gpuviz.qt.running.director import Director
from gpuviz.qt.running.meter import Meter
from gpuviz.qt.running.viewing import Viewing
from gpuviz.qt.running.worker import Perform
from gpuviz.runners.session import Session
from gpuviz.scenes.showing import Showing


class Presenting(QObject):
    """One presentation at a time; the window's own GPU work rests meanwhile.

    `calm` tells whether pictures are to stand still at the ends of their steps.

    Signals
    -------
    failed : `Failure`: there is nothing to show
    came_back : it is over, on the slide of this number
    """

    failed = Signal(object)
    came_back = Signal(int)

    def __init__(
        self,
        document: Document,
        viewing: Viewing,
        director: Director,
        meter: Meter,
        perform: Perform,
        session: Session,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._document, self._viewing = document, viewing
        self._director, self._meter, self._perform = director, meter, perform
        self._session, self._window = session, window
        self.presentation: Presentation | None = None
        self.calm: Callable[[], bool] = lambda: False

    def start(self, slide: int = 0) -> None:
        """Give the lecture that is open from a slide on, or else the view shown, step by step."""
        if self.presentation is not None:  # under way already, maybe behind this window
            self.presentation.screen.raise_()
            self.presentation.screen.activateWindow()
            return
        lecture = self._document.lecture
        if lecture is not None and lecture.slides:
            self._begin(lecture, slide)
            return
        whole = Slide(view=self._viewing.record(), steps=True)
        self._begin(Lecture(whole.name, (whole,)), 0)

    def close(self) -> None:
        """End it."""
        if self.presentation is not None:
            self.presentation.close()

    def _begin(self, lecture: Lecture, slide: int) -> None:
        self._meter.stop()
        opened = lecture is self._document.lecture
        file = self._document.file if opened else self._director.lecture
        known = {} if opened else self._known()
        try:
            made = Presentation(
                lecture,
                self._perform,
                self._meter.sources,
                self._session.library(file),
                self,
                known,
                self.calm(),
            )
        except Error as error:
            self.failed.emit(failure_of(error))
            return
        self.presentation = made
        made.ended.connect(self._come_back)
        made.start(slide)

    def _known(self) -> dict[int, Showing]:
        """What is shown, if it is the view that was chosen last: it need not be run again."""
        view, showing = self._viewing.view(), self._director.showing
        if view is None or showing is None or showing.sides[0].variant.prebuilt:
            return {}
        return {0: showing} if same_run(view.provenance, self._viewing.record()) else {}

    def _come_back(self, slide: int) -> None:
        made, self.presentation = self.presentation, None
        if made is not None:
            for one in (made.screen, made.speaker, made):  # windows without a parent would stay
                one.deleteLater()
        self._window.activateWindow()
        self.came_back.emit(slide)
