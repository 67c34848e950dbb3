"""A user's own kernel beside its picture: its launch is changed, and runs again by itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpuviz.launch.settings import load
from gpuviz.launch.signature import KernelParameter
from gpuviz.launch.texts import Kernel
from gpuviz.qt.kernels.launch_fields import Field, LaunchFields
from gpuviz.qt.window.window import Window
from gpuviz.story.kernel_launch import KernelLaunch
from gpuviz.story.own_kernel.story import lesson_of
from gpuviz.story.perform import perform as really
from gpuviz.story.refitting import fitted
from gpuviz.traces.trace import Launch
from gpuviz.views.link import link, parse
from tests.qt.fake_lesson import PTX, SOURCE, FakePerform

CONTROL = Qt.KeyboardModifier.ControlModifier


class Perform(FakePerform):
    """A user's own kernel is performed, in earnest; the lessons are not."""

    def __call__(self, lesson, values, **how):  # type: ignore[no-untyped-def]
        """The performance of a lesson."""
        return (really if lesson.launch else super().__call__)(lesson, values, **how)


@pytest.fixture
def perform() -> FakePerform:
    return Perform()


@pytest.fixture
def launch(tmp_path: Path) -> KernelLaunch:
    """Of a PTX file with its source beside it: it needs no compiler."""
    (tmp_path / "pairs.cu").write_text(SOURCE)
    file = tmp_path / "pairs.ptx"
    file.write_text(PTX)
    given = ("f32[4096]=rand", "f32[4096]=zeros", "i32=1")
    return KernelLaunch(file, "pairs", "pairs", (4, 1, 1), (64, 1, 1), given)


@pytest.fixture
def own(window: Window, qtbot: QtBot, launch: KernelLaunch) -> Window:
    """The window with the kernel shown, and what it takes known."""
    window.course.open_any(lesson_of(launch))
    qtbot.waitUntil(
        lambda: runs(window) == (4, 64) and window.features.own_kernel.built is not None
    )
    return window


def fields(window: Window) -> LaunchFields:
    panel = window.features.own_kernel.panel
    assert panel is not None
    return panel.fields


def shown(window: Window) -> Launch | None:
    showing = window.director.showing
    return showing.runs["kernel"].trace.launch if showing and "kernel" in showing.runs else None


def runs(window: Window) -> tuple[int, int]:
    """Grid and block of what is shown."""
    found = shown(window)
    return (found.grid[0], found.block[0]) if found else (0, 0)


def write(line: Field, text: str) -> None:
    line.setFocus()
    line.selectAll()
    QTest.keyClicks(line, text)


def test_a_size_that_is_typed_is_run_and_can_be_undone(own: Window, qtbot: QtBot) -> None:
    assert fields(own).isVisible() and fields(own).block.text() == "64"
    assert [one.accessibleName() for one in fields(own).arguments] == ["in", "out", "stride"]
    write(fields(own).block, "32")
    qtbot.waitUntil(lambda: runs(own) == (4, 32))
    assert own.view.now.lesson.title == "pairs (pairs.ptx)"
    assert "block=32" in link(own.recorder.record())
    write(fields(own).grid, "2")
    qtbot.waitUntil(lambda: runs(own) == (2, 32))
    assert own.actions_["edit.undo"].text() == "Undo: grid 4 → 2"
    QTest.keyClick(own.stage, Qt.Key.Key_Z, CONTROL)
    qtbot.waitUntil(lambda: runs(own) == (4, 32) and fields(own).grid.text() == "4")
    QTest.keyClick(own.stage, Qt.Key.Key_Z, CONTROL)
    qtbot.waitUntil(lambda: runs(own) == (4, 64))
    QTest.keyClick(own.stage, Qt.Key.Key_Y, CONTROL)
    qtbot.waitUntil(lambda: runs(own) == (4, 32) and fields(own).block.text() == "32")
    model = own.lessons.model()
    said = [model.index(row, 0).data() for row in range(model.rowCount())]
    assert said.count("pairs (pairs.ptx)") == 1


WRONG = {
    "grid": ("a", "there is no 'a'"),
    "shared": ("many", "there is no 'many'"),
    "macros": ("7", "is no macro"),
    "options": ("-lcuda", "is not passed on"),
    "in": ("f32[0]=rand", "above 0"),
    "block": ("2048", "at most 1\u202f024"),
}


@pytest.mark.slow
def test_what_cannot_be_run_dims_the_picture_and_says_why(own: Window, qtbot: QtBot) -> None:
    panel = own.features.own_kernel.panel
    assert panel is not None
    for field, (text, said) in WRONG.items():
        line = fields(own).arguments[0] if field == "in" else getattr(fields(own), field)
        before = line.text()
        write(line, text)
        qtbot.waitUntil(lambda: own.stage.doubted)
        where = panel.problem if field == "block" else line.problem
        assert where.isVisible() and said in where.text(), field
        assert runs(own) == (4, 64) and own.player.story is not None
        line.setText(before)
        qtbot.waitUntil(lambda: not own.stage.doubted)
        assert not where.isVisible(), field


@pytest.mark.slow
def test_an_argument_follows_the_size_until_it_is_chosen(own: Window, qtbot: QtBot) -> None:
    write(fields(own).grid, "128")
    qtbot.waitUntil(lambda: runs(own) == (128, 64))
    texts = [line.text() for line in fields(own).arguments]
    assert texts == ["f32[8192]=rand", "f32[8192]=zeros", "i32=1"]
    write(fields(own).arguments[1], "f32[9999]=ones")
    qtbot.waitUntil(lambda: own.features.own_kernel.launch.arguments[1] == "f32[9999]=ones")
    write(fields(own).grid, "64")
    qtbot.waitUntil(lambda: runs(own) == (64, 64))
    assert [line.text() for line in fields(own).arguments][:2] == [
        "f32[4096]=rand",
        "f32[9999]=ones",
    ]


@pytest.mark.slow
def test_the_fields_are_those_of_a_view_that_is_opened(own: Window, qtbot: QtBot) -> None:
    told = link(own.recorder.record())
    own.course.open(own.course.lessons[0])
    assert not fields(own).isVisible()
    qtbot.waitUntil(lambda: not own.stage.doubted)  # of the lesson before, for a moment
    own.recorder.show(parse(told.replace("block=64", "block=96")))
    qtbot.waitUntil(lambda: runs(own) == (4, 96))
    assert fields(own).isVisible() and fields(own).block.text() == "96"


def test_sizes_and_arguments_follow_each_other(
    own: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is typed without a pause is undone at once; a slow machine makes no pause of it."""
    monkeypatch.setattr(own.history.undo, "_clock", lambda: 0.0)
    own.features.own_kernel.keep()
    write(fields(own).sizes, "n=512")
    write(fields(own).arguments[0], "rand(n * 4)")
    write(fields(own).grid, "ceil(n / block.x)")
    qtbot.waitUntil(lambda: runs(own) == (8, 64))
    write(fields(own).sizes, "n=1024")
    qtbot.waitUntil(lambda: runs(own) == (16, 64))
    launch = own.features.own_kernel.launch
    assert launch is not None and launch.arguments[0] == "f32[4096]=rand"
    assert fields(own).grid.text() == "ceil(n / block.x)"
    kept = load(launch.path).launches["pairs"]
    assert (kept.sizes, kept.arguments) == ({"n": "1024"}, {"in": "rand(n * 4)"})
    own.actions_["edit.undo"].trigger()
    qtbot.waitUntil(lambda: runs(own) == (4, 64) and fields(own).grid.text() == "4")
    assert (fields(own).sizes.text(), fields(own).arguments[0].text()) == ("", "f32[4096]=rand")


def test_arguments_go_with_their_parameters(launch: KernelLaunch) -> None:
    data, bins = KernelParameter("data", "i32", True), KernelParameter("bins", "i32", True)
    n, many = (KernelParameter(name, "i32", False, size=4) for name in ("n", "many"))

    def refitted(*taken: KernelParameter) -> KernelLaunch:
        given = replace(launch, arguments=("i32[64]=rand", "i32[255]=zeros", "i32=64"))
        return fitted(given, "f", Kernel((data, bins, n), (), {}.get), Kernel(taken, (), {}.get))

    more = refitted(bins, many, n, data)
    assert more.arguments[0] == "i32[255]=zeros"
    assert more.arguments[2:] == ("i32=64", "i32[64]=rand")
    renamed = refitted(replace(data, name="input"), bins, n)
    assert renamed.arguments == ("i32[64]=rand", "i32[255]=zeros", "i32=64")
    other = refitted(replace(data, kind="f32"), bins, n)
    assert other.arguments[0].startswith("f32[")


def listed(window: Window) -> list[str]:
    model = window.lessons.model()
    return [model.index(row, 0).data() for row in range(model.rowCount())]


@pytest.mark.slow
def test_a_kernel_is_renamed_and_removed_in_the_list(
    own: Window, qtbot: QtBot, launch: KernelLaunch
) -> None:
    id = own.view.now.lesson.id
    own.lessons.setFocus()
    QTest.keyClick(own.lessons, Qt.Key.Key_F2)
    dialog = own.features.kernel_list.dialog
    assert dialog is not None and dialog.textValue() == "pairs (pairs.ptx)"
    dialog.setTextValue("mine, first try")
    dialog.accept()
    assert listed(own)[-1] == "mine, first try" and "first try" in own.windowTitle()
    write(fields(own).grid, "2")
    qtbot.waitUntil(lambda: runs(own) == (2, 64))
    assert own.view.now.lesson.title == own.actions_[f"open.{id}"].text() == "mine, first try"
    assert [one.text() for one in own.features.kernel_list.menu().actions()][:2] == [
        "Rename this kernel in the list …",
        "Remove this kernel from the list",
    ]
    own.activateWindow()
    own.lessons.setFocus()
    qtbot.waitUntil(own.lessons.hasFocus)
    QTest.keyClick(own.lessons, Qt.Key.Key_Delete)
    assert own.view.now.lesson.launch == {} and "Your kernels" not in listed(own)
    assert not own.actions_["kernel.remove"].isEnabled()
    QTest.keyClick(own.lessons, Qt.Key.Key_Delete)  # a lesson of the course stays
    assert len(own.course.lessons) == 3
    QTest.keyClick(own.stage, Qt.Key.Key_Z, CONTROL)
    qtbot.waitUntil(lambda: listed(own)[-1] == "mine, first try")
    own.course.rename(id, "")
    assert listed(own)[-1] == "pairs (pairs.ptx)"


@pytest.mark.slow
def test_settings_are_kept_beside_the_file_when_that_is_asked_for(
    own: Window, qtbot: QtBot, launch: KernelLaunch
) -> None:
    panel, kept = own.features.own_kernel.panel, launch.path.with_name("pairs.gpuviz.toml")
    assert panel is not None
    write(fields(own).block, "32")
    qtbot.waitUntil(lambda: runs(own) == (4, 32))
    assert not kept.exists() and panel.keep.isVisible()
    QTest.mouseClick(panel.keep, Qt.MouseButton.LeftButton)
    assert "block = 32" in kept.read_text() and not panel.keep.isVisible()
    write(fields(own).block, "96")
    qtbot.waitUntil(lambda: runs(own) == (4, 96))
    assert "block = 96" in kept.read_text()
    own.kernel_opener.open(launch.path, "sm_90", asks=True)
    qtbot.waitUntil(lambda: own.kernel_opener.dialog is not None)
    dialog = own.kernel_opener.dialog
    assert dialog is not None and dialog.block.text() == "96"
    dialog.reject()
