"""gpuviz as a process of its own, driven by a few lines of Python, that can be killed.

    python -m tests.qt.restarted CODE    runs the window with CODE as its event loop

CODE sees `window`, `app`, `wait(condition)` and `told()`, which prints what the window shows; with
`status = run()` it ends in the event loop there would have been.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

from PySide6.QtWidgets import QApplication

from gpuviz import app as entry
from gpuviz.qt.window.window import Window

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


def main(code: str) -> int:
    """Run the entry point with this event loop."""

    run = QApplication.exec

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
            "status": 0,
        }
        exec(code, given)
        return int(given["status"])  # type: ignore[call-overload,no-any-return]

    QApplication.exec = staticmethod(loop)  # type: ignore[assignment,method-assign]
    return entry.main()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
