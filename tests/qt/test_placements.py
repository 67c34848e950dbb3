"""Where blocks ran: rows, waves and the tail of measured places; the tab that shows them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpuviz.draw.marks import Boxes, Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.gpu.client import Gpu
from gpuviz.gpu.placement import PLACED_BLOCKS
from gpuviz.qt.code.source import SMS as TAB
from gpuviz.qt.window.window import Window
from gpuviz.recordings.measurement import Measurement, Placement
from gpuviz.results.placements import Chart, between, chart_of, height_of, picture, summary, ticks
from gpuviz.story.sources import Sources
from gpuviz.traces.trace import Launch
from tests.qt import fake_gpu
from tests.qt.fake_lesson import FakePerform, job_of


def placement(*rows: tuple[int, int, int, int]) -> Placement:
    block, sm, start, end = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    return Placement(block, sm, start, end)


# Two at once on multiprocessor 7, of which one is followed by a third; one alone on 2.
FEW = placement((0, 7, 0, 400), (1, 7, 0, 300), (2, 7, 300, 800), (3, 2, 32, 600))


def test_blocks_that_overlap_get_rows_of_their_own() -> None:
    chart = chart_of(FEW)
    assert chart.owners.tolist() == [2, 7, 7]
    rows = dict(zip(chart.block.tolist(), chart.row.tolist(), strict=True))
    assert rows == {0: 1, 1: 2, 2: 2, 3: 0}
    turns = dict(zip(chart.block.tolist(), chart.turn.tolist(), strict=True))
    assert turns == {0: 0, 1: 0, 2: 1, 3: 0}
    assert (chart.at_once, chart.longest, chart.end_ns) == (2, 2, 800)
    assert chart.tail == pytest.approx(0.25)


def test_no_row_holds_two_blocks_at_once() -> None:
    random = np.random.default_rng(3)
    start = random.integers(0, 5000, 600)
    chart = chart_of(
        Placement(
            np.arange(600), random.integers(0, 9, 600), start, start + random.integers(1, 400, 600)
        )
    )
    for row in range(len(chart.owners)):
        mine = chart.row == row
        assert set(chart.sm[mine]) == {chart.owners[row]}
        order = np.argsort(chart.start_ns[mine], kind="stable")
        assert (chart.stop_ns[mine][order][:-1] <= chart.start_ns[mine][order][1:]).all()


def boxes_of(chart: Chart, height: float) -> Boxes:
    frame = picture(chart, Launch("k", (2, 2, 1), (32, 1, 1)), Stage(600.0, height, DARK))
    return next(mark for mark in frame.marks if isinstance(mark, Boxes))


def test_bars_lie_by_time_and_say_what_they_are() -> None:
    chart = chart_of(FEW)
    boxes = boxes_of(chart, 60.0)
    last, first = chart.block.tolist().index(2), chart.block.tolist().index(1)
    left, _, width, height = boxes.rect[last]
    assert width / boxes.rect[first][2] == pytest.approx(5 / 3, rel=0.02)
    assert left + width <= 600 and height > 0
    assert boxes.tip is not None
    assert boxes.tip(last) == (
        "block (0, 1, 0) on multiprocessor 7\nfrom 300 to 800 ns: 0.500\u202fµs\n"
        "number 2 of those in its row"
    )


def test_rows_shrink_and_then_scroll() -> None:
    chart = chart_of(FEW)
    assert height_of(chart, 45.0, 1.0) == 45.0
    assert height_of(chart, 900.0, 1.0) == 60.0
    assert height_of(chart, 3.0, 1.0) == 6.0
    assert (boxes_of(chart, 6.0).rect[:, 3] > 0.5).all()


def test_a_launch_shorter_than_a_tick_is_a_chart_too() -> None:
    chart = chart_of(placement((0, 0, 0, 0)))
    assert (boxes_of(chart, 20.0).rect[:, 2] > 0).all()
    assert chart.tail == 0.0


def test_what_is_scrolled_to_is_painted_and_nothing_else() -> None:
    chart = chart_of(FEW)
    frame = picture(chart, Launch("k", (2, 2, 1), (32, 1, 1)), Stage(600.0, 60.0, DARK))
    first = between(frame, 0.0, 20.0)
    boxes = next(mark for mark in first.marks if isinstance(mark, Boxes))
    assert len(boxes.rect) == (chart.row == 0).sum() == 1
    assert boxes.fill is not None and len(boxes.fill) == 1
    words = [word for mark in first.marks if isinstance(mark, Texts) for word in mark.strings]
    assert "SM 2" in words and "3" in words and "0" not in words


def test_as_many_blocks_as_are_placed_make_a_picture_at_once() -> None:
    number = np.arange(PLACED_BLOCKS)
    start = 100 * (number // 132)
    chart = chart_of(Placement(number, number % 132, start, start + 350))
    assert (chart.at_once, len(chart.owners)) == (4, 4 * 132)
    began = time.perf_counter()
    boxes = boxes_of(chart, 2 * len(chart.owners))
    assert time.perf_counter() - began < 1.0, "boxes were made one by one"
    assert len(boxes.rect) == PLACED_BLOCKS


def test_more_blocks_at_once_than_fit_are_explained() -> None:
    said = summary(chart_of(FEW), replace(measurement(FEW), resident_blocks=1))
    assert "1 whole ones fit: of some, warps had ended" in said
    said = summary(chart_of(FEW), replace(measurement(FEW), resident_blocks=2))
    assert "whole ones fit" not in said


def test_times_on_the_axis_are_round() -> None:
    assert ticks(960.0, 5) == [0, 200, 400, 600, 800]
    assert ticks(16_640.0, 8) == [0, 5000, 10_000, 15_000]
    assert all(len(ticks(float(end), 6)) <= 7 for end in (1, 7, 31, 512, 10**6))


@pytest.fixture
def live(make: Callable[..., Window], perform: FakePerform, qtbot: QtBot) -> Window:
    perform.planned = True

    def gpu(device: int) -> Gpu:
        return Gpu(device, arguments=fake_gpu.arguments())

    window = make(Sources(gpu, job_of))
    window.source.tabs.setCurrentIndex(TAB)
    qtbot.waitUntil(
        lambda: window.meter.state.device is not None and window.meter.state.activity == "idle",
        timeout=20_000,
    )
    return window


def test_a_run_shows_where_its_blocks_ran(live: Window, qtbot: QtBot) -> None:
    places = live.source.places
    assert places.badge.text() == "unavailable"
    assert "not measured yet" in places.reason.text()
    QTest.keyClick(live.stage, Qt.Key.Key_F9)
    qtbot.waitUntil(lambda: places.badge.text() == "live", timeout=20_000)
    said = places.canvas.accessibleDescription()
    assert "64 blocks on 16 of 132 multiprocessors · up to 2 at once on each · up to 2 one" in said
    frame = places.canvas.frame
    assert frame is not None and not places.reason.isVisible()
    boxes = next(mark for mark in frame.marks if isinstance(mark, Boxes))
    x, y, width, height = boxes.rect[0].tolist()
    at = QPoint(round(x + width / 2), round(y + height / 2))
    assert places.canvas.tip(at.x(), at.y()).startswith("block (0, 0, 0) on multiprocessor 0")
    assert summary(chart_of(FEW), measurement(FEW)).startswith("4 blocks on 2 of 132")


def measurement(found: Placement | None, *notes: str) -> Measurement:
    return Measurement("live", "2026-11-20", fake_gpu.facts(0), placement=found, notes=notes)


def test_what_keeps_blocks_from_being_placed_is_said(live: Window) -> None:
    places, key = live.source.places, live.source._role
    live.meter.placed.emit(key, measurement(FEW))
    assert places.badge.text() == "live"
    live.meter.placed.emit(key, measurement(None, "9,000 blocks are too many"))
    assert (places.badge.text(), places.reason.text()) == (
        "unavailable",
        "9,000 blocks are too many",
    )
    live.meter.placed.emit(key, measurement(replace(FEW, block=FEW.block)))
    live.director.forgotten.emit()
    live.source.clear()
    assert places.badge.isHidden() and places.canvas.frame is None


def test_the_tab_is_reached_by_key(window: Window) -> None:
    window.source.tabs.setCurrentIndex(TAB)
    QTest.keyClick(window, Qt.Key.Key_4, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.focusWidget() is window.source.places.canvas
    QTest.keyClick(window.stage, Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)
    assert window.source.tabs.currentIndex() == TAB + 1
