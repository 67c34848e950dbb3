"""What outlives a crash: the session file, and the window killed and started again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from pytestqt.qtbot import QtBot

from gpuviz.qt.history import recovery
from gpuviz.qt.history.crash_file import CrashFile, LastView
from gpuviz.qt.running.view_recorder import ViewRecorder
from gpuviz.qt.window.window import Window
from gpuviz.recordings.measurement import DeviceFacts
from gpuviz.traces import file as trace_file
from gpuviz.views.provenance import Provenance
from tests.qt.fake_lesson import COURSE, PTX, SOURCE, FakePerform

ROOT = Path(__file__).parents[2]
FOREVER = "told()\nwait(lambda: False)"
# The pause is longer than it takes until a change is kept.
KEPT = f"end = time.monotonic() + 1.5\nwait(lambda: time.monotonic() > end)\n{FOREVER}"


def test_a_proper_end_leaves_nothing(tmp_path: Path) -> None:
    session = CrashFile(tmp_path)
    session.keep("gpuviz://pairs")
    session.close()
    assert CrashFile(tmp_path).left is None


def crash(folder: Path, link: str) -> None:
    """What a process leaves that held a place and was killed: its file, and a lock of nobody."""
    code = (
        "import os, sys; from pathlib import Path; from gpuviz.qt.history.crash_file import "
        "CrashFile; CrashFile(Path(sys.argv[1])).keep(sys.argv[2]); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, str(folder), link], check=False, cwd=ROOT)


def test_what_a_lost_window_showed_is_found_once(tmp_path: Path) -> None:
    crash(tmp_path, "gpuviz://pairs?stride=7")
    found = CrashFile(tmp_path)
    assert found.left == LastView("gpuviz://pairs?stride=7")
    assert CrashFile(tmp_path).left is None  # a second window has a place of its own
    found.close()


def test_two_lost_windows_are_found_one_after_the_other(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from gpuviz.qt.history.crash_file import "
        "CrashFile; s = [CrashFile(Path(sys.argv[1])) for _ in range(2)]; "
        "s[0].keep('a'); s[1].keep('b'); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False, cwd=ROOT)
    sessions = [CrashFile(tmp_path), CrashFile(tmp_path)]
    assert [s.left and s.left.view for s in sessions] == ["a", "b"]


def test_a_view_that_is_lost_again_and_again_is_given_up(tmp_path: Path) -> None:
    hopes = []
    crash(tmp_path, "gpuviz://pairs")
    for _ in range(3):
        left = CrashFile(tmp_path).left  # a start that ends at once, whatever ends it
        assert left is not None
        hopes.append(left.hopeful)
    assert hopes == [True, True, False]
    assert json.loads((tmp_path / "window-0.json").read_text())["tries"] == 3


def test_a_view_shown_for_long_is_trusted(tmp_path: Path) -> None:
    crash(tmp_path, "gpuviz://pairs")
    session = CrashFile(tmp_path)
    session.trust("gpuviz://pairs")
    stored = json.loads(next(tmp_path.glob("*.json")).read_text())
    assert stored == {"view": "gpuviz://pairs", "tries": 0, "unsaved": []}


DAMAGED = (
    *("", "{", "[]", '{"view": 3, "tries": "x"}', "\x00\xff", "[" * 100_000, " " * (65 << 20)),
    *(f'{{"view": "gpuviz://pairs", "tries": {n}}}' for n in ("1e400", "-1", "NaN", "9" * 5000)),
)


@pytest.mark.parametrize("damaged", DAMAGED, ids=lambda text: text[:40])
def test_a_damaged_file_means_a_bad_end_and_is_put_aside(tmp_path: Path, damaged: str) -> None:
    (tmp_path / "window-0.json").write_text(damaged)
    found = CrashFile(tmp_path)
    assert found.left == LastView("")
    assert found.aside is not None and found.aside.read_text() == damaged


def test_starts_that_end_before_they_show_anything_blame_the_settings(tmp_path: Path) -> None:
    blame = []
    for _ in range(3):
        left = CrashFile(tmp_path).left
        blame.append(left is not None and left.blameless)
    assert blame == [False, False, True]
    found = CrashFile(tmp_path)
    found.trust("gpuviz://pairs")
    found.close()
    assert CrashFile(tmp_path).left is None


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("no reason"), OSError(5, "x")])
def test_a_view_that_cannot_be_restored_is_put_aside_and_the_window_starts(
    make: Callable[..., Window],
    tmp_path: Path,
    course: None,
    error: Exception,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lost = {"view": "gpuviz://sums?stride=9", "tries": 0, "unsaved": []}
    (tmp_path / "window-0.json").write_text(json.dumps(lost))

    def fail(*given: object) -> None:
        stored = json.loads((tmp_path / "window-0.json").read_text())
        assert stored == {**lost, "tries": 1, "unsaved": []}, "the try is counted before"
        raise error

    monkeypatch.setattr(ViewRecorder, "show", fail)
    window = make(state=tmp_path)
    assert window.view.now.lesson.id == "pairs" and window.player.story is not None
    aside = tmp_path / "window-0.aside.json"
    assert json.loads(aside.read_text()) == lost
    assert window.recovery.notice is not None
    assert aside.name in window.recovery.notice.button.toolTip()
    said = window.message.text.toPlainText()
    assert ("more memory" if isinstance(error, MemoryError) else str(error)) in said


def test_a_trace_among_the_recent_views_is_not_read_at_the_start(
    make: Callable[..., Window], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "gpuviz://trace-1?block=3&.launch.trace=~/big.gputrace"
    make().settings.keep("recents", json.dumps([line]))
    monkeypatch.setattr(trace_file, "load", None)  # it would fail
    window = make()
    (view,) = window.history.recents.views
    assert view.values == {"block": 3}
    (entry,) = window.history.recent_menu.actions()
    assert "big.gputrace" in entry.text()


def test_a_folder_that_cannot_be_written_is_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    session = CrashFile(tmp_path / "file")
    session.keep("gpuviz://pairs")
    session.close()
    assert session.left is None


def test_the_view_is_kept_while_the_story_plays(
    make: Callable[..., Window], qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "SOON_MS", 30)
    window = make(state=tmp_path)
    window.player.toggle()
    stored: set[str] = set()
    file = tmp_path / "window-0.json"

    def often() -> bool:
        if file.exists():
            stored.add(json.loads(file.read_text())["view"].rpartition(".t=")[2])
        return len(stored) > 3

    qtbot.waitUntil(often)
    assert window.player.state.playing
    window.close()
    assert not file.exists()


def test_settings_are_kept_before_the_end(
    make: Callable[..., Window], qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "SOON_MS", 30)
    window = make(state=tmp_path)
    kept = window.settings
    window.actions_["show.source"].trigger()
    window.actions_["theme.light"].trigger()
    qtbot.waitUntil(lambda: not kept.flag("show/source", True))
    assert kept.text("theme", "") == "light"
    window.panes.across.splitterMoved.emit(300, 1)
    window.view.set_values({"stride": 9})
    qtbot.waitUntil(lambda: kept.values(window.view.now.lesson).get("stride") == 9)


def test_a_view_that_was_lost_too_often_is_left_for_the_first_lesson(
    make: Callable[..., Window], tmp_path: Path, course: None
) -> None:
    first = make()
    first.actions_["open.sums"].trigger()
    first.view.set_values({"stride": 9})
    first.actions_["compare.toggle"].trigger()
    first.close()
    lost = {"view": "gpuviz://sums?stride=9", "tries": 2, "unsaved": []}
    (tmp_path / "window-0.json").write_text(json.dumps(lost))
    window = make(state=tmp_path)
    assert (window.view.now.lesson.id, window.view.now.compared) == ("pairs", False)
    assert window.recovery.notice is not None
    assert "recent views" in window.recovery.notice.button.toolTip()
    assert window.history.recents.views[0].values["stride"] == 9


def test_a_view_asked_for_comes_before_the_lost_one(
    perform: FakePerform, qtbot: QtBot, tmp_path: Path, course: None
) -> None:
    (tmp_path / "window-0.json").write_text('{"view": "gpuviz://sums?stride=9"}')
    settings = QSettings(str(tmp_path / "a.ini"), QSettings.Format.IniFormat)
    wanted = Provenance("strides", {"stride": "5"}, "sm_80", time=2.5)
    window = Window(perform, COURSE, settings, None, tmp_path, wanted)
    qtbot.addWidget(window)
    qtbot.waitUntil(lambda: window.player.story is not None)
    assert (window.view.now.lesson.id, window.view.now.values["stride"]) == ("strides", 5)
    assert (window.view.now.arch, window.player.t) == ("sm_80", 2.5)
    assert [v["stride"] for v in perform.asked] == [5]
    assert window.history.recents.views[0].lesson == "sums"
    window.features.suit(DeviceFacts(0, "GPU", "9.0", "580", "13.0", 132, 1, 1))
    assert window.view.now.arch == "sm_80"
    window.close()


class Process:
    """gpuviz with folders of its own, until it is killed."""

    def __init__(self, home: Path, code: str, *arguments: str, **environment: str) -> None:
        names = ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME")
        folders = {name: str(home / name) for name in names}
        folders["XDG_CACHE_HOME"] = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.qt.restarted", code, *arguments],
            cwd=ROOT,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **folders, "QT_QPA_PLATFORM": "offscreen", "HOME": str(home)}
            | environment,
        )

    def line(self) -> str:
        """The next line it prints."""
        assert self._process.stdout is not None and self._process.stderr is not None
        line = self._process.stdout.readline()
        assert line, self._process.stderr.read()
        return line.strip()

    def told(self) -> dict[str, object]:
        return dict(json.loads(self.line()))

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()

    def end(self) -> int:
        self._process.communicate(timeout=60)
        return self._process.returncode


CHANGED = """
window.actions_["open.banks"].trigger()
wait(lambda: window.director.showing and window.player.story)
window.actions_["arch.sm_80"].trigger()
window.actions_["level.ptx"].trigger()
window.actions_["compare.toggle"].trigger()
window.actions_["theme.light"].trigger()
window.actions_["show.source"].trigger()
window.actions_["play.faster"].trigger()
wait(lambda: window.director.showing and window.director.showing.compared)
wait(lambda: not window.director.performer.busy)
window.player.seek(1.234)
"""


@pytest.mark.slow
def test_after_a_kill_the_same_view_is_there_at_the_same_moment(tmp_path: Path) -> None:
    killed = Process(tmp_path, CHANGED + KEPT)
    before = killed.told()
    killed.kill()
    again = Process(tmp_path, FOREVER)
    after = again.told()
    again.kill()
    assert (before["lesson"], before["time"], before["arch"]) == ("banks", 1.234, "sm_80")
    assert before["b"] and before["note"] == "" and before["shown"] == ["side"]
    note = str(after.pop("note"))
    assert "same moment" in note and "~" in note and "gpuviz" in note
    del before["note"]
    assert after == before


@pytest.mark.slow
def test_an_own_kernel_comes_back_too_and_a_proper_end_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "pairs.cu").write_text(SOURCE)
    file = tmp_path / "pairs.ptx"
    file.write_text(PTX)
    opened = f"""
from pathlib import Path
from gpuviz.story.own_kernel.story import lesson_of
from gpuviz.story.kernel_launch import KernelLaunch
arguments = ("f32[256]=rand", "f32[256]=zeros", "i32=1")
launch = KernelLaunch(Path({str(file)!r}), "pairs", "pairs", (4, 1, 1), (64, 1, 1), arguments)
window.course.open_any(lesson_of(launch))
wait(lambda: window.director.showing and window.director.showing.sides[0].variant.lesson.launch)
window.view.set_values({{"block": 2}})
wait(lambda: not window.director.performer.busy)
window.player.seek(0.5)
"""
    killed = Process(tmp_path, opened + KEPT)
    before = killed.told()
    killed.kill()
    again = Process(tmp_path, "told()")
    after = again.told()
    assert again.end() == 0
    assert before["launch"] and dict(before["values"])["block"] == 2  # type: ignore[call-overload]
    assert before["time"] == 0.5
    assert {**after, "note": "", "recents": []} == {**before, "recents": []}
    assert after["note"]
    third = Process(tmp_path, "told()")
    last = third.told()
    assert third.end() == 0
    assert last["note"] == "" and last["launch"] == {}


@pytest.mark.slow
def test_a_picture_copied_while_the_window_closes_is_no_crash_at_the_end(tmp_path: Path) -> None:
    """It is done before its thread has noticed, and told of when the window is closed already."""
    code = """
import threading
from gpuviz.qt.export import export_commands as exporting
begun, real = threading.Event(), exporting.clip
def slow(*given):
    begun.set()
    time.sleep(0.2)
    return real(*given)
exporting.clip = slow
told()
window.actions_["export.copy"].trigger()
begun.wait()
window.close()
"""
    process = Process(tmp_path, code)
    assert process.told()["lesson"]
    assert process.end() == 0


@pytest.mark.slow
def test_a_picture_on_the_clipboard_is_no_crash_at_the_end(tmp_path: Path) -> None:
    """What Python puts there is destroyed when Python is over, unless it is handed over."""
    code = f"""
from pathlib import Path
window.files.exporting.quick_folder = lambda: Path({str(tmp_path)!r})
window.actions_["export.quick"].trigger()
wait(lambda: (data := app.clipboard().mimeData()) and data.hasFormat("image/svg+xml"))
told()
"""
    process = Process(tmp_path, code)
    assert process.told()["lesson"]
    assert process.end() == 0
