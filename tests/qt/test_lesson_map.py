"""The map of a lesson is predicted or measured from the window: by workers that wait for a sign."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpuviz.gpu.client import Gpu
from gpuviz.qt.window.window import Window
from gpuviz.story.sources import Sources
from gpuviz.sweeps import table
from gpuviz.sweeps.axis import Axis
from gpuviz.sweeps.cell import Found, Outcome, Task
from tests.qt import fake_gpu
from tests.qt.fake_lesson import LESSONS, FakePerform

Make = Callable[..., Window]
LEFT = Qt.MouseButton.LeftButton
SMALL = (Axis("stride", ("1", "2", "4")), Axis("guard", ("false", "true")))
ABOUT = replace(LESSONS[0], id="mapped", title="Mapped", swept=SMALL)


class Waiting(Executor):
    """Answers when it may, without doing anything."""

    def __init__(self) -> None:
        self.may = threading.Event()
        self.tasks: list[Task] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.tasks.append(args[0])
        threading.Thread(target=self._answer, args=(future,), daemon=True).start()
        return future

    def _answer(self, future: Future[Any]) -> None:
        self.may.wait(20)
        counts = {"global_load_sectors": 4.0 + len(self.tasks)}
        future.set_result(Outcome((Found("shape", counts, 1, microseconds=9.0),)))


@pytest.fixture
def workers() -> Waiting:
    return Waiting()


@pytest.fixture
def window(
    make: Make,
    perform: FakePerform,
    workers: Waiting,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> Window:
    """A window with a GPU, at a lesson that shows a sweep."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    perform.planned = True
    made = make(Sources(lambda device: Gpu(device, arguments=fake_gpu.arguments())))
    qtbot.waitUntil(lambda: made.meter.state.device is not None, timeout=20_000)
    made.course.open_any(ABOUT)
    qtbot.waitUntil(lambda: not made.director.performer.busy)
    made.features._swept_by().make_workers = lambda sweep: (workers, 2)
    return made


def kept() -> list[Path]:
    return sorted(table.folder().glob("*.jsonl"))


def test_the_button_predicts_and_the_picture_is_told_anew(
    window: Window, workers: Waiting, qtbot: QtBot
) -> None:
    button = window.parameters.sweep
    assert button.isVisible() and button.isEnabled()
    QTest.mouseClick(button, LEFT)
    assert not button.isEnabled() and "under way" in button.toolTip()
    assert "sweep over Mapped" in window.status.running.text()
    with qtbot.waitSignal(window.director.updated, timeout=20_000):
        workers.may.set()
    work = window.features.sweep_work
    assert work is not None
    qtbot.waitUntil(lambda: not work.busy)
    assert len(workers.tasks) == 6 and len(kept()) == 1
    assert all(task.on == "emulator" for task in workers.tasks)


@pytest.mark.slow
def test_it_can_be_stopped_and_gone_on_with(window: Window, workers: Waiting, qtbot: QtBot) -> None:
    window.actions_["run.map"].trigger()
    work = window.features.sweep_work
    assert work is not None
    QTest.mouseClick(window.status.cancel, LEFT)
    qtbot.waitUntil(lambda: not work.busy)
    assert "goes on with it" in window.status.running.text()
    qtbot.waitUntil(window.parameters.sweep.isEnabled)


def test_a_gpu_is_asked_for_the_measured_map(
    window: Window, workers: Waiting, qtbot: QtBot
) -> None:
    workers.may.set()
    window.actions_["gpu.map"].trigger()
    work = window.features.sweep_work
    assert work is not None
    qtbot.waitUntil(lambda: not work.busy, timeout=20_000)
    assert {task.on for task in workers.tasks} == {"gpu"}
    (file,) = kept()
    assert "NVIDIA Test 0" in file.read_text().splitlines()[0]


@pytest.mark.slow
def test_another_gpu_ends_what_is_measured(window: Window, workers: Waiting, qtbot: QtBot) -> None:
    window.actions_["gpu.map"].trigger()
    work = window.features.sweep_work
    assert work is not None
    window.meter._find((fake_gpu.facts(1),), fake_gpu.facts(1), "")
    qtbot.waitUntil(lambda: not work.busy, timeout=20_000)
    workers.may.set()


def test_the_commands_say_why_they_are_not_to_be_had(window: Window, make: Make) -> None:
    window.actions_["lesson.previous"].trigger()
    assert window.parameters.sweep.isHidden()
    assert window.actions_["run.map"].toolTip() == "This lesson shows no sweep."
    assert not window.actions_["gpu.map"].isEnabled()
    bare = make()
    bare.course.open_any(ABOUT)
    assert bare.actions_["gpu.map"].toolTip().startswith("No GPU: ")
