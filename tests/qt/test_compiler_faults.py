"""The compiler and the disassembler killed while the user types: what is typed last is shown."""

from __future__ import annotations

import os
import random
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpuviz.compile import nvrtc
from gpuviz.qt.window.window import Window
from tests.qt import test_source_editing as editing
from tests.qt.fake_lesson import FakePerform
from tests.qt.fault_drill import only_threads_wait
from tests.qt.test_own_kernel import Perform
from tests.vitals import Heartbeat, children, vitals

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up"),
    pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed"),
]
KILLS = 40
SOURCE = editing.SOURCE.replace("2 *", "1000 *")
KILLED = (b"gpuviz.compile.worker", b"nvdisasm")


@pytest.fixture
def perform() -> FakePerform:
    return Perform()


def kill() -> int:
    """Kill what compiles and disassembles now; how many there were."""
    found = 0
    for pid in children():
        with suppress(OSError):
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
            if any(name in command for name in KILLED):
                os.kill(pid, signal.SIGKILL)
                found += 1
    return found


@pytest.mark.timeout(600)
def test_forty_kills_while_a_source_is_typed(
    monkeypatch: pytest.MonkeyPatch, make: Callable[..., Window], qtbot: QtBot, tmp_path: Path
) -> None:
    monkeypatch.setattr(editing.source_editing, "unsaved", lambda window, path: "discard")
    file = tmp_path / "scale.cu"
    file.write_text(SOURCE)
    window, kills, moment = make(), 0, random.Random(7)
    with only_threads_wait():
        editor = editing.opened(window, qtbot, file)
        before, heart = vitals(), Heartbeat()
        heart.start()
        for number in range(1000, 1000 + 3 * KILLS):
            if kills >= KILLS:
                break
            editing.choose(editor, f"{number} *")
            QTest.keyClicks(editor, f"{number + 1} *")
            qtbot.wait(moment.randrange(700))
            kills += kill()
        heart.stop()
        editing.choose(editor, f"{number} *")
        QTest.keyClicks(editor, "3 *")
        qtbot.waitUntil(lambda: editing.result(window) == 21, timeout=30_000)
        window.close()  # while nobody is asked what becomes of the text
    after = vitals()
    print(f"{kills} kills, {len(heart.stalls)} late ticks, worst {heart.worst:.2f} s, {after}")
    assert kills >= KILLS and not editor.errors and not window.stage.doubted
    assert after.fds <= before.fds + 6 and after.children <= before.children + 3
    assert after.threads <= before.threads + 4
