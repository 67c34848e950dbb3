"""From a keystroke in the source of one's own kernel to its errors, and to its new picture.

    QT_QPA_PLATFORM=offscreen python benchmarks/editing.py

A kernel of 100 lines is opened in the window at about a million thread instructions; each round
types what was never compiled before, so that no cache answers.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QSettings
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gpuviz.compile import load_program
from gpuviz.course import COURSE
from gpuviz.qt.code.editor import Editor
from gpuviz.qt.window.window import Window
from gpuviz.story.kernel_launch import KernelLaunch
from gpuviz.story.own_kernel.story import lesson_of
from gpuviz.story.perform import perform

ROUNDS = 8
HEAD = "".join(f"// line {n} of what its author has to say\n" for n in range(86))
SOURCE = (
    HEAD
    + """__global__ void histogram(const int* data, int* bins, int n)
{
    __shared__ int local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
        atomicAdd(&local[data[i] & 255], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
    bins[0] += 0;
}
"""
)


def until(done: Callable[[], object]) -> float:
    """Milliseconds until something is so."""
    since = time.perf_counter()
    while not done():
        QApplication.processEvents()
        if time.perf_counter() - since > 30:
            sys.exit("it never came")
    return (time.perf_counter() - since) * 1e3


def chosen(editor: Editor, words: str) -> None:
    """Select words of the source."""
    editor.setTextCursor(editor.document().find(words))


def main() -> None:
    """Print the times of all rounds, and their medians."""
    QApplication.setQuitOnLastWindowClosed(False)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "histogram.cu"
        file.write_text(SOURCE)
        settings = QSettings(f"{folder}/settings.ini", QSettings.Format.IniFormat)
        settings.setValue("gpu_live", False)
        settings.setValue("tour", "seen")
        window = Window(perform, COURSE, settings)
        window.resize(1280, 720)
        window.show()
        until(lambda: window.player.story is not None)
        entry = load_program(file).kernels[0]
        given = ("i32[65536]=rand", "i32[256]=zeros", "i32=65536")
        window.course.open_any(
            lesson_of(KernelLaunch(file, entry, "histogram", (64, 1, 1), (256, 1, 1), given))
        )
        editor = window.source.editor
        until(lambda: editor.editing and window.features.own_kernel.built is not None)
        until(lambda: not window.director.performer.busy)
        showing = window.director.showing
        assert showing is not None
        print(f"{showing.runs['kernel'].trace.thread_instructions:,} thread instructions")
        errors, pictures = [], []
        last = "bins[0] += 0;"
        for number in range(ROUNDS):
            new = f"bins[0] += {time.time_ns() % 10**9 + number};"
            chosen(editor, last)
            QTest.keyClicks(editor, new[:-1])
            until(lambda: not window.director.performer.busy)
            errors.append(until(lambda: editor.errors))
            before = window.director.showing
            QTest.keyClicks(editor, ";")
            took = until(lambda before=before: window.director.showing is not before)
            since = time.perf_counter()
            window.stage.grab()
            pictures.append(took + (time.perf_counter() - since) * 1e3)
            last = new
            until(lambda: not window.director.performer.busy)
        for name, times in (("errors", errors), ("picture", pictures)):
            shown = " ".join(f"{one:.0f}" for one in times)
            print(f"{name}: {shown} ms, median {statistics.median(times):.0f} ms")
        window.leave()


if __name__ == "__main__":
    app = QApplication(sys.argv)
    main()
