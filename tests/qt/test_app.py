"""The entry point as a process of its own: it starts, shows the first lesson and ends cleanly."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from gpuviz.scenes import SCENES

_RUN = """
import sys, time
from PySide6.QtWidgets import QApplication

def shown():
    app = QApplication.instance()
    window = next(w for w in app.topLevelWidgets() if w.inherits("QMainWindow"))
    end = time.monotonic() + 60
    while window.player.story is None and time.monotonic() < end:
        app.processEvents()
    print(window.windowTitle(), window.player.story is not None)
    return 0

QApplication.exec = staticmethod(shown)
from gpuviz.app import main
sys.exit(main([]))
"""


def _run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=100,
        env={**os.environ, **environment},
    )  # fmt: skip


def test_the_window_opens_on_the_first_lesson_and_closes(tmp_path: Path) -> None:
    done = _run(_RUN, QT_QPA_PLATFORM="offscreen", XDG_CONFIG_HOME=str(tmp_path),
                XDG_STATE_HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"{SCENES[0].title} – gpuviz True"


def test_without_a_display_it_says_so() -> None:
    code = "import sys\nfrom gpuviz.app import main\nsys.exit(main([]))"
    done = _run(code, QT_QPA_PLATFORM="", DISPLAY="", WAYLAND_DISPLAY="")
    if sys.platform.startswith("linux"):
        assert done.returncode == 3
        assert "display" in done.stderr or "libraries" in done.stderr
