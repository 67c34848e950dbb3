"""The window answers while it works, and what holds it up is found."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.vitals import Heartbeat

posix = pytest.mark.skipif(sys.platform == "win32", reason="the watcher looks by a signal")


def hold(seconds: float) -> None:
    """Compute in the GUI thread."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


@posix
def test_what_holds_the_event_loop_is_found_with_its_place(qtbot: QtBot) -> None:
    heart = Heartbeat(places=True, late=0.03)
    heart.start()
    qtbot.wait(30)
    hold(0.08)
    qtbot.wait(30)
    heart.stop()
    longest = max(heart.when, key=lambda one: one.work)
    assert longest.seconds >= 0.06
    assert longest.work >= 0.08
    assert "test_pauses.py" in longest.place
    assert " hold" in longest.place


@posix
def test_what_it_waits_for_is_not_its_own_work(qtbot: QtBot) -> None:
    heart = Heartbeat(places=True, late=0.03)
    heart.start()
    qtbot.wait(30)
    threading.Event().wait(0.1)
    qtbot.wait(30)
    heart.stop()
    longest = max(heart.when, key=lambda one: one.seconds)
    assert longest.seconds >= 0.08
    assert longest.work < 0.05


@posix
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_five_lessons_are_opened_and_a_slider_dragged_without_a_long_event() -> None:
    """Of what the GUI thread computes itself, as machines that test do other things."""
    lessons = ("coalescing", "banks", "transpose", "hierarchy", "divergence")
    asked = ("--lesson", *lessons, "--most", "1000", "--own", "--only", "open", "drag")
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.pauses", *asked],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ticks" in done.stdout


def test_long_ptx_is_read_before_the_window_shows_it() -> None:
    from gpuviz import app
    from gpuviz.course import COURSE
    from gpuviz.qt.code.source import TABS
    from gpuviz.results import code_text, highlighting

    lesson = next(one for one in COURSE if one.id == "coalescing").open()
    kept = code_text.ptx_lines, highlighting.spans
    for one in kept:
        one.cache_clear()
    how = {"arch": "sm_90", "level": "ptx", "prebuilt": True}
    made = app._perform(lesson, lesson.defaults(), **how)
    read = [one.cache_info().misses for one in kept]
    for run in made.runs.values():
        highlighting.spans(code_text.ptx(run).text, TABS[1][1])
        highlighting.spans(code_text.cuda(run).text, TABS[0][1])
    assert all(read)
    assert [one.cache_info().misses for one in kept] == read


def test_of_long_code_only_lines_in_view_are_coloured(qtbot: QtBot) -> None:
    from gpuviz.qt.code.code_view import LONG, CodeView
    from gpuviz.qt.look.theme import Theme

    view = CodeView("PTX", "ptx", Theme())
    qtbot.addWidget(view)
    view.resize(600, 300)
    view.show()
    view.show_code("\n".join(["mov.u32 %r1, %tid.x;"] * 10 * LONG), {})
    qtbot.wait(50)

    def coloured() -> set[int]:
        blocks = map(view.document().findBlockByNumber, range(view.blockCount()))
        return {block.blockNumber() for block in blocks if block.layout().formats()}

    first = coloured()
    assert 0 in first
    assert len(first) < LONG
    view.verticalScrollBar().setValue(5 * LONG)
    qtbot.waitUntil(lambda: 5 * LONG in coloured())
    assert len(coloured()) < 2 * LONG


def test_cells_of_the_counts_are_not_measured_again_when_the_table_is_resized(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    from PySide6.QtCore import QSize

    from gpuviz.qt.counts import counts_table
    from gpuviz.qt.counts.counts_model import CountsModel
    from gpuviz.qt.look.theme import Theme
    from gpuviz.results.count_columns import Column, Sheet
    from gpuviz.results.quantities import Row

    asked: list[int] = []
    model = CountsModel()
    table = counts_table.CountsTable(model, Theme())
    qtbot.addWidget(table)

    def size_hint(self: object, option: object, index: object) -> QSize:
        asked.append(1)
        return QSize(9, 9)

    monkeypatch.setattr(counts_table._Cell, "sizeHint", size_hint)
    columns = Column("name", "quantity"), Column("predicted", "predicted")
    model.show(Sheet((Row("loads", values=(1,)),), columns, ("a",)))
    table.fit()
    table.show()
    assert asked
    asked.clear()
    table.resize(500, table.height())
    qtbot.wait(20)
    assert not asked
