"""From the window to the lecture being given, and back."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from gpuviz.base.errors import Error, Failure, InputError, failure_of
from gpuviz.gpu.consent import Code
from gpuviz.lectures.answer import same_run
from gpuviz.lectures.lecture import Lecture, Slide
from gpuviz.lectures.writing import Changes, changed
from gpuviz.qt.controls.controls import ask
from gpuviz.qt.lecture.document import Document
from gpuviz.qt.running.activity import InThread
from gpuviz.qt.running.core import Core
from gpuviz.qt.running.view_recorder import ViewRecorder
from gpuviz.qt.running.worker import Perform
from gpuviz.recordings.measurement import DeviceFacts
from gpuviz.run.session import Library
from gpuviz.story.exhibit import Exhibit
from gpuviz.words.language import tr


class PresentationConsent(QObject):
    """Finds out off the GUI thread what of a lecture is a stranger's code; asks about it once."""

    said = Signal(str)  # what goes on, in words

    def __init__(self, core: Core, window: QWidget) -> None:
        super().__init__(window)
        self._core, self._window = core, window
        self._looking = InThread(self._ask, self)
        self._then: Callable[[], None] = lambda: None

    def settle(self, lecture: Lecture, library: Library, then: Callable[[], None]) -> None:
        """Ask if there is anything to ask, then go on; a newer wish takes the place of this one."""
        self._looking.forget()
        self._then = then
        device = self._core.meter.state.device
        kernels = [slide for slide in lecture.slides if slide.view and slide.view.launch]
        if device is None or not kernels:  # without a GPU nothing runs
            then()
            return
        self.said.emit(tr("looking at the lecture's kernels …"))
        self._looking.ask(partial(self._codes, lecture, library, device))

    def close(self) -> None:
        """Go on with nothing."""
        self._looking.forget()

    def _codes(self, lecture: Lecture, library: Library, device: DeviceFacts) -> tuple[Code, ...]:
        """Runs in a thread: kernels are compiled, to know what would run."""
        from gpuviz.lectures.own_files import plans_of
        from gpuviz.story.foreign import codes_of

        job_of = self._core.meter.sources.job_of
        return codes_of(plans_of(lecture), device, library.file, library, job_of)

    def _ask(self, about: None, found: tuple[Code, ...] | Exception) -> None:
        self.said.emit("")
        agreed = self._core.meter.sources.agreed
        # What cannot be looked at is not agreed to, and does not run.
        codes = () if isinstance(found, Exception) else found
        asked = [code for code in codes if code.digest not in agreed]
        if not asked:
            self._then()
            return
        from gpuviz.qt.running.consent_dialog import ConsentDialog

        dialog = self.dialog = ConsentDialog(
            asked, self._core.theme, self._window, tr("Present without")
        )
        dialog.accepted.connect(lambda: agreed.add(asked, dialog.widely.isChecked()))
        dialog.finished.connect(lambda result: self._then())
        ask(dialog)


if TYPE_CHECKING:
    from gpuviz.qt.presenter.presentation import Presentation


class PresentationLauncher(QObject):
    """One presentation at a time; the window's own GPU work rests meanwhile."""

    failed = Signal(Failure)  # there is nothing to show
    came_back = Signal(int)  # it is over, on the slide of this number

    def __init__(
        self,
        document: Document,
        core: Core,
        recorder: ViewRecorder,
        perform: Perform,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._document, self._core, self._recorder = document, core, recorder
        self._perform, self._window = perform, window
        self.before = PresentationConsent(core, window)
        self.presentation: Presentation | None = None

    def start(self, slide: int = 0, rehearses: bool = False) -> None:
        """Give the lecture that is open from a slide on, or else the view shown, step by step; one
        that is rehearsed has the times of its slides noted.
        """
        if self.presentation is not None:  # under way already, maybe behind this window
            self.presentation.screen.raise_()
            self.presentation.screen.activateWindow()
            return
        lecture = self._document.lecture
        if lecture is None or not lecture.slides:
            whole = Slide(view=self._recorder.record().for_slide, steps=True)
            lecture, slide = Lecture(whole.name, (whole,)), 0
        opened = lecture is self._document.lecture
        file = self._document.file if opened else self._core.view.now.lecture
        library = self._core.session.library(file)
        known = {} if opened else self._known()
        begin = partial(self._begin, lecture, library, known, slide, rehearses)
        self.before.settle(lecture, library, begin)

    def close(self) -> None:
        """End it."""
        self.before.close()
        if self.presentation is not None:
            self.presentation.close()

    def _begin(
        self,
        lecture: Lecture,
        library: Library,
        known: Mapping[int, Exhibit],
        slide: int,
        rehearses: bool,
    ) -> None:
        if self.presentation is not None:
            return
        from gpuviz.qt.presenter.presentation import Presentation

        core = self._core
        core.meter.pause()
        try:
            made = Presentation(
                lecture,
                self._perform,
                core.meter.sources,
                library,
                self,
                known,
                core.player.state.calm,
                core.meter.state.use if core.meter.by_itself else 0.0,
                self._keep if lecture is self._document.lecture else None,
                rehearses,
            )
        except Error as error:
            core.meter.resume()
            self.failed.emit(failure_of(error))
            return
        self.presentation = made
        made.ended.connect(self._come_back)
        made.start(slide)

    def _keep(self, changes: Changes) -> str:
        """Change the lecture that is open as by hand: it is undone, and saved, likewise."""
        if self._document.lecture is None:
            raise InputError(tr("the lecture is not open any more"))
        self._document.change(lambda lecture: changed(lecture, changes))
        return tr("kept with the slide; save the lecture in the window")

    def _known(self) -> dict[int, Exhibit]:
        """What is shown, if it is the view that was chosen last: it need not be run again."""
        view, showing = self._recorder.view(), self._core.director.showing
        if view is None or showing is None or showing.sides[0].variant.prebuilt:
            return {}
        return {0: showing} if same_run(view.provenance, self._recorder.record()) else {}

    def _come_back(self, slide: int) -> None:
        made, self.presentation = self.presentation, None
        if made is not None:
            for one in (made.screen, made.speaker, made):  # windows without a parent would stay
                one.deleteLater()
        self._core.meter.resume()
        self._window.activateWindow()
        self.came_back.emit(slide)
