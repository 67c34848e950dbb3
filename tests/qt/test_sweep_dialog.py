"""A sweep in the window: chosen, run, stopped, looked at, clicked."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from gpuviz.course import lesson
from gpuviz.qt.look.theme import Theme
from gpuviz.qt.running.meter import Meter
from gpuviz.qt.sweep.sweep_dialog import SweepDialog
from gpuviz.qt.sweep.sweep_work import SweepWork
from gpuviz.qt.window.window import Window
from gpuviz.recordings.measurement import DeviceFacts
from gpuviz.story.kernel_launch import KernelLaunch
from gpuviz.story.lesson import Lesson
from gpuviz.story.own_kernel.story import lesson_of
from gpuviz.story.sources import Sources
from gpuviz.story.swept import CellView, swept
from gpuviz.sweeps.sweep import Sweep
from tests.qt import fake_gpu
from tests.sweeps.here import Here

Opened = Callable[..., SweepDialog]


@pytest.fixture
def workers() -> Here:
    return Here()


@pytest.fixture
def opened(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: Here
) -> Iterator[Opened]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    window, work = QWidget(), SweepWork(Meter(Sources()))
    qtbot.addWidget(window)
    work.make_workers = lambda sweep: (workers, 1)

    def dialog(gpu: DeviceFacts | None = None, of: Lesson | None = None) -> SweepDialog:
        one = of or lesson("banks")
        shown = swept(one, one.defaults(), "sm_90", "sass")
        made = SweepDialog(shown, work, gpu, Theme(parent=window), window)
        made.show()
        if of is None:
            made.first.setCurrentIndex(made.first.findData("stride"))
        return made

    yield dialog
    work.close()


def run(qtbot: QtBot, dialog: SweepDialog) -> None:
    with qtbot.waitSignal(dialog.work.rested, timeout=60_000):
        qtbot.mouseClick(dialog.start, Qt.MouseButton.LeftButton)


def words(dialog: SweepDialog) -> str:
    dialog.map.grab()
    return dialog.map.accessibleDescription()


@pytest.mark.slow
def test_a_map_fills_in_and_its_cells_open_their_view(qtbot: QtBot, opened: Opened) -> None:
    dialog = opened()
    dialog.second.setCurrentIndex(dialog.second.findData("bytes"))
    dialog.values[0].setText("1,4")
    run(qtbot, dialog)
    dialog.quantity.setCurrentIndex(dialog.quantity.findData("shared_load_wavefronts"))
    said = words(dialog)
    assert said.startswith("Shared memory: load wavefronts. ")
    assert "Least with stride 1, bytes 1: 64;" in said
    assert dialog.map.frame is not None
    at = QPoint(dialog.map.width() - 40, dialog.map.height() // 2)
    assert dialog.map.tip(at.x(), at.y())
    with qtbot.waitSignal(dialog.picked) as picked:
        qtbot.mouseClick(dialog.map, Qt.MouseButton.LeftButton, pos=at)
    (cell,) = picked.args
    assert isinstance(cell, CellView)
    assert (cell.values["stride"], cell.arch) == (4, "sm_90")
    assert cell.values["pattern"] == "stride"


def test_what_cannot_be_swept_is_said_and_cannot_be_started(opened: Opened) -> None:
    dialog = opened()
    for text, said in (("4..1", "goes down"), ("", "names no values"), ("1..x", "no value")):
        dialog.values[0].setText(text)
        assert not dialog.start.isEnabled()
        assert said in dialog.said.said
    dialog.values[0].setText("1..3")
    assert dialog.start.isEnabled()
    dialog.second.setCurrentIndex(dialog.second.findData("stride"))
    assert not dialog.start.isEnabled()


@pytest.mark.slow
def test_a_sweep_that_is_stopped_goes_on(qtbot: QtBot, opened: Opened, workers: Here) -> None:
    dialog = opened()
    dialog.values[0].setText("1..12")
    dialog.work.came.connect(dialog.work.cancel)
    run(qtbot, dialog)
    dialog.work.came.disconnect(dialog.work.cancel)
    assert "stopped" in dialog.said.said
    done = workers.done
    assert 0 < done < 12
    dialog.close()
    again = opened()
    again.values[0].setText("1..12")
    run(qtbot, again)
    assert "kept in" in again.said.said
    assert workers.done <= 12 + 2  # what was under way when it was stopped is done twice


def test_without_a_gpu_nothing_is_measured(opened: Opened) -> None:
    assert opened().on.count() == 1
    dialog = opened(fake_gpu.facts(0))
    assert dialog.on.itemData(1) == "gpu"
    dialog.on.setCurrentIndex(1)
    assert dialog.sweep().subject.arch == fake_gpu.facts(0).sm


def test_cells_that_cannot_be_are_hatched_and_counted(qtbot: QtBot, opened: Opened) -> None:
    dialog = opened()
    dialog.values[0].setText("1,2,100000")
    run(qtbot, dialog)
    assert "1 cell cannot be." in words(dialog)


@pytest.mark.slow
def test_sizes_of_an_own_kernel(qtbot: QtBot, opened: Opened, tmp_path: Path) -> None:
    file = tmp_path / "copy.cu"
    file.write_text(
        'extern "C" __global__ void copy(const float* a, float* b, int n)'
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) b[i] = a[i]; }"
    )
    given = ("f32[4096]=rand", "f32[4096]=zeros", "i32=4096")
    launch = KernelLaunch(file, "copy", "copy", (16, 1, 1), (256, 1, 1), given)
    dialog = opened(of=lesson_of(launch))
    dialog.first.setCurrentIndex(dialog.first.findData("block.x"))
    dialog.values[0].setText("32,100,128")
    dialog.grid.setText("{ceil(4096/block.x)}")
    run(qtbot, dialog)
    dialog.quantity.setCurrentIndex(dialog.quantity.findData("global_load_sectors"))
    assert "Least with block.x 32: 512; most with block.x 100: 592." in words(dialog)
    with qtbot.waitSignal(dialog.picked) as picked:
        qtbot.mouseClick(dialog.map, Qt.MouseButton.LeftButton, pos=dialog.map.rect().center())
    (cell,) = picked.args
    assert cell.lesson.launch["block"] == "100,1,1"
    assert cell.lesson.launch["grid"] == "41,1,1"


def test_the_command_opens_it(window: Window, qtbot: QtBot) -> None:
    window.actions_["run.sweep"].trigger()
    (dialog,) = window.findChildren(SweepDialog)
    assert dialog.isVisible()
    dialog.close()
    qtbot.waitUntil(lambda: not isValid(dialog))


def test_a_sweep_knows_nothing_of_another(opened: Opened) -> None:
    dialog = opened()
    dialog.values[0].setText("1..3")
    first = dialog.sweep()
    assert isinstance(first, Sweep)
    assert first.subject.says["lesson"] == "banks"
    assert "stride" not in first.subject.says
