"""The log: a few small files in the user's state folder. What gpuviz logs goes to `LOG`; what the
window does is logged, and exceptions that nobody caught.
"""

from __future__ import annotations

import faulthandler
import logging
import platform
import sys
import threading
import traceback
from collections import deque
from contextlib import suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from PySide6 import __version__ as pyside
from PySide6.QtCore import (
    QElapsedTimer,
    QMessageLogContext,
    QObject,
    QSysInfo,
    QtMsgType,
    Signal,
    qInstallMessageHandler,
    qVersion,
)

from gpuviz import __version__
from gpuviz.gpu.gpu_state import NOT_ASKED, State
from gpuviz.words.terminal import err, visible

if TYPE_CHECKING:
    from gpuviz.base.errors import Failure
    from gpuviz.qt.running.director import Director
    from gpuviz.qt.running.meter import Meter
    from gpuviz.qt.running.worker import Job
    from gpuviz.recordings.measurement import DeviceFacts

LOG = logging.getLogger("gpuviz")
NAME, CRASH = "gpuviz.log", "crash.log"
_BYTES, _OLDER = 512 * 1024, 2  # of a file, and older files kept beside it
_FORM = "%(asctime)s %(levelname)-8s %(message)s"
_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


class _Plain(logging.Formatter):
    """A log is read in a terminal, too."""

    def format(self, record: logging.LogRecord) -> str:
        """The lines of a record."""
        return visible(super().format(record))


class _Files(RotatingFileHandler):
    """A full disk takes no more lines, and stops nobody."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Nothing: there is nowhere to tell it."""


def begin(folder: Path) -> bool:
    """Log to files in this folder, Qt's messages too, and where Python was when the process dies.

    False when nothing can be written there; gpuviz then goes on without a log.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        files = _Files(folder / NAME, maxBytes=_BYTES, backupCount=_OLDER, encoding="utf-8")
        crash = _crash_file(folder / CRASH)
    except OSError as error:
        err(f"gpuviz: no log is kept: {error}")
        return False
    files.setFormatter(_Plain(_FORM))
    LOG.addHandler(files)
    LOG.setLevel(logging.INFO)
    LOG.propagate = False
    faulthandler.enable(crash)
    qInstallMessageHandler(_take)
    return True


def last_lines(folder: Path, count: int = 100, name: str = NAME) -> list[str]:
    """The newest lines of a log; none when there is no such file."""
    try:
        with (folder / name).open(encoding="utf-8", errors="replace") as file:
            return [line.rstrip("\n") for line in deque(file, maxlen=count)]
    except OSError:
        return []


def _crash_file(path: Path) -> TextIO:
    """What was written there before stays, unless it has become long. It is never closed."""
    fresh = not path.exists() or path.stat().st_size > _BYTES
    return path.open("w" if fresh else "a", encoding="utf-8")


def _take(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    """A message of Qt's, which would otherwise only go to stderr."""
    level = _LEVELS.get(kind, logging.WARNING)
    LOG.log(level, "Qt: %s", message)
    if level >= logging.WARNING:
        err(message)


def versions() -> str:
    """One line: gpuviz, Python, Qt, the system."""
    return (
        f"gpuviz {__version__}, Python {platform.python_version()}, Qt {qVersion()} "
        f"(PySide {pyside}), {QSysInfo.prettyProductName()}, {platform.machine()}"
    )


class ActivityLog(QObject):
    """Follows the director and the meter."""

    def __init__(self, director: Director, meter: Meter, parent: QObject) -> None:
        super().__init__(parent)
        self._clock = QElapsedTimer()
        self._why = NOT_ASKED
        director.performer.started.connect(self._start)
        director.performer.performed.connect(self._perform)
        director.failed.connect(self._fail)
        meter.found.connect(self._find)
        meter.troubled.connect(lambda said: LOG.warning("GPU: %s", said))
        meter.changed.connect(self._follow)

    def _start(self, job: Job) -> None:
        self._clock.start()

    def _perform(self, job: Job, performances: object) -> None:
        archs = " | ".join(f"{v.arch} {v.level}" for v in job.variants)
        LOG.info("performed %s for %s in %d ms", job.lesson.id, archs, self._clock.elapsed())

    def _fail(self, job: Job, failure: Failure) -> None:
        given = " | ".join(f"{dict(v.values)} {v.arch} {v.level}" for v in job.variants)
        LOG.warning("not performed: %s %s: %s", job.lesson.id, given, failure.message)
        if not failure.expected:
            LOG.error("%s", failure.details)

    def _find(self, device: DeviceFacts) -> None:
        LOG.info(
            "GPU: %s, CC %s, driver %s, CUDA %s, counters %s",
            device.name,
            device.capability,
            device.driver,
            device.cuda,
            device.counters or "available",
        )

    def _follow(self, state: State) -> None:
        """Why there is no GPU, once."""
        if state.device is None and state.activity == "idle" and state.why != self._why:
            self._why = state.why
            LOG.info("no GPU: %s", state.why)


_AGAIN_MS = 5000  # the same one sooner is neither told nor logged again


class UncaughtErrors(QObject):
    """Takes the place of Python's hooks, in all threads."""

    happened = Signal(Exception)  # the exception, in the GUI thread

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
