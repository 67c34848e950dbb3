"""All block shapes are measured from the window: by a fake that is told when to go on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpuviz.errors import Cancelled, KernelFault
from gpuviz.qt.commands.palette_dialog import matches
from gpuviz.qt.window.window import Window
from gpuviz.runners import kept_sweeps, sweep_file
from gpuviz.runners.base import Cancel, Progress
from gpuviz.runners.gpu.client import Gpu
from gpuviz.runners.session import shipped
from gpuviz.scenes.block_shape import LESSON
from gpuviz.scenes.sources import Sources
from tests.qt import fake_gpu
from tests.qt.fake_lesson import LESSONS, FakePerform, job_of

Make = Callable[..., Window]
ABOUT = replace(LESSONS[0], id=LESSON.id, title=LESSON.title)
LEFT = Qt.MouseButton.LeftButton


def times(device: str) -> sweep_file.Times:
    return sweep_file.Times(
        np.full((32, 32), 2.0),
        device,
        "9.0",
        "580.1",
        "13.0",
        (1980.0, 1980.0),
        "2026-10-01",
        7,
        1e-4,
    )


@dataclass
class FakeMeasure:
    """Half of it is done at once, the rest when it may go on; `error` ends it."""

    go_on: threading.Event = field(default_factory=threading.Event)
    error: Exception | None = None
    threads: list[threading.Thread] = field(default_factory=list)

    def __call__(self, gpu: Gpu, *, progress: Progress, cancel: Cancel) -> sweep_file.Times:
        self.threads.append(threading.current_thread())
        progress(0.5)
        while not self.go_on.wait(0.01):
            if cancel():
                raise Cancelled("stopped")
        if self.error is not None:
            raise self.error
        return times(gpu.facts().name)


@pytest.fixture
def measure() -> FakeMeasure:
    return FakeMeasure()


@pytest.fixture
def live(
    make: Make, perform: FakePerform, measure: FakeMeasure, tmp_path: Path, qtbot: QtBot
) -> Window:
    """A window with a GPU, at the lesson about block shapes."""
    perform.planned = True
    window = make(Sources(lambda device: Gpu(device, arguments=fake_gpu.arguments()), job_of))
    window.sweeps.measure, window.sweeps.folder = measure, tmp_path / "sweeps"
    qtbot.waitUntil(
        lambda: window.meter.state.device is not None and window.meter.state.activity == "idle",
        timeout=20_000,
    )
    window.course.open_any(ABOUT)
    qtbot.waitUntil(lambda: not window.director.performer.busy)
    return window


def begun(window: Window, qtbot: QtBot) -> None:
    window.actions_["gpu.sweep"].trigger()
    qtbot.waitUntil(lambda: window.status.progress.value() == 50)


def rested(window: Window, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not window.sweeps.busy)
    assert window.status.progress.isHidden() and window.status.cancel.isHidden()


def tip(window: Window) -> str:
    assert not window.actions_["gpu.sweep"].isEnabled()
    assert not matches("measure all block shapes", list(window.actions_))
    return window.actions_["gpu.sweep"].toolTip()


def test_progress_is_shown_and_the_times_are_told_of(
    live: Window, measure: FakeMeasure, perform: FakePerform, qtbot: QtBot
) -> None:
    assert [a for _, a in matches("measure all block shapes", list(live.actions_))] == [
        live.actions_["gpu.sweep"]
    ]
    begun(live, qtbot)
    assert live.status.progress.isVisible() and live.status.cancel.isVisible()
    assert live.status.running.text() == "measuring all block shapes on NVIDIA Test 0 …"
    assert measure.threads[0] is not threading.main_thread()
    assert "already" in tip(live)
    asked = len(perform.asked)
    measure.go_on.set()
    rested(live, qtbot)
    assert kept_sweeps.file_of(live.sweeps.folder, "NVIDIA Test 0").is_file()
    found = live.session.library().shape_times
    assert found is not None and found.device == "NVIDIA Test 0"
    qtbot.waitUntil(lambda: len(perform.asked) > asked)
    assert live.actions_["gpu.sweep"].isEnabled()


@pytest.mark.parametrize("way", ["button", "escape", "stop", "once", "device"])
def test_it_can_be_cancelled(live: Window, qtbot: QtBot, way: str) -> None:
    begun(live, qtbot)
    if way == "button":
        QTest.mouseClick(live.status.cancel, LEFT)
    elif way == "device":
        live.meter._find((fake_gpu.facts(1),), fake_gpu.facts(1), "")
    else:
        command = {"escape": "run.cancel", "stop": "gpu.stop", "once": "gpu.once"}[way]
        live.actions_[command].trigger()
    rested(live, qtbot)
    assert not live.sweeps.folder.exists() and not live.message.isVisible()
    if way in ("button", "escape", "stop"):
        assert "cancelled" in live.status.running.text()


def test_runs_of_lessons_come_and_go_meanwhile(
    live: Window, measure: FakeMeasure, perform: FakePerform, qtbot: QtBot
) -> None:
    begun(live, qtbot)
    perform.slow = lambda values: values["stride"] == 9
    live.player.set_values({"stride": 9})
    qtbot.waitUntil(lambda: live.status.running.text().startswith("running "))
    live.actions_["run.cancel"].trigger()
    qtbot.waitUntil(lambda: not live.director.performer.busy)
    assert live.sweeps.busy
    live.player.set_values({"stride": 3})
    qtbot.waitUntil(lambda: not live.director.performer.busy)
    live.actions_["lesson.previous"].trigger()
    measure.go_on.set()
    rested(live, qtbot)
    assert "kept in" in live.status.running.text() or "emulated" in live.status.running.text()


def test_an_error_is_a_message(live: Window, measure: FakeMeasure, qtbot: QtBot) -> None:
    measure.error = KernelFault("blocks of 3 x 3 give results that are 5 off")
    measure.go_on.set()
    live.actions_["gpu.sweep"].trigger()
    rested(live, qtbot)
    assert "3 x 3 give results" in live.message.text.toPlainText() and live.message.isVisible()
    assert live.actions_["gpu.sweep"].isEnabled() and not live.sweeps.folder.exists()


def test_a_folder_that_cannot_be_written_is_a_message(
    live: Window, measure: FakeMeasure, qtbot: QtBot
) -> None:
    live.sweeps.folder.write_text("")
    measure.go_on.set()
    live.actions_["gpu.sweep"].trigger()
    rested(live, qtbot)
    assert "cannot write" in live.message.text.toPlainText()


def test_the_command_says_why_it_is_not_to_be_had(live: Window, make: Make) -> None:
    live.actions_["lesson.previous"].trigger()
    assert tip(live) == "Only for the lesson “Block shapes”."
    live.actions_["gpu.sweep"].trigger()
    assert not live.sweeps.busy
    bare = make()
    bare.course.open_any(ABOUT)
    assert tip(bare) == "No GPU: no GPU has been asked."


def test_times_of_a_gpu_that_is_found_are_told_of(
    make: Make, tmp_path: Path, measure: FakeMeasure, qtbot: QtBot
) -> None:
    kept_sweeps.keep(tmp_path, times("NVIDIA Test 1"))
    window = make(Sources(lambda device: Gpu(device, arguments=fake_gpu.arguments())))
    window.sweeps.folder = tmp_path
    assert window.session.library() is shipped()
    window.sweeps._follow(replace(window.meter.state, device=fake_gpu.facts(1)))
    found = window.session.library().shape_times
    assert found is not None and found.device == "NVIDIA Test 1"
    assert make().session.library() is shipped()


def test_closing_stops_it(live: Window, measure: FakeMeasure, qtbot: QtBot) -> None:
    begun(live, qtbot)
    live.close()
    assert not measure.threads[0].is_alive()
