"""The window is there before anything is run, and before what is not seen of it is made."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QSettings, QTimer
from pytestqt.qtbot import QtBot

from gpuviz.qt.running.activity import Loading
from gpuviz.qt.window import window as window_room
from gpuviz.qt.window.features import Features
from gpuviz.qt.window.window import Window
from tests.qt.fake_lesson import COURSE, FakePerform
from tests.qt.focusable import walk

ROOT = Path(__file__).parent.parent.parent
LATER = [
    "gpuviz.compile",
    "gpuviz.ptx",
    "gpuviz.sass",
    "gpuviz.export",
    "gpuviz.lectures",
    "gpuviz.qt.export",
    "gpuviz.qt.lecture",
    "gpuviz.qt.presenter",
    "gpuviz.gpu.client",
    "gpuviz.gpu.process",
    "gpuviz.gpu.protocol",
    "gpuviz.gpu.wire_arguments",
    "gpuviz.recordings.lookup",
    "gpuviz.story.perform",
    "gpuviz.course.shared_memory.banks.lesson",
    "cuda",
    "cupy",
    "cupti",
    "pynvml",
    "pyqtgraph",
    "pygments",
    "PIL",
    "tomlkit",
]
PAINTED = """
import sys
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication
from gpuviz.app import _perform
from gpuviz.qt.window.window import Window
from gpuviz.course import COURSE

app = QApplication([])
window = Window(_perform, COURSE, QSettings(sys.argv[1], QSettings.Format.IniFormat))
window.grab()
print(*(name for name in sys.argv[2:] if name in sys.modules))
"""


@pytest.fixture
def fresh(perform: FakePerform, tmp_path: Path, qtbot: QtBot) -> Window:
    """A window that has not been shown."""
    settings = QSettings(str(tmp_path / "gpuviz.ini"), QSettings.Format.IniFormat)
    made = Window(perform, COURSE, settings)
    qtbot.addWidget(made)
    return made


def test_nothing_is_run_before_the_window_is_painted(
    fresh: Window, perform: FakePerform, qtbot: QtBot
) -> None:
    assert fresh.windowTitle() == "Coalescing – gpuviz"
    assert fresh.toolbar.lesson.text() == "Coalescing" and fresh.parameters.knobs
    assert perform.asked == [] and not fresh.director.performer.busy
    with qtbot.waitSignal(fresh.director.performed):
        fresh.show()
    assert [values["stride"] for values in perform.asked] == [2]
    assert fresh.counts.isVisible() and fresh.timing.isVisible()


def test_values_changed_before_it_is_painted_are_run_once(
    fresh: Window, perform: FakePerform, qtbot: QtBot
) -> None:
    fresh.view.set_values({"stride": 5})
    fresh.view.set_values({"stride": 7})
    with qtbot.waitSignal(fresh.director.performed):
        fresh.show()
    assert [values["stride"] for values in perform.asked] == [7]


def test_what_is_not_seen_is_loaded_in_a_thread_and_made_part_by_part(
    perform: FakePerform, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaders: set[threading.Thread] = set()
    done: list[str] = []
    load, parts = window_room.import_module, Features.parts

    def noted(name: str) -> object:
        loaders.add(threading.current_thread())
        return load(name)

    def each(add: Callable[[], None]) -> Callable[[], None]:
        def make() -> None:
            QTimer.singleShot(0, lambda: done.append("answered"))
            add()
            done.append("made")

        return make

    monkeypatch.setattr(window_room, "import_module", noted)
    monkeypatch.setattr(Features, "parts", lambda self: tuple(map(each, parts(self))))
    settings = QSettings(str(tmp_path / "gpuviz.ini"), QSettings.Format.IniFormat)
    made = Window(perform, COURSE, settings)
    qtbot.addWidget(made)
    with qtbot.waitSignal(made.director.performed):
        made.show()
    assert loaders and threading.main_thread() not in loaders
    assert done[: done.index("answered") + 1] == ["made", "answered"]
    assert "made made" not in " ".join(done)


def test_a_window_that_is_closed_while_it_is_made_makes_no_more(
    fresh: Window, perform: FakePerform, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(fresh._loading.done):
        fresh.show()
    fresh.close()
    qtbot.wait(1)
    fresh.complete()
    assert perform.asked == [] and fresh._features is None


def test_tab_goes_through_what_is_made_late_as_it_is_seen(fresh: Window, qtbot: QtBot) -> None:
    with qtbot.waitSignal(fresh.director.performed):
        fresh.show()
    fresh.activateWindow()
    fresh.stage.setFocus()
    met = walk(fresh)
    panels = (fresh.source, fresh.parameters, fresh.counts, fresh.timing)
    places = [
        [n for n, one in enumerate(met) if one is panel or panel.isAncestorOf(one)]
        for panel in panels
    ]
    order = [place for inside in places for place in inside]
    assert all(places) and order == list(range(order[0], order[0] + len(order)))


def test_a_file_is_opened_when_the_window_is_there(
    perform: FakePerform, tmp_path: Path, qtbot: QtBot
) -> None:
    settings = QSettings(str(tmp_path / "gpuviz.ini"), QSettings.Format.IniFormat)
    window = Window(perform, COURSE, settings, first=tmp_path / "gone.json")
    qtbot.addWidget(window)
    with qtbot.waitSignal(window.files.reopening.refused):
        window.show()
    assert window.message.isVisible()


def test_a_window_that_was_never_seen_can_be_closed(fresh: Window, perform: FakePerform) -> None:
    assert fresh.close() and perform.asked == []


def test_what_is_painted_first_loads_neither_emulator_nor_exports(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PAINTED, str(tmp_path / "a.ini"), *LATER],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def test_nothing_is_looked_through_for_garbage_while_it_is_loaded(qtbot: QtBot) -> None:
    """All that there is would be, again and again, and every thread waits meanwhile."""
    parent, collects = QObject(), []
    loading = Loading([lambda: collects.append(gc.isenabled())] * 2, parent)
    with qtbot.waitSignal(loading.done):
        loading.begin()
    assert collects == [False, False] and gc.isenabled()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_what_cannot_be_loaded_is_no_end_of_it(qtbot: QtBot) -> None:
    def broken() -> None:
        raise ImportError("no such module")

    parent = QObject()
    loading = Loading([broken], parent)
    with qtbot.waitSignal(loading.done):
        loading.begin()
    assert gc.isenabled()
    with qtbot.waitSignal(loading.done):  # again: who asks is told that it is over
        qtbot.waitUntil(lambda: not loading._thread.is_alive())
        loading.begin()
