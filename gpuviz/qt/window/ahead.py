"""What the window will need is loaded before, while nobody waits: a lesson's modules, a dialog or
the plot of times take a tenth of a second or more when they are first asked for.

It is loaded in a thread. Python's threads take turns, and each time that Qt lets another one run
the window would wait for a turn to end: turns are short as long as there is a window.
"""

from __future__ import annotations

import gc
import sys
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer

from gpuviz.qt.running.activity import Loading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gpuviz.qt.window.window import Window

TURN = 0.0005  # seconds that a thread computes before it lets another one go on
_AFTER_MS = 1000  # the first picture is there, and what follows it at once
_PAUSE = 0.02  # seconds between two modules
_MODULES = (
    "pyqtgraph",
    "gpuviz.qt.commands.palette_dialog",
    "gpuviz.qt.commands.keys_dialog",
    "gpuviz.qt.export.export_dialog",
    "gpuviz.qt.kernels.kernel_dialog",
    "gpuviz.qt.preferences.dialog",
    "gpuviz.qt.presenter.presentation",
)


class Ahead(QObject):
    """Loads once the first picture has been shown; the window keeps it."""

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        sys.setswitchinterval(TURN)
        self._window = window
        self._loading = Loading(self._steps(), self, _PAUSE)
        once = Qt.ConnectionType.SingleShotConnection
        window.director.performed.connect(self._begin_soon, once)

    def _begin_soon(self, *_: object) -> None:
        QTimer.singleShot(_AFTER_MS, self._window, self._loading.begin)

    def _steps(self) -> Iterator[Callable[[], object]]:
        yield from (partial(import_module, name) for name in _MODULES)
        yield from (entry.open for entry in self._window.course.lessons)
        yield gc.freeze  # what is loaded stays: it is not looked through for garbage anew
