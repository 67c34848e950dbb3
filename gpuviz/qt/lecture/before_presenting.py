"""The question about a lecture's own kernels, asked before a class looks on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from gpuviz.gpu.consent import Code
from gpuviz.lectures.lecture import Lecture
from gpuviz.qt.controls.asking import ask
from gpuviz.qt.running.core import Core
from gpuviz.qt.running.in_thread import InThread
from gpuviz.run.session import Library
from gpuviz.words.language import tr


class PresentationConsent(QObject):
    """Finds out off the GUI thread what of a lecture is a stranger's code, and asks about it once.

    Signals
    -------
    said : what goes on, in words
    """

    said = Signal(str)

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
        self._looking.ask(partial(self._codes, lecture, library, device.sm))

    def close(self) -> None:
        """Go on with nothing."""
        self._looking.forget()

    def _codes(self, lecture: Lecture, library: Library, arch: str) -> tuple[Code, ...]:
        """Runs in a thread: kernels are compiled, to know what would run."""
        from gpuviz.lectures.own_launches import plans_of
        from gpuviz.story.foreign import codes_of

        job_of = self._core.meter.sources.job_of
        return codes_of(plans_of(lecture), arch, library.file, library, job_of)

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
        dialog.accepted.connect(partial(agreed.add, asked))
        dialog.finished.connect(lambda result: self._then())
        ask(dialog)
