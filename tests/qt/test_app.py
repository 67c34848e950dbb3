"""The entry point as a process of its own: it starts, shows the first lesson and ends cleanly."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpuviz.course import SCENES

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
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, **environment},
    )


def test_the_window_opens_on_the_first_lesson_and_closes(tmp_path: Path) -> None:
    done = _run(
        _RUN,
        QT_QPA_PLATFORM="offscreen",
        XDG_CONFIG_HOME=str(tmp_path),
        XDG_STATE_HOME=str(tmp_path),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"{SCENES[0].title} – gpuviz True"


@pytest.mark.slow
def test_without_a_display_it_says_so() -> None:
    code = "import sys\nfrom gpuviz.app import main\nsys.exit(main([]))"
    done = _run(code, QT_QPA_PLATFORM="", DISPLAY="", WAYLAND_DISPLAY="")
    if sys.platform.startswith("linux"):
        assert done.returncode == 3
        assert "display" in done.stderr or "libraries" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals are another thing there")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize(
    "arguments", [[], ["present", "coalescing-and-banks"]], ids=["window", "lecture"]
)
def test_a_signal_closes_it_as_a_user_would(
    arguments: list[str], name: str, tmp_path: Path
) -> None:
    number = getattr(signal, name)
    folders = {name: str(tmp_path / name) for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME")}
    process = subprocess.Popen(
        [sys.executable, "-m", "gpuviz", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **folders, "QT_QPA_PLATFORM": "offscreen"},
    )
    end = time.monotonic() + 60
    while not _logged(tmp_path, "showing") and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 128 + number, said
    assert _logged(tmp_path, "ended")
    assert not list(tmp_path.rglob("window-*.json")), "it ended properly"


def _logged(folder: Path, words: str) -> bool:
    return any(words in log.read_text() for log in folder.rglob("*.log"))
