"""The question about a lecture's own kernels, asked before a class looks on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from gpuviz.language import tr
from gpuviz.lectures.lecture import Lecture
from gpuviz.qt.controls.asking import ask
from gpuviz.qt.running.core import Core
from gpuviz.runners.consent import Code
from gpuviz.runners.session import Library


class BeforePresenting(QObject):
    """Finds out off the GUI thread what of a lecture is a stranger's code, and asks about it once.

    Signals
    -------
    said : what goes on, in words
    """

    said = Signal(str)
    _found = Signal(int, object)

    def __init__(self, core: Core, window: QWidget) -> None:
        super().__init__(window)
        self._core, self._window = core, window
        self._number = 0
        self._then: Callable[[], None] = lambda: None
        self._found.connect(self._ask)

    def settle(self, lecture: Lecture, library: Library, then: Callable[[], None]) -> None:
        """Ask if there is anything to ask, then go on; a newer wish takes the place of this one."""
        self._number += 1
        self._then = then
        device = self._core.meter.state.device
        kernels = [slide for slide in lecture.slides if slide.view and slide.view.launch]
        if device is None or not kernels:  # without a GPU nothing runs
            then()
            return
        self.said.emit(tr("looking at the lecture's kernels …"))
        wanted = self._number, lecture, library, device.sm
        threading.Thread(target=self._work, args=wanted, daemon=True).start()

    def close(self) -> None:
        """Go on with nothing."""
        self._number += 1

    def _work(self, number: int, lecture: Lecture, library: Library, arch: str) -> None:
        """Runs in a thread: kernels are compiled, to know what would run."""
        from gpuviz.lectures.own_launches import plans_of
        from gpuviz.scenes.foreign import codes_of

        codes: tuple[Code, ...] = ()
        with suppress(Exception):  # what cannot be looked at is not agreed to, and does not run
            job_of = self._core.meter.sources.job_of
            codes = codes_of(plans_of(lecture), arch, library.file, library, job_of)
        with suppress(RuntimeError):  # the window may be gone by now
            self._found.emit(number, codes)

    def _ask(self, number: int, codes: tuple[Code, ...]) -> None:
        if number != self._number:
            return
        self.said.emit("")
        agreed = self._core.meter.sources.agreed
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
