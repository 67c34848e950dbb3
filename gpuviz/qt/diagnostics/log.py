"""The log: a few small files in the user's state folder. What gpuviz logs goes to `LOG`."""

from __future__ import annotations

import faulthandler
import logging
from collections import deque
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TextIO

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

from gpuviz.words.terminal import err, visible

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
