"""A user's own kernel: a file, a form, a lesson like the others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialogButtonBox, QFileDialog
from pytestqt.qtbot import QtBot

from gpuviz.compile import nvrtc
from gpuviz.compile.program import marked_lines
from gpuviz.qt.kernels.kernel_dialog import KernelDialog
from gpuviz.qt.window.window import Window
from gpuviz.story.own_kernel.story import CHAPTER
from tests.qt.fake_lesson import PTX, SOURCE, FakePerform

needs_compiler = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")
CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def ptx(tmp_path: Path) -> Path:
    """A PTX file with its source beside it: it needs no compiler."""
    (tmp_path / "pairs.cu").write_text(SOURCE)
    file = tmp_path / "pairs.ptx"
    file.write_text(PTX)
    return file


@pytest.fixture
def form(window: Window, qtbot: QtBot, ptx: Path, monkeypatch: pytest.MonkeyPatch) -> KernelDialog:
    """The form after Ctrl+O and the choice of a file."""
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *given: (str(ptx), ""))
    QTest.keyClick(window.stage, Qt.Key.Key_O, CONTROL)
    qtbot.waitUntil(lambda: window.kernel_opener.dialog is not None)
    dialog = window.kernel_opener.dialog
    assert dialog is not None
    return dialog


def show(form: KernelDialog) -> bool:
    return form.buttons.button(QDialogButtonBox.StandardButton.Ok).isEnabled()


def test_arguments_are_guessed_from_the_signature(form: KernelDialog) -> None:
    assert [line.text() for line in form.arguments] == [
        "f32[4096]=rand",
        "f32[4096]=zeros",
        "i32=1",
    ]
    assert [line.accessibleName() for line in form.arguments] == ["in", "out", "stride"]
    assert show(form)


def test_guesses_follow_the_launch_until_something_else_is_written(form: KernelDialog) -> None:
    QTest.keyClicks(form.arguments[1], "")
    form.arguments[1].selectAll()
    QTest.keyClicks(form.arguments[1], "f32[9]=ones")
    form.grid.setText("4,8")
    form.grid.editingFinished.emit()
    assert form.arguments[0].text() == "f32[8192]=rand"
    assert form.arguments[1].text() == "f32[9]=ones"
    assert form.launch().grid == (4, 8, 1)


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("grid", "a", "there is no 'a'"),
        ("block", "2048", "at most 1\u202f024"),
        ("argument", "f32[0]=rand", "above 0"),
        ("argument", "f33=1", "no type (i8, u8"),
    ],
)
def test_a_launch_that_cannot_be_is_not_accepted(
    form: KernelDialog, field: str, text: str, said: str
) -> None:
    line = form.arguments[0] if field == "argument" else getattr(form, field)
    line.setText(text)
    assert said in form.why
    shown = line.problem if field != "block" else form.refusal
    assert said in shown.text()
    assert not show(form)


def test_the_launch_becomes_a_lesson(
    window: Window, form: KernelDialog, perform: FakePerform, qtbot: QtBot
) -> None:
    form.accept()
    assert window.view.now.lesson.title == "pairs (pairs.ptx)"
    assert window.view.now.lesson.chapter == CHAPTER
    assert set(window.view.now.values) == {
        "block",
        "warp",
        "every",
        "picture",
        "columns",
        "finding",
        "goes_on",
    }
    (plan,) = window.view.now.lesson.plan(window.view.now.values)
    assert plan.arguments[2] == "i32=1" and Path(plan.kernel).is_absolute()
    model = window.lessons.model()
    said = [model.index(row, 0).data() for row in range(model.rowCount())]
    assert said[-2:] == [CHAPTER, "pairs (pairs.ptx)"]
    window.actions_["open.pairs"].trigger()
    window.actions_["lesson.previous"].trigger()
    assert window.lessons.currentIndex().data() == "Coalescing"
    assert window.actions_[f"open.{plan_id(window)}"].text() == "pairs (pairs.ptx)"


def plan_id(window: Window) -> str:
    return next(c.id for c, _ in window.actions_ if "kernel-" in c.id).removeprefix("open.")


@needs_compiler
def test_a_file_that_does_not_compile_has_its_lines_lit(
    window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    file = tmp_path / "bad.cu"
    file.write_text('extern "C" __global__ void f(int* x)\n{\n    x[0] = y;\n}\n')
    window.kernel_opener.open(file, "sm_90")
    qtbot.waitUntil(lambda: window.message.isVisible(), timeout=20_000)
    assert 'identifier "y" is undefined' in window.message.text.toPlainText()
    view = window.source.views[0]
    assert view.lit == {3} and "undefined" in view.note(3)
    assert window.player.story is not None


def test_files_without_kernels_are_refused(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    window.kernel_opener.open(tmp_path / "gone.cu", "sm_90")
    qtbot.waitUntil(lambda: window.message.isVisible())
    assert "gone.cu" in window.message.text.toPlainText()
    assert marked_lines(ValueError()) == {}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (".pragma", "ends in the middle of a statement"),
        ("ret; } /*\n.entry gone( */ {", "expected a declaration"),
    ],
)
def test_ptx_that_cannot_be_read_is_refused(
    body: str, said: str, window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(f".version 9.0\n.target sm_90\n.visible .entry k() {{ {body}")
    window.kernel_opener.open(path, "sm_90")
    qtbot.waitUntil(window.message.isVisible)
    assert said in window.message.text.toPlainText()


def test_an_open_form_does_not_outlive_the_window(
    make: Callable[..., Window], qtbot: QtBot, ptx: Path
) -> None:
    window = make()
    window.kernel_opener.open(ptx, "sm_90")
    qtbot.waitUntil(lambda: window.kernel_opener.dialog is not None)
    window.close()
    assert not window.isVisible()


WITH_HOST = """#include <helper_cuda.h>
template <int WIDTH> __global__ void widen(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = WIDTH * in[i];
}
void run(float* d, int asked) {
    const int n = 1 << 14;
    widen<3><<<n / 128, 128>>>(d, d, n);
    widen<5><<<asked, 64, 512>>>(d, d, n);
    nowhere<<<1, 32>>>(d);
}
"""


@needs_compiler
def test_launches_of_the_file_are_proposed(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    """A file with host code opens as it is; its first launch stands in the form."""
    path = tmp_path / "widen.cu"
    path.write_text(WITH_HOST)
    window.kernel_opener.open(path, "sm_90", asks=True)
    qtbot.waitUntil(lambda: window.kernel_opener.dialog is not None, timeout=20_000)
    form = window.kernel_opener.dialog
    assert form is not None and form.written.count() == 4
    assert form.written.itemText(3).startswith("nowhere: no kernel of this name")
    last = form.written.model().index(3, 0)
    assert not form.written.model().flags(last) & Qt.ItemFlag.ItemIsEnabled
    assert form.written.itemText(0) == "widen<3> <<<128, 128>>>  line 8"
    first = form.launch()
    assert (first.grid, first.block, first.name) == ((128, 1, 1), (128, 1, 1), "widen<3>")
    assert first.arguments == ("f32[16384]=zeros", "&0+0", "i32=16384")  # one pointer, twice
    QTest.keyClick(form.written, Qt.Key.Key_Down)
    second = form.launch()
    assert (second.grid, second.block, second.dynamic_shared) == ((128, 1, 1), (64, 1, 1), 512)
    assert second.name == "widen<5>" and "asked" in form.grid.toolTip()
    form.reject()
