"""Files and links of other kinds, which the window opens, asks about, runs and shows."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest import mock

from tests.hostile.kind import Kind
from tests.hostile.kinds import bundle, exported, lecture, link, ptx, recording, trace

_OPENED = (bundle, exported, lecture, link, ptx, recording, trace)
_IDLE, _LONGEST = 0.15, 3.0  # seconds: that nothing happens, and that may be waited for it


def make(random: Random) -> bytes:
    """The suffix of a file, and its content."""
    kind = random.choice(_OPENED).KIND
    return kind.suffix.encode() + b"\n" + kind.make(random)


def window(file: Path) -> None:
    """A window that begins with the file, until there is no more to do; what it asks is denied."""
    from PySide6.QtCore import QCoreApplication, QEvent, QSettings

    from gpuviz import app
    from gpuviz.course import COURSE
    from gpuviz.qt.window.window import Window
    from gpuviz.run.session import Session

    settings = QSettings(str(Path("gpuviz.ini").absolute()), QSettings.Format.IniFormat)
    with _mistakes() as mistakes:
        shown = Window(app._perform, COURSE, settings, first=_first(file), session=Session())
        shown.show()
        _wait(lambda: shown.director.performer.busy)
        shown.close()
        shown.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    if mistakes:
        raise AssertionError(mistakes[0])


def _first(file: Path) -> object:
    """What `gpuviz FILE` and `gpuviz LINK` give to the window."""
    from gpuviz.cli import COMMANDS
    from gpuviz.cli.link_or_file import link_or_file

    suffix, _, content = file.read_bytes().partition(b"\n")
    if suffix.decode() == link.KIND.suffix:
        return link_or_file([content.decode(errors="surrogateescape")], COMMANDS)
    opened = Path(f"opened{suffix.decode()}")
    opened.write_bytes(content)
    return link_or_file([str(opened)], COMMANDS)


def _wait(busy: Callable[[], bool]) -> None:
    from PySide6.QtWidgets import QApplication

    start = last = time.monotonic()
    while (now := time.monotonic()) < min(last + _IDLE, start + _LONGEST):
        QApplication.processEvents()
        if (asking := QApplication.activeModalWidget()) is not None:
            asking.close()
        if busy():
            last = now
        time.sleep(0.005)


@contextmanager
def _mistakes() -> Iterator[list[str]]:
    """What goes wrong meanwhile, in whichever thread, and is no message of gpuviz's own."""
    from gpuviz.base.errors import Failure, failure_of
    from gpuviz.qt.controls.message import Message

    found: list[str] = []
    told = Message.show_failure

    def tell(self: Message, failure: Failure, *more: Any, **said: Any) -> None:
        if not failure.expected:
            found.append(failure.details)
        told(self, failure, *more, **said)

    def uncaught(error: SimpleNamespace) -> None:
        found.append(failure_of(error.exc_value).details)

    with (
        mock.patch.object(Message, "show_failure", tell),
        mock.patch.object(threading, "excepthook", uncaught),
        mock.patch.object(sys, "excepthook", lambda *e: uncaught(SimpleNamespace(exc_value=e[1]))),
    ):
        yield found


KIND = Kind("window", 70, ".opened", make, calls=(window,))
