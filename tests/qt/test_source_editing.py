"""The source of a user's own kernel in the editor: run as it is typed, saved, watched, kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpuviz.compile import nvrtc
from gpuviz.files import writing as files
from gpuviz.qt.code.editor import Editor
from gpuviz.qt.kernels import source_editing
from gpuviz.qt.kernels.kernel_dialog import KernelDialog
from gpuviz.qt.window.window import Window
from gpuviz.story.kernel_launch import KernelLaunch
from gpuviz.story.own_kernel.story import lesson_of
from tests.qt.fake_lesson import FakePerform
from tests.qt.test_opening import WITH_HOST
from tests.qt.test_own_kernel import CONTROL, Perform, fields, runs

pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")

SOURCE = """extern "C" __global__ void scale(const int* in, int* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * in[i];
}
"""


@pytest.fixture
def perform() -> FakePerform:
    return Perform()


@pytest.fixture(autouse=True)
def nobody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test leaves behind is given up."""
    monkeypatch.setattr(source_editing, "unsaved", lambda window, path: "discard")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "scale.cu"
    made.write_text(SOURCE)
    return made


def opened(window: Window, qtbot: QtBot, file: Path) -> Editor:
    """The editor of a kernel that is shown."""
    given = ("i32[256]=arange", "i32[256]=zeros", "i32=256")
    launch = KernelLaunch(file, "scale", "scale", (4, 1, 1), (64, 1, 1), given)
    window.course.open_any(lesson_of(launch))
    qtbot.waitUntil(
        lambda: runs(window) == (4, 64) and window.features.own_kernel.built is not None
    )
    editor = window.source.editor
    qtbot.waitUntil(lambda: editor.editing)
    editor.setFocus()
    return editor


def choose(editor: Editor, words: str) -> None:
    """Select words in the source."""
    found = editor.document().find(words)
    assert not found.isNull(), words
    editor.setTextCursor(found)


def result(window: Window) -> int:
    """What the kernel made of a 7."""
    showing = window.director.showing
    return int(showing.runs["kernel"].outputs["out"][7]) if showing else 0


def modified(window: Window) -> bool:
    return "●" in window.source.tabs.tabText(0)


def test_a_source_that_is_typed_is_run_and_saved(window: Window, qtbot: QtBot, file: Path) -> None:
    editor = opened(window, qtbot, file)
    assert result(window) == 14 and not modified(window)
    choose(editor, "2 *")
    QTest.keyClicks(editor, "5 *")
    qtbot.waitUntil(lambda: result(window) == 35)
    assert modified(window) and file.read_text() == SOURCE
    QTest.keyClick(editor, Qt.Key.Key_S, CONTROL)
    assert file.read_text() == SOURCE.replace("2 *", "5 *") and not modified(window)
    QTest.keyClick(editor, Qt.Key.Key_Z, CONTROL)
    qtbot.waitUntil(lambda: modified(window) and result(window) != 35)


@pytest.mark.slow
def test_errors_stand_at_their_lines_and_the_picture_is_dim(
    window: Window, qtbot: QtBot, file: Path
) -> None:
    editor = opened(window, qtbot, file)
    choose(editor, "2 * in[i]")
    QTest.keyClicks(editor, "twice")
    qtbot.waitUntil(lambda: 4 in editor.errors)
    assert "twice" in editor.note(4) and window.stage.doubted and result(window) == 14
    panel = window.features.own_kernel.panel
    assert panel is not None and "scale.cu:4" in panel.problem.text()
    choose(editor, "{")
    QTest.keyClick(editor, Qt.Key.Key_End)
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert set(editor.errors) == {5}  # it moves with its line
    QTest.keyClicks(editor, "int twice = 9;")
    qtbot.waitUntil(lambda: result(window) == 9)
    assert not editor.errors and not window.stage.doubted


@pytest.mark.slow
def test_arguments_follow_the_signature(window: Window, qtbot: QtBot, file: Path) -> None:
    editor = opened(window, qtbot, file)
    choose(editor, "int n)")
    QTest.keyClicks(editor, "int n, int factor)")
    choose(editor, "2 *")
    QTest.keyClicks(editor, "factor *")
    qtbot.waitUntil(lambda: result(window) == 7)
    names = [line.accessibleName() for line in fields(window).arguments]
    assert names == ["in", "out", "n", "factor"]
    fields(window).arguments[3].setText("i32=4")
    qtbot.waitUntil(lambda: result(window) == 28)


@pytest.mark.slow
def test_a_file_changed_elsewhere_is_read_again_or_asked_about(
    window: Window, qtbot: QtBot, file: Path
) -> None:
    editor = opened(window, qtbot, file)
    files.write(file, SOURCE.replace("2 *", "3 *"))  # another file takes its place
    qtbot.waitUntil(lambda: result(window) == 21)
    assert "3 *" in editor.text and not modified(window)
    choose(editor, "3 *")
    QTest.keyClicks(editor, "6 *")
    qtbot.waitUntil(lambda: result(window) == 42)
    asked: list[str] = []

    def mine(path: Path) -> str:
        asked.append(path.name)
        return "mine"

    window.features.source_editing.ask_both = mine
    file.write_text(SOURCE.replace("2 *", "4 *"))
    qtbot.waitUntil(lambda: bool(asked))
    aside = file.with_name("scale.theirs.cu")
    qtbot.waitUntil(aside.exists)
    assert "4 *" in aside.read_text() and "6 *" in editor.text and modified(window)
    window.features.source_editing.ask_both = lambda path: "theirs"
    file.write_text(SOURCE.replace("2 *", "8 *"))
    qtbot.waitUntil(lambda: result(window) == 56)
    assert "6 *" in file.with_name("scale.mine.cu").read_text() and not modified(window)


@pytest.mark.slow
def test_closing_asks_and_a_crash_loses_nothing(
    make: Callable[..., Window], qtbot: QtBot, file: Path, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    first = make(state=state)
    editor = opened(first, qtbot, file)
    choose(editor, "2 *")
    QTest.keyClicks(editor, "5 *")
    asked: list[str] = []

    def cancel(path: Path) -> str:
        asked.append(path.name)
        return "cancel"

    first.features.source_editing.ask_unsaved = cancel
    assert not first.close() and asked == ["scale.cu"]
    first.leave()  # as when the system shuts down
    second = make(state=state)
    qtbot.waitUntil(lambda: second.source.editor.editing and result(second) == 35)
    assert "5 *" in second.source.editor.text and modified(second)
    assert file.read_text() == SOURCE
    second.features.source_editing.ask_unsaved = lambda path: "save"
    assert second.close() and "5 *" in file.read_text()


@pytest.mark.slow
def test_notes_follow_their_lines_and_words_are_found(
    window: Window, qtbot: QtBot, file: Path
) -> None:
    editor = opened(window, qtbot, file)
    note = editor.note(4)
    assert note
    QTest.keyClick(editor, Qt.Key.Key_Home, CONTROL)
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert editor.note(5) == note and not editor.note(4)
    QTest.keyClick(editor, Qt.Key.Key_F, CONTROL)
    bar = window.source.finding
    assert bar.isVisible()
    QTest.keyClicks(bar.line, "blockidx")
    assert editor.textCursor().selectedText() == "blockIdx" and bar.said.text() == "1 place"
    QTest.keyClick(bar.line, Qt.Key.Key_Escape)
    assert not bar.isVisible() and editor.hasFocus()


@pytest.mark.slow
def test_a_lesson_of_the_course_is_only_read(window: Window, qtbot: QtBot, file: Path) -> None:
    editor = opened(window, qtbot, file)
    window.course.open(window.course.lessons[0])
    qtbot.waitUntil(lambda: "pairs" in editor.text)
    assert not editor.editing
    QTest.keyClicks(editor, "x")
    assert "x" not in editor.text[:1]


@pytest.mark.slow
def test_a_file_that_does_not_compile_is_mended_in_the_window(
    window: Window, qtbot: QtBot, file: Path
) -> None:
    broken = SOURCE.replace("2 * in[i];", "2 * in[i]")
    file.write_text(broken)
    window.kernel_opener.open(file, "sm_90")
    editor = window.source.editor
    qtbot.waitUntil(lambda: editor.editing and bool(editor.errors))
    assert set(editor.errors) == {5} and window.message.isVisible()
    assert window.view.now.lesson.id == "pairs"
    choose(editor, "in[i]")
    QTest.keyClick(editor, Qt.Key.Key_End)
    QTest.keyClicks(editor, ";")
    qtbot.waitUntil(lambda: window.view.now.lesson.title == "scale (scale.cu)")
    qtbot.waitUntil(lambda: editor.editing and runs(window) == (16, 256))
    assert not editor.errors and modified(window) and file.read_text() == broken
    assert editor.textCursor().block().text().endswith("in[i];")
    QTest.keyClick(editor, Qt.Key.Key_S, CONTROL)
    assert file.read_text() == SOURCE and not modified(window)


@pytest.mark.slow
def test_a_file_that_is_not_mended_is_left_for_a_lesson(
    window: Window, qtbot: QtBot, file: Path
) -> None:
    file.write_text("__global__ void f( {\n")
    window.kernel_opener.open(file, "sm_90")
    editor = window.source.editor
    qtbot.waitUntil(lambda: editor.editing and bool(editor.errors))
    QTest.keyClicks(editor, "x")
    window.course.open(window.course.lessons[1])
    qtbot.waitUntil(lambda: "pairs" in editor.text)
    assert not editor.editing and window.features.drafts.modified == (file,)


RACY = """extern "C" __global__ void scale(const int* in, int* out, int n)
{
    __shared__ int part[64];
    part[threadIdx.x] = in[threadIdx.x];
    out[blockIdx.x * blockDim.x + threadIdx.x] = part[63 - threadIdx.x];
}
"""


@pytest.mark.slow
def test_a_race_is_mended_and_the_text_before_is_a_click_away(
    window: Window, qtbot: QtBot, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(file.parent / "state"))
    file.write_text(RACY)
    window.view.set(checks=("memory", "race", "init", "sync"))
    editor, source = opened(window, qtbot, file), window.source

    def found() -> int:
        showing = window.director.showing
        assert showing is not None
        return sum(len(run.trace.findings) for run in showing.runs.values())

    qtbot.waitUntil(lambda: found() > 0)
    assert editor.note(5).startswith("▲ race: ") and editor.note_ink(5) == "bad"
    choose(editor, "    out")
    QTest.keyClicks(editor, "    __syncthreads(; out")  # does not compile: nothing is lost
    qtbot.waitUntil(lambda: bool(editor.errors))
    assert found() > 0 and fields(window).arguments[2].text() == "i32=256"
    choose(editor, "syncthreads(")
    QTest.keyClicks(editor, "syncthreads()")
    qtbot.waitUntil(lambda: found() == 0 and not editor.errors)
    qtbot.waitUntil(source.before.isVisible)
    QTest.mouseClick(source.before, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(source.changes.toPlainText()))
    assert window.view.now.compared and not source.before.isVisible()
    assert "-    __syncthreads(); out" in source.changes.toPlainText()
    assert source.tabs.isTabVisible(source.tabs.count() - 1)


@pytest.mark.slow
def test_a_file_that_says_its_launch_opens_without_a_form(
    window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    """The other launches of the file are a click away, beside the fields."""
    path = tmp_path / "widen.cu"
    path.write_text(WITH_HOST)
    window.files.reopening.open(path)  # as from a double click, or dropped
    own = window.features.own_kernel
    qtbot.waitUntil(lambda: own.panel is not None and own.panel.written.count() == 3)
    assert own.launch is not None and own.panel is not None
    assert (own.launch.name, own.launch.grid) == ("widen<3>", (128, 1, 1))
    assert window.view.now.values["picture"] == "findings"
    written = own.panel.written
    assert written.currentText() == "widen<3> <<<128, 128>>>  line 8"
    assert written.itemText(2).startswith("nowhere: no kernel of this name")
    written.setFocus()
    QTest.keyClick(written, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: own.launch is not None and own.launch.name == "widen<5>")
    assert own.launch.block == (64, 1, 1)
    assert window.view.now.values["picture"] == "findings"
    own.panel.fields.block.setText("32")
    qtbot.waitUntil(lambda: own.launch is not None and own.launch.block == (32, 1, 1))
    qtbot.waitUntil(lambda: written.currentIndex() == -1)
    assert not any(one.isVisible() for one in window.findChildren(KernelDialog))


DEAR = """__global__ void dear(const float* a, const float* b, float* c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = a[i];
    s += b[i * 32];
    c[i] = s;
}
int main() {
    float *a, *b, *c;
    cudaMalloc(&a, 256), cudaMalloc(&b, 8192), cudaMalloc(&c, 256);
    dear<<<1, 64>>>(a, b, c);
}
"""


@pytest.mark.slow
def test_an_opened_kernel_begins_at_the_dearest_finding(
    window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    """Picture, time line and code are of the line that is to be changed."""
    path = tmp_path / "dear.cu"
    path.write_text(DEAR)
    window.files.reopening.open(path)
    player = window.player
    qtbot.waitUntil(lambda: player.story is not None and player.t > 0)
    story = player.story
    assert story is not None and story.at is not None
    assert story.at(player.t).title == "Line 4 costs 8 × what it could"
    assert story.steps[story.step_at(player.t)].line == 4


RACE = """__global__ void count(const unsigned char* data, unsigned* bins, int n) {
    __shared__ unsigned local[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 64) local[threadIdx.x] = 0;
    if (i < n) local[data[i] % 64]++;
    if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
int main() {
    unsigned char* data; unsigned* bins;
    cudaMalloc(&data, 4000), cudaMalloc(&bins, 256);
    count<<<32, 128>>>(data, bins, 4000);
}
"""


@pytest.mark.slow
def test_an_opened_kernel_with_faults_begins_at_the_first(
    window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    """Also where that is another warp's."""
    path = tmp_path / "count.cu"
    path.write_text(RACE)
    window.files.reopening.open(path)
    player = window.player
    qtbot.waitUntil(lambda: player.story is not None and player.t > 0)
    qtbot.waitUntil(lambda: "Race" in str(player.story and player.story.at(player.t).title))
    assert window.view.now.values["finding"] == 0
    story = player.story
    assert story is not None and story.at is not None
    assert story.steps[story.step_at(player.t)].line == 5
