"""Exceptions that nobody caught: logged, told to the window, and not the end of it."""

from __future__ import annotations

import sys
import threading
import traceback
from contextlib import suppress
from types import TracebackType

from PySide6.QtCore import QElapsedTimer, QObject, Signal

from gpuviz.qt.diagnostics.log import LOG
from gpuviz.words.terminal import err

_AGAIN_MS = 5000  # the same one sooner is neither told nor logged again


class UncaughtErrors(QObject):
    """Takes the place of Python's hooks, in all threads.

    Signals
    -------
    happened : the exception, in the GUI thread
    """

    happened = Signal(object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._last = ""
        self._since = QElapsedTimer()
        self._lock = threading.Lock()

    def install(self) -> None:
        """Take what is not caught from now on."""
        sys.excepthook = self.take
        threading.excepthook = self._take_from_thread

    def take(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        """Print an exception; one that is a mistake is logged and told of, too."""
        err("".join(traceback.format_exception(kind, error, trace)).rstrip())
        if not isinstance(error, Exception) or self._known(error, trace):
            return
        LOG.critical("unexpected", exc_info=(kind, error, trace))
        with suppress(RuntimeError):  # the window may be gone by now
            self.happened.emit(error)

    def _take_from_thread(self, given: threading.ExceptHookArgs) -> None:
        if given.exc_value is not None:
            self.take(given.exc_type, given.exc_value, given.exc_traceback)

    def _known(self, error: BaseException, trace: TracebackType | None) -> bool:
        """Whether the very same has just happened: what fails in painting fails at every frame."""
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else ""
        said = f"{type(error).__name__}: {error} at {place}"
        with self._lock:
            same = said == self._last and self._since.elapsed() < _AGAIN_MS
            if not same:
                self._last = said
                self._since.start()
        return same
