"""The log, unexpected exceptions, and what is copied to send along."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices, QGuiApplication, QTextDocument
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gpuviz import __version__
from gpuviz.base.errors import LaunchError, failure_of
from gpuviz.qt.controls.controls import plain_tip
from gpuviz.qt.diagnostics import log
from gpuviz.qt.diagnostics.log import LOG, UncaughtErrors
from gpuviz.qt.diagnostics.report import homeless
from gpuviz.qt.window.window import Window
from gpuviz.recordings.measurement import DeviceFacts
from tests.qt.fake_lesson import FakePerform
from tests.qt.test_crash_file import Process

ROOT = Path(__file__).parents[2]


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.INFO, LOG.name):
        yield caplog


def test_what_the_window_does_is_logged(
    logged: pytest.LogCaptureFixture, window: Window, perform: FakePerform, qtbot: QtBot
) -> None:
    window.view.set_values({"stride": 3})
    qtbot.waitUntil(lambda: "performed pairs for sm_90 sass in " in logged.text)
    perform.error = lambda values: LaunchError("block of 2048 threads")
    window.view.set_values({"stride": 4})
    qtbot.waitUntil(lambda: "block of 2048 threads" in logged.text)
    assert "Traceback" not in logged.text
    perform.error = lambda values: ZeroDivisionError("division by zero")
    window.view.set_values({"stride": 5})
    qtbot.waitUntil(lambda: "ZeroDivisionError" in logged.text)
    assert "Traceback" in logged.text
    window.meter.found.emit(DeviceFacts(0, "H200", "9.0", "580.1", "13.0", 132, 1, 1))
    assert "GPU: H200, CC 9.0, driver 580.1, CUDA 13.0, counters available" in logged.text
    window.meter.troubled.emit("out of memory")
    assert "GPU: out of memory" in logged.text


@pytest.mark.slow
def test_an_exception_in_a_slot_is_told_and_the_window_goes_on(tmp_path: Path) -> None:
    code = """
from PySide6.QtCore import QTimer
import threading
def slot(): raise IndexError("index 32 in a slot")
def worker(): raise KeyError("in a thread")
QTimer.singleShot(0, slot)
wait(lambda: window.message.isVisible())
first = window.message.text.toPlainText()
threading.Thread(target=worker).start()
wait(lambda: "in a thread" in window.message.text.toPlainText())
window.player.seek(0.5)
import json
print(json.dumps({"said": first, "at": window.player.t}), flush=True)
"""
    process = Process(tmp_path, code)
    said = process.told()
    assert process.end() == 0
    assert "index 32 in a slot" in str(said["said"]) and "mistake in gpuviz" in str(said["said"])
    assert said["at"] == 0.5
    found = next(tmp_path.rglob(log.NAME)).read_text()
    assert f"started: gpuviz {__version__}, Python" in found and "ended" in found
    assert "IndexError: index 32 in a slot" in found and "KeyError: 'in a thread'" in found
    assert "performed hierarchy" in found


def test_what_fails_at_every_frame_is_told_once(
    window: Window, logged: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    troubles, told = UncaughtErrors(window), []
    troubles.happened.connect(told.append)

    def fail(words: str) -> None:
        try:
            raise ValueError(words)
        except ValueError as error:
            troubles.take(type(error), error, error.__traceback__)

    for words in ("one", "one", "one", "two"):
        fail(words)
    assert [str(error) for error in told] == ["one", "two"]
    assert logged.text.count("ValueError: one") == 1
    assert capsys.readouterr().err.count("ValueError: one") == 3
    troubles.take(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert len(told) == 2


def test_a_trouble_in_a_thread_reaches_the_window(
    window: Window,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    troubles = UncaughtErrors(window)
    troubles.happened.connect(lambda error: window.message.show_failure(failure_of(error)))
    monkeypatch.setattr(threading, "excepthook", troubles._take_from_thread)
    thread = threading.Thread(target=lambda: 1 // 0)
    thread.start()
    qtbot.waitUntil(window.message.isVisible)
    thread.join()
    assert "ZeroDivisionError" in window.message.text.toPlainText()


@pytest.mark.slow
def test_the_log_is_small_and_holds_messages_of_qt_and_of_a_crash(tmp_path: Path) -> None:
    code = """
import sys, pathlib
from PySide6.QtCore import qWarning
from gpuviz.qt.controls.controls import plain_tip
from gpuviz.qt.diagnostics import log
folder = pathlib.Path(sys.argv[1])
assert log.begin(folder)
qWarning("a word from Qt")
for number in range(30000):
    log.LOG.info("line %d %s", number, "x" * 60)
import faulthandler; faulthandler._sigsegv()
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "new")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0 and "a word from Qt" in done.stderr
    files = sorted((tmp_path / "new").glob("gpuviz.log*"))
    assert len(files) == 3
    assert all(file.stat().st_size <= 512 * 1024 for file in files)
    assert log.last_lines(tmp_path / "new", 2)[1].endswith("line 29999 " + "x" * 60)
    assert "Segmentation fault" in (tmp_path / "new" / log.CRASH).read_text()


def test_without_a_place_to_write_there_is_no_log_and_no_trouble(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert not log.begin(tmp_path / "file" / "folder")
    assert "no log is kept" in capsys.readouterr().err
    assert log.last_lines(tmp_path / "file") == []


def test_diagnostics_are_copied_without_the_home_folder(
    make: Callable[..., Window], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    (tmp_path / log.NAME).write_text("".join(f"line {n}\n" for n in range(150)))
    window = make(state=tmp_path)
    window.view.set_values({"stride": 9})
    window.actions_["help.diagnostics"].trigger()
    text = QGuiApplication.clipboard().text()
    for words in (
        f"gpuviz {__version__}, Python",
        "Qt 6",
        "numpy",
        "GPU: none",
        "theme system",
        "gpuviz://pairs?stride=9",
        "line 149",
        "line 50\n",
    ):
        assert words in text
    assert "line 49\n" not in text
    assert str(tmp_path) not in text and "log (~)" in text
    assert homeless(f"{tmp_path}/a") == "~/a"
    monkeypatch.setattr(Path, "home", lambda: Path("/"))  # as in many a container
    assert homeless("/usr/lib: 3/4") == "/usr/lib: 3/4"


def test_the_log_folder_is_opened_or_named(
    make: Callable[..., Window], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    window = make(state=tmp_path)
    monkeypatch.setattr(
        QDesktopServices, "openUrl", lambda url: bool(opened.append(url.toLocalFile())) or True
    )
    window.actions_["help.log"].trigger()
    assert opened == [str(tmp_path)] and not window.message.isVisible()
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: False)
    window.actions_["help.log"].trigger()
    assert str(tmp_path) in window.message.text.toPlainText()


def test_the_note_of_a_bad_end_tells_more_when_asked(
    make: Callable[..., Window], tmp_path: Path
) -> None:
    (tmp_path / "window-0.json").write_text("{damaged")
    window = make(state=tmp_path)
    note = window.recovery.notice
    assert note is not None and note.button.isVisible() and not window.message.isVisible()
    assert note.button.accessibleName() == "gpuviz did not end properly last time"
    QTest.mouseClick(note.button, Qt.MouseButton.LeftButton)
    assert str(tmp_path) in window.message.text.toPlainText()
    assert not note.button.isVisible()


def test_what_a_file_says_is_shown_as_it_is(window: Window) -> None:
    bold, red = '<b>x</b><img src="//host/share/a.png">', "\x1b[31m\u202e"
    window.message.say("note", f"{bold}{red}", f"{bold}{red}")
    assert window.message.title.text() == f"{bold}\\x1b[31m\\u202e"
    assert window.message.text.toPlainText() == f"{bold}\\x1b[31m\\u202e"
    assert window.message.title.textFormat() == Qt.TextFormat.PlainText
    window.status.say(f"{bold}{red}")
    assert window.status.running.text() == f"{bold}\\x1b[31m\\u202e"
    assert "<img" not in window.status.running.toolTip()
    assert plain_tip("2 requests") == "2 requests"
    shown = QTextDocument()
    shown.setHtml(plain_tip(f"a  b\n{bold}"))
    assert shown.toPlainText().replace("\u2028", "\n") == f"a  b\n{bold}"
    for label in window.findChildren(QLabel):
        assert label.textFormat() == Qt.TextFormat.PlainText, label.text()
