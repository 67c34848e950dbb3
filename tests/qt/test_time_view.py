"""Where the time goes, in the window: found out beside it, enlarged, clicked, saved."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpuviz.base.errors import Cancelled, UnavailableError
from gpuviz.qt.code.source import FURTHER, TABS, TIME
from gpuviz.qt.look.theme import Theme
from gpuviz.qt.timing import time_view
from gpuviz.qt.timing.time_view import TimeView, written
from gpuviz.qt.timing.time_work import name_of
from gpuviz.qt.window.window import Window
from gpuviz.results.time_rows import WAITS
from gpuviz.story.exhibit import Variant
from gpuviz.story.lesson import Plan
from gpuviz.timing.explanation import Explanation
from gpuviz.timing.warp_states import State
from gpuviz.views.lesson_view import Subject, Wish
from tests.timing.launches import known, made

pytestmark = pytest.mark.machine_code
SHOWING = SimpleNamespace(sizes={"copy": "1,024 blocks"})


@cache
def subject() -> Subject:
    """A launch that was explained; nothing is simulated for it twice."""
    from gpuviz.timing.explanation import limits

    prediction, timeline = made("copy1_2e18")
    e = Explanation(prediction, limits(prediction), (), timeline)
    return Subject(e, "copy1", known("copy1_2e18").trace.source, "sm_90")


class Explain:
    """In place of the emulator: ends when it is let, or asked to stop."""

    def __init__(self) -> None:
        self.go, self.began, self.fails = threading.Event(), 0, None

    def __call__(self, variant, plan, progress, cancel):  # type: ignore[no-untyped-def]
        """What was found out."""
        self.began += 1
        progress(0.5)
        while not self.go.wait(0.005):
            if cancel():
                raise Cancelled("stopped")
        if self.fails is not None:
            raise self.fails
        return subject()


@pytest.fixture
def explain() -> Explain:
    subject()  # takes seconds, which nobody here waits for
    return Explain()


@pytest.fixture
def view(qtbot: QtBot, explain: Explain, monkeypatch: pytest.MonkeyPatch) -> TimeView:
    plan = Plan("copy", "/k.cu", "copy", (8, 1, 1), (32, 1, 1), ())
    wish = Wish("copy", Variant(None, {}, "sm_90", "sass"), plan)  # type: ignore[arg-type]
    monkeypatch.setattr(time_view, "wish_of", lambda showing, role: wish)
    shown = TimeView(Theme())
    qtbot.addWidget(shown)
    shown.work.explain = explain
    shown.resize(1000, 460)
    with qtbot.waitExposed(shown):
        shown.show()
    return shown


@pytest.fixture
def told(view: TimeView, explain: Explain, qtbot: QtBot) -> TimeView:
    """With a launch explained."""
    explain.go.set()
    view.show_run(SHOWING, "copy")  # type: ignore[arg-type]
    qtbot.waitUntil(lambda: view.pane.subject is not None)
    canvas = view.pane.canvas  # until it is laid out, points in it are elsewhere
    qtbot.waitUntil(lambda: canvas.isVisible() and canvas.width() > view.width() / 2)
    return view


def test_it_is_found_out_beside_the_window_and_can_be_stopped(
    view: TimeView, explain: Explain, qtbot: QtBot
) -> None:
    view.show_run(SHOWING, "copy")  # type: ignore[arg-type]
    qtbot.waitUntil(lambda: "50" in view.reason.text())
    assert view.stop.isVisible() and not view.pane.isVisible()
    view.stop.click()
    qtbot.waitUntil(lambda: view.again.isVisible())
    assert view.reason.text() == "stopped" and not view.stop.isVisible()
    explain.go.set()
    view.again.click()
    qtbot.waitUntil(lambda: view.pane.isVisible())
    assert view.said.said.startswith("Limited by latency") and "errs by 3.1 %" in view.said.said
    assert view.launch_size.text() == "1,024 blocks" and view.badge.text() == "model"
    view.show_run(SHOWING, "copy")  # type: ignore[arg-type]
    assert explain.began == 2 and view.pane.isVisible()  # known by now


def test_why_nothing_is_shown_is_said(view: TimeView, explain: Explain, qtbot: QtBot) -> None:
    explain.fails = UnavailableError("no time is modelled for sm_80")  # type: ignore[assignment]
    explain.go.set()
    view.show_run(SHOWING, "copy")  # type: ignore[arg-type]
    qtbot.waitUntil(lambda: view.reason.text() == "no time is modelled for sm_80")
    assert not view.again.isVisible() and not view.save.isVisible()


def test_which_blocks_a_picture_looks_at_changes_nothing() -> None:
    plan = Plan("copy", "/k.cu", "copy", (8, 1, 1), (32, 1, 1), ())
    other = Plan("copy", "/k.cu", "copy", (8, 1, 1), (32, 1, 1), (), record=(3,), path=True)
    larger = Plan("copy", "/k.cu", "copy", (9, 1, 1), (32, 1, 1), ())
    variant = Variant(None, {}, "sm_90", "sass")  # type: ignore[arg-type]
    names = [name_of(Wish("k", variant, one)) for one in (plan, other, larger)]
    assert names[0] == names[1] != names[2]


def test_the_wheel_enlarges_what_is_pointed_at_and_dragging_moves(
    told: TimeView, qtbot: QtBot
) -> None:
    canvas = told.pane.canvas
    whole = canvas.panel
    assert whole is not None and (whole.begin, whole.end) == (0.0, whole.record.cycles)
    at = QPointF(300, 60)
    turned = QWheelEvent(
        at,
        canvas.mapToGlobal(at),
        QPoint(),
        QPoint(0, 120 * 6),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(canvas, turned)
    near = canvas.panel
    assert near is not None and near.end - near.begin == pytest.approx(
        whole.record.cycles / 1.25**6
    )
    qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=QPoint(300, 60))
    qtbot.mouseMove(canvas, QPoint(270, 60))
    qtbot.mouseMove(canvas, QPoint(250, 60))
    qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=QPoint(250, 60))
    assert canvas.panel is not None and canvas.panel.begin > near.begin
    for key, wider in ((Qt.Key.Key_Minus, True), (Qt.Key.Key_Plus, False)):
        before = canvas.panel.end - canvas.panel.begin
        qtbot.keyClick(canvas, key)
        assert ((canvas.panel.end - canvas.panel.begin) > before) == wider
    qtbot.keyClick(canvas, Qt.Key.Key_0)
    assert (canvas.panel.begin, canvas.panel.end) == (0.0, whole.record.cycles)
    canvas.grab()
    assert "waits for memory" in " ".join(canvas.tip(x, 60) for x in range(100, 500, 10))


def test_a_click_goes_to_the_line_and_the_request(told: TimeView, qtbot: QtBot) -> None:
    canvas, record = told.pane.canvas, subject().explained.timeline
    assert canvas.panel is not None
    canvas.grab()
    row = next(
        row
        for row in range(len(record.spans.state))
        if record.spans.state[row] == State.MEMORY and record.spans.place[row] == 0
    )
    share = (record.spans.start[row] + record.spans.end[row]) / 2 / record.cycles
    left = next(
        x
        for x in range(canvas.width())
        if canvas._fitted().cycle_at(canvas.stage(), canvas._area(), x) >= 0
    )
    wide = canvas._fitted().across(canvas.stage(), canvas._area())
    asked: list[object] = []
    told.asked.connect(lambda *what: asked.append(what))
    with qtbot.waitSignal(told.pointed) as pointed:
        at = QPoint(round(left + share * wide), 8)
        qtbot.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=at)
    assert pointed.args == ["copy", 1]
    block = int(record.blocks[0])
    assert asked == [(block, 0, "line 1 turn 1 | line 1")]


def test_what_is_shown_can_be_saved_and_looked_at_large(
    told: TimeView, tmp_path: Path, qtbot: QtBot
) -> None:
    shown = told.pane.subject
    assert shown is not None
    for name in ("t.svg", "t.png"):
        written(shown, tmp_path / name, "dark", (100.0, 300.0))
        assert (tmp_path / name).stat().st_size > 2000
    written(shown, tmp_path / "t.trace.json", "dark", (0.0, 0.0))
    assert json.loads((tmp_path / "t.trace.json").read_text())["traceEvents"]
    told.large.click()
    assert told.window_ is not None and told.window_.isVisible()
    assert "copy1" in told.window_.windowTitle()


def test_a_question_keeps_it_back(told: TimeView) -> None:
    told.hush(True)
    assert not told.pane.isVisible() and not told.said.isVisible()
    told.hush(False)
    assert told.pane.isVisible() and told.said.isVisible()


def test_its_tab_is_where_keys_and_links_have_it(make: Callable) -> None:  # type: ignore[type-arg]
    assert [*TABS, *FURTHER][TIME][0] == "time"
    window = make()
    window.source.tabs.setCurrentIndex(TIME)
    assert window.source.stack.currentWidget() is window.source.time
    assert window.source.time.focus is window.source.view()


def test_a_key_leads_to_it_and_panels_are_told(
    make: Callable,  # type: ignore[type-arg]
) -> None:
    window = make()
    window.actions_["pane.time"].trigger()
    assert window.source.tabs.currentIndex() == TIME
    key = next(iter(window.director.showing.runs))
    window.source.time.told.emit(key, subject())
    labels = [row.label for row in window.counts.model.sheet.rows]
    assert "Time and caches" in labels and "duration, ns" in labels
    note = window.timing.note.text()
    assert re.search(
        r"modelled: 3\.2\d\u202fµs, \d\.\d+ to \d\.\d+; 2\.20\u202fµs of it for the launch", note
    )


def test_waits_are_folded_by_a_click_on_their_heading(window: Window, qtbot: QtBot) -> None:
    counts, role = window.counts, next(iter(window.director.showing.runs))  # type: ignore[union-attr]
    counts.show_explained(role, subject())
    assert "global memory\t" in counts.text()
    heading = next(n for n, row in enumerate(counts.model.sheet.rows) if row.key == "waits")
    rows, tall = counts.model.rowCount(), counts.table.height()
    for sign, fewer in (("▸", len(WAITS)), ("▾", 0)):
        at = counts.table.visualRect(counts.model.index(heading, 0)).center()
        qtbot.mouseClick(counts.table.viewport(), Qt.MouseButton.LeftButton, pos=at)
        assert f"{sign} Waiting, cycles an instruction" in counts.text()
        assert counts.model.rowCount() == rows - fewer
        assert (counts.table.height() < tall) == bool(fewer)


def test_a_long_launch_is_walked_through_stretch_by_stretch(
    view: TimeView, explain: Explain, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gpuviz.timing import explanation as module
    from gpuviz.timing import timeline
    from gpuviz.timing.timeline import timeline_of

    whole = subject()
    few = len(whole.explained.timeline.events) // 3
    cut = partial(timeline_of, most=few)
    monkeypatch.setattr(module, "timeline_of", cut)
    monkeypatch.setattr(timeline, "_LEAD", 0.0)  # of a million instructions it takes few
    short = replace(whole.explained, timeline=cut(whole.explained.prediction))
    monkeypatch.setitem(globals(), "subject", lambda: replace(whole, explained=short))
    explain.go.set()
    view.show_run(SHOWING, "copy")  # type: ignore[arg-type]
    qtbot.waitUntil(lambda: view.stretches.isVisible())
    assert not view.stretches.earlier.isEnabled() and view.stretches.later.isEnabled()
    end = short.timeline.recorded
    view.stretches.later.click()
    assert "simulating once more" in view.said.said and view.pane.isVisible()
    qtbot.waitUntil(lambda: view.pane.subject.explained.timeline.since == end)  # type: ignore[union-attr]
    shown = view.pane.canvas.panel
    assert shown is not None and shown.begin == end and len(shown.record.events) == few
    assert view.said.said.startswith("Limited by latency"), "what limits is of all of it"
    while view.stretches.earlier.isEnabled():
        before = view.pane.subject
        view.stretches.earlier.click()
        qtbot.waitUntil(lambda shown=before: view.pane.subject is not shown)  # type: ignore[misc]
    assert view.pane.subject.explained.timeline.since == 0  # type: ignore[union-attr]


def test_a_launch_shown_whole_has_no_other_stretches(told: TimeView) -> None:
    assert not told.stretches.isVisible()
