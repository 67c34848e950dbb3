"""gpuviz as a process of its own, driven by a few lines of Python, that can be killed.

    python -m tests.qt.restarted CODE [ARGUMENT ...]    runs `gpuviz ARGUMENT ...` with CODE as the
                                                        event loop of its window

CODE sees `window`, `app`, `wait(condition)` and `told()`, which prints what the window shows; with
`status = run()` it ends in the event loop there would have been. With MADE_UP_GPU in its
environment there is a GPU (`fake_gpu.py`), and `launched` are the kernels that came as far as that.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any, ClassVar

from PySide6.QtWidgets import QApplication

from gpuviz import app as entry
from gpuviz.cli import main as gpuviz
from gpuviz.gpu.client import Gpu, GpuLaunch
from gpuviz.qt.window.window import Window
from tests.qt import fake_gpu

_PATIENCE = 60.0


def wait(condition: Callable[[], object]) -> None:
    """Let the window live until something is so."""
    end = time.monotonic() + _PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited for too long"
        QApplication.processEvents()
        time.sleep(0.005)


def told(window: Window) -> None:
    """What is shown, as JSON on one line."""
    view, note = window.recorder.record(), window.recovery.notice
    said = {
        "lesson": view.lesson,
        "values": view.values,
        "arch": view.arch,
        "level": view.level,
        "b": view.compare_values,
        "time": round(view.time, 3),
        "launch": view.launch,
        # The list of lessons makes room in a narrow window, and the offscreen display is narrow.
        "theme": window.theme.mode,
        "shown": sorted(window.layout_.shown - {"lessons"}),
        "speed": window.player.state.speed,
        "code": window.source.tabs.currentIndex(),
        "note": note.button.toolTip() if note else "",
        "recents": [menu.text() for menu in window.history.recent_menu.actions()],
    }
    print(json.dumps(said), flush=True)


class Watched(Gpu):
    """A made-up GPU; whatever it keeps to be launched is noted before."""

    launched: ClassVar[list[str]] = []

    def __init__(self, number: int) -> None:
        super().__init__(number, arguments=fake_gpu.arguments())

    def _keep(self, launch: GpuLaunch, *given: Any) -> str:
        self.launched.append(launch.entry)
        return super()._keep(launch, *given)


def main(code: str, *arguments: str) -> int:
    """Run the entry point with this event loop."""

    run = QApplication.exec
    if "MADE_UP_GPU" in os.environ:
        entry._gpu = Watched

    def loop() -> int:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        window = next(w for w in app.topLevelWidgets() if isinstance(w, Window))
        wait(lambda: window.director.showing and not window.director.performer.busy)
        given = {
            "window": window,
            "app": app,
            "wait": wait,
            "time": time,
            "told": lambda: told(window),
            "run": run,
            "launched": Watched.launched,
            "status": 0,
        }
        exec(code, given)
        return int(given["status"])  # type: ignore[call-overload,no-any-return]

    QApplication.exec = staticmethod(loop)  # type: ignore[assignment,method-assign]
    return gpuviz([*arguments])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
