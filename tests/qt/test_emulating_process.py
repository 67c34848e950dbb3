"""The process that emulates for the window: killed again and again, and held to its memory."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from pytestqt.qtbot import QtBot

from gpuviz.course import COURSE, lesson
from gpuviz.processes import calls
from gpuviz.qt.look.fonts import load_fonts
from gpuviz.qt.window.window import Window
from gpuviz.story import perform as performing
from gpuviz.story.perform import perform
from tests.vitals import Heartbeat, children, vitals

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up"),
]
KILLS = 100
PATIENCE = 60_000  # ms


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[Window]:
    load_fonts()
    settings = QSettings(str(tmp_path / "gpuviz.ini"), QSettings.Format.IniFormat)
    settings.setValue("tour", "seen")
    shown = Window(partial(perform, call=calls.call), COURSE, settings)
    shown.show()
    qtbot.waitExposed(shown)
    qtbot.waitUntil(lambda: shown.director.showing is not None, timeout=PATIENCE)
    yield shown
    shown.close()
    shown.deleteLater()
    calls.close()


def rested(window: Window, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not window.director.performer.busy, timeout=PATIENCE)
    qtbot.wait(20)
    qtbot.waitUntil(lambda: not window.director.performer.busy, timeout=PATIENCE)


def kill() -> int:
    """Kill them; how many there were."""
    found = emulating()
    for process in found:
        os.kill(process, signal.SIGKILL)
    return len(found)


def emulating() -> list[int]:
    """The processes that wait for work, or are at it."""
    marks = (Path(f"/proc/{pid}/cmdline") for pid in children())
    return [int(one.parent.name) for one in marks if b"gpuviz.processes.calls" in one.read_bytes()]


def test_a_hundred_kills_in_a_row(
    window: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(performing, "kept", lambda key, made: made())
    window.course.open_any(lesson("banks"))
    rested(window, qtbot)
    told: list[str] = []
    window.director.failed.connect(lambda job, failure: told.append(failure.message))
    heart, before, kills, idle = Heartbeat(), vitals(), 0, 0
    heart.start()
    while kills < KILLS:
        stride = 2 + kills % 7
        at_rest = kills % 10 == 9  # who is killed while it waits is replaced without a word
        seen = len(told)
        if at_rest:
            idle += kill()
        window.view.set_values({"stride": stride})
        if not at_rest:
            qtbot.wait(kills % 23 * 10)  # at any moment of it
            kills += kill()
        kills += at_rest
        rested(window, qtbot)
        if len(told) > seen:
            window.director.again()
            rested(window, qtbot)
        assert window.director.showing is not None
        assert window.director.showing.sides[0].variant.values["stride"] == stride
    heart.stop()
    after = vitals()
    print(
        f"{kills} kills, {idle} at rest, {len(told)} told; {heart.beats} beats, "
        f"{len(heart.stalls)} late, worst {heart.worst:.3f} s, {heart.busiest:.3f} s of work",
        before,
        after,
        sep="\n",
    )
    assert len(told) > KILLS / 4 and all("was lost: it ended by SIGKILL" in one for one in told)
    assert after.rss - before.rss < 60 and after.children <= before.children + 1
    assert heart.busiest < 0.25  # on any machine; docs/reliability.md has figures


HUGE = """extern "C" __global__ void huge(signed char *a, int *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i << 10] = 1;
    b[threadIdx.x] = a[i + 1];
    if (threadIdx.x == 3) b[1 << 29] = 1;
}
"""
SLIDE = """gpuviz-lecture = 1
title = "Huge"

[[slide]]
kernel = { file = "huge.cu", entry = "huge", grid = "%d", block = "32", arguments = "%s" }
values = { goes_on = true }
"""


def resident(what: str) -> int:
    """This process's memory in MiB: ``VmRSS`` now, ``VmHWM`` at most."""
    return int(Path("/proc/self/status").read_text().partition(f"{what}:")[2].split()[0]) >> 10


@pytest.mark.parametrize(
    ("mebibytes", "blocks", "said"),
    [(8, 256, ""), (128, 64, ""), (64, 2048, "more than 1,024 MiB"), (512, 1, "arguments need")],
)
def test_a_lecture_that_wants_all_memory(
    window: Window, qtbot: QtBot, tmp_path: Path, mebibytes: int, blocks: int, said: str
) -> None:
    (tmp_path / "huge.cu").write_text(HUGE)
    arguments = f"i8[{mebibytes << 20}]=zeros i32[64]=zeros"
    file = tmp_path / "huge.gpuviz-lecture"
    file.write_text(SLIDE % (blocks, arguments))
    told: list[str] = []
    window.director.failed.connect(lambda job, failure: told.append(failure.message))
    rested(window, qtbot)
    Path("/proc/self/clear_refs").write_text("5")  # from now on: the most that is resident
    before = resident("VmRSS")
    window.lecture.open(file)

    def shown() -> bool:
        showing = window.director.showing
        return bool(told) or (showing is not None and "kernel" in showing.runs)

    qtbot.waitUntil(shown, timeout=PATIENCE)
    rested(window, qtbot)
    grown = resident("VmHWM") - before
    print(f"{mebibytes} MiB, {blocks} blocks: {before} MiB, {grown} more at most; {told}")
    assert grown < 700  # with a window's own 300: 1 GiB; other tests' memory is in this process too
    assert (said in told[0]) if said else not told
