"""How smooth a lecture is: every cue of the lectures that ship, 1920 x 1080, offscreen.

    python benchmarks/lectures.py [NAME ...]

Prints, for each lecture, how long performing all slides takes (a speaker waits for the first one
only), and the median and the slowest of the pictures of its cues, each at `--frames` moments.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtGui import QGuiApplication, QImage, QPainter

from gpuviz.lectures.bundle import find, shipped
from gpuviz.lectures.pages import Page, pages
from gpuviz.lectures.reading import read
from gpuviz.qt.look.fonts import load_fonts
from gpuviz.qt.painting.painter import paint
from gpuviz.views.lesson_view import View
from gpuviz.views.provenance import Provenance

WIDTH, HEIGHT = 1920, 1080
LOOKS = Provenance("", {}, "sm_90", theme="projector", width=WIDTH, height=HEIGHT)


def draw(view: View, t: float, image: QImage) -> float:
    """Milliseconds to build and paint the picture of a cue at a moment."""
    start = time.perf_counter()
    painter = QPainter(image)
    paint(painter, view.frame(t))
    painter.end()
    return 1e3 * (time.perf_counter() - start)


def measure(name: str, frames: int, image: QImage) -> str:
    """One line of the table."""
    start = time.perf_counter()
    made = [page for page in pages(read(find(name)), LOOKS) if isinstance(page, Page)]
    ready = time.perf_counter() - start
    times = [
        draw(page.view, page.view.provenance.time * i / frames, image)
        for page in made
        for i in range(frames)
    ]
    return (
        f"{name:24s} {len(made):6d} {ready:8.1f} {statistics.median(times):8.1f} {max(times):8.1f}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="*", help="lectures (default: those that ship)")
    parser.add_argument("--frames", type=int, default=12)
    arguments = parser.parse_args()
    application = QGuiApplication([])
    load_fonts()
    image = QImage(WIDTH, HEIGHT, QImage.Format.Format_ARGB32_Premultiplied)
    print(f"{'lecture':24s} {'cues':>6s} {'ready s':>8s} {'median':>8s} {'slowest':>8s}   (ms)")
    for name in arguments.name or [path.stem for path in shipped()]:
        print(measure(name, arguments.frames, image))
    del application


if __name__ == "__main__":
    main()
