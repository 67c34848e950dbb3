"""How long the window takes to show, beside an empty window of pyqtgraph.

    python benchmarks/start.py [--repeats N]

Each start is a process of its own, offscreen, both kinds in turn, after one of each that warms the
disk's cache. Milliseconds from the start of the process to the first painted frame, and for gpuviz
to the first picture of a lesson, too: medians, fastest and slowest. The goal is 1.2 times.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

GOAL = 1.2
KINDS = ("pyqtgraph", "gpuviz")


def main() -> None:
    """Start both again and again, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    repeats = parser.parse_args().repeats
    found: dict[str, list[tuple[float, ...]]] = {kind: [] for kind in KINDS}
    for number in range(repeats + 1):
        for kind in KINDS:
            times = started(kind)
            if number:
                found[kind].append(times)
    frames = {kind: [times[0] for times in found[kind]] for kind in KINDS}
    pictures = [times[1] for times in found["gpuviz"]]
    print(f"{'ms':24s} {'median':>8s} {'fastest':>8s} {'slowest':>8s}   of {repeats} starts")
    for name, row in (
        ("pyqtgraph, first frame", frames["pyqtgraph"]),
        ("gpuviz, first frame", frames["gpuviz"]),
        ("gpuviz, first picture", pictures),
    ):
        print(f"{name:24s} {statistics.median(row):8.0f} {min(row):8.0f} {max(row):8.0f}")
    ratio = statistics.median(frames["gpuviz"]) / statistics.median(frames["pyqtgraph"])
    print(f"gpuviz shows after {ratio:.2f} times as long (goal {GOAL})")


def started(kind: str) -> tuple[float, ...]:
    """Start a process; milliseconds from then to what it reports."""
    with tempfile.TemporaryDirectory() as home:
        folders = {f"XDG_{name}_HOME": home for name in ("CONFIG", "DATA", "STATE")}
        environment = {**os.environ, **folders, "QT_QPA_PLATFORM": "offscreen"}
        began = time.monotonic()  # of the system, so that both processes tell the same time
        done = subprocess.run(
            [sys.executable, __file__, "--as", kind],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    return tuple(1000 * (float(at) - began) for at in done.stdout.split())


def show(kind: str) -> None:
    """In the process: make the window as usual, and report when it has been painted."""
    from PySide6.QtCore import QEvent, QObject, QTimer
    from PySide6.QtWidgets import QApplication, QMainWindow

    def report() -> None:
        print(time.monotonic(), flush=True)

    class Watch(QObject):
        """Sees the first frame of a window: it is painted when the window is exposed."""

        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Expose:
                watched.removeEventFilter(self)
                QTimer.singleShot(0, painted)
            return False

    def painted() -> None:
        report()
        if kind == "gpuviz":
            when_drawn(window, leave)
        else:
            leave()

    def leave() -> None:
        if kind == "gpuviz":
            report()
        os._exit(0)

    def watched_loop(app: object) -> int:
        """In place of the event loop: nothing has been painted when it begins."""
        nonlocal window
        window = next(w for w in QApplication.topLevelWidgets() if isinstance(w, QMainWindow))
        handle = window.windowHandle()
        assert handle is not None
        handle.installEventFilter(watch)
        return loop()

    window: QMainWindow | None = None
    watch, loop = Watch(), QApplication.exec
    QApplication.exec = watched_loop  # type: ignore[assignment]
    (empty_window if kind == "pyqtgraph" else gpuviz_window)()


def when_drawn(window: object, then: Callable[[], None]) -> None:
    """Do something when the stage shows a picture."""
    from PySide6.QtCore import QTimer

    from gpuviz.qt.window.window import Window

    assert isinstance(window, Window)
    if window.stage.frame is not None:
        then()
    else:
        QTimer.singleShot(1, lambda: when_drawn(window, then))


def empty_window() -> None:
    """An empty plot in a window as large as gpuviz's."""
    import pyqtgraph
    from PySide6.QtWidgets import QApplication, QMainWindow

    app = QApplication([])
    window = QMainWindow()
    window.resize(1440, 860)
    window.setCentralWidget(pyqtgraph.PlotWidget())
    window.show()
    app.exec()


def gpuviz_window() -> None:
    """What the command `gpuviz` does."""
    sys.path.insert(0, str(Path(__file__).parent.parent))
    from gpuviz.cli import main as command

    command([])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--as"]:
        show(sys.argv[2])
    else:
        main()
