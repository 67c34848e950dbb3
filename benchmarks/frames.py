"""How long a frame takes: every lesson at its defaults, played through, 1920 x 1080, offscreen.

    python benchmarks/frames.py [LESSON ...]

Prints the median and the slowest of `--frames` evenly spaced frames (building the frame from its
story and painting it), and how long a change of parameters takes once the kernel is compiled: run
every launch, tell the story, build and paint the first frame.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtGui import QGuiApplication, QImage, QPainter

from gpuviz.course import SCENES
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.qt.look.fonts import load_fonts
from gpuviz.qt.painting.painter import paint
from gpuviz.story.lesson import Lesson, Story
from gpuviz.story.perform import perform

WIDTH, HEIGHT = 1920, 1080


def draw(story: Story, t: float, image: QImage) -> float:
    """Milliseconds to build and paint one frame."""
    start = time.perf_counter()
    frame = story.frame(t, Stage(WIDTH, HEIGHT, DARK))
    painter = QPainter(image)
    paint(painter, frame)
    painter.end()
    return 1e3 * (time.perf_counter() - start)


def measure(lesson: Lesson, frames: int, image: QImage) -> str:
    """One line of the table."""
    story = perform(lesson, {}).story
    times = [draw(story, story.duration * i / frames, image) for i in range(frames)]
    start = time.perf_counter()
    draw(perform(lesson, {}).story, 0.0, image)
    change = 1e3 * (time.perf_counter() - start)
    return f"{lesson.id:20s} {statistics.median(times):8.1f} {max(times):8.1f} {change:8.0f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lesson", nargs="*", help="ids (default: all)")
    parser.add_argument("--frames", type=int, default=120)
    arguments = parser.parse_args()
    application = QGuiApplication([])
    load_fonts()
    image = QImage(WIDTH, HEIGHT, QImage.Format.Format_ARGB32_Premultiplied)
    print(f"{'lesson':20s} {'median':>8s} {'slowest':>8s} {'change':>8s}   (ms)")
    for lesson in SCENES:
        if not arguments.lesson or lesson.id in arguments.lesson:
            print(measure(lesson, arguments.frames, image))
    del application


if __name__ == "__main__":
    main()
