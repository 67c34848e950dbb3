"""Clicks lead somewhere: counts to lines, lines to moments, lanes and words on the stage."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from gpuviz.course import lesson
from gpuviz.draw.hit import following, lane_at
from gpuviz.draw.marks import Boxes, Frame
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.memory.counts import Count
from gpuviz.qt.window.window import Window
from gpuviz.results.quantities import dearest_line
from gpuviz.words.glossary import words_in
from tests.course.performed import performed
from tests.qt.fake_lesson import FakePerform

LEFT = Qt.MouseButton.LeftButton


def click_row(window: Window, label: str) -> None:
    rows = [row.label for row in window.counts.model.sheet.rows]
    cell = window.counts.model.index(rows.index(label), 1)
    window.counts.table.clicked.emit(cell)


def test_a_count_leads_to_its_line_and_its_moment(window: Window) -> None:
    window.source.tabs.setCurrentIndex(0)
    click_row(window, "store sectors")
    assert window.player.t == 4.0 and window.source.views[0].lit == {3}
    click_row(window, "load sectors")
    assert window.player.t == 0.0  # after the last step about it, the first
    click_row(window, "load sectors")
    assert window.player.t == 1.0


def test_the_dearest_line_is_that_of_the_counts_instruction() -> None:
    run = performed(lesson("coalescing"), {"stride": 2}).runs["copy"]
    lines = run.trace.source.splitlines()
    load, store = (dearest_line(run, f"global_{op}_bytes") for op in ("load", "store"))
    assert "in[" in lines[load - 1] and "out[" in lines[store - 1]
    assert dearest_line(run, Count.L2_LOAD_SECTORS_LEAST) == load
    assert dearest_line(run, Count.SHARED_LOAD_REQUESTS) == 0
    assert dearest_line(run, "no such count") == 0


def test_a_line_of_the_source_leads_to_its_request(window: Window) -> None:
    window.player.seek(0.5)
    cuda = window.source.views[0]
    (rect,) = (rect for line, rect in cuda.visible_lines() if line == 3)
    QTest.mouseClick(cuda.viewport(), LEFT, pos=rect.center().toPoint())
    assert window.player.t == 1.0  # the next step about it
    (rect,) = (rect for line, rect in cuda.visible_lines() if line == 1)
    QTest.mouseClick(cuda.viewport(), LEFT, pos=rect.center().toPoint())
    assert window.player.t == 1.0  # nothing happens there


def coalesced(lane: int | None = None) -> tuple[Frame, Frame]:
    story = performed(lesson("coalescing"), {"stride": 2}).story
    frame = story.frame(story.duration, Stage(760, 480, DARK))
    return frame, following(frame, 5)


def test_a_lane_is_followed_through_the_picture() -> None:
    frame, followed = coalesced()
    before, after = (
        [m for m in one.marks if isinstance(m, Boxes) and m.lanes is not None and 5 in m.lanes]
        for one in (frame, followed)
    )
    assert len(before) >= 2  # its box among the lanes, its words among the addresses
    for old, new in zip(before, after, strict=True):
        assert old.lanes is not None and old.fill is not None and new.fill is not None
        mine = old.lanes == 5
        faded = new.fill[:, 3] < np.broadcast_to(old.fill, new.fill.shape)[:, 3]
        assert not faded[mine].any() and faded[~mine].all()
        x, y, wide, high = old.rect[mine][0].tolist()
        assert lane_at(frame, x + wide / 2, y + high / 2) == 5
    assert lane_at(frame, 1, 1) is None


def test_a_click_follows_a_lane_and_another_lets_go(
    make: Callable[[], Window], perform: FakePerform
) -> None:
    window = make()
    stage = window.stage
    stage.grab()
    assert stage.frame is not None
    boxes = stage.frame.marks[1]
    assert isinstance(boxes, Boxes)
    object.__setattr__(boxes, "lanes", np.arange(32))
    x, y, wide, high = boxes.rect[7].tolist()
    at = QPoint(round(x + wide / 2), round(y + high / 2))
    QTest.mouseClick(stage, LEFT, pos=at)
    assert stage.lane == 7
    QTest.mouseClick(stage, LEFT, pos=at)
    assert stage.lane is None


def test_words_of_the_field_explain_themselves(window: Window) -> None:
    stage = window.stage
    stage.grab()
    at = next(
        QPoint(x, 32) for x in range(20, 400) if stage.tip(x, 32).startswith("warp:")
    )  # “One warp reads …”
    QToolTip.hideText()
    QTest.mouseClick(stage, LEFT, pos=at)
    assert QToolTip.text().startswith("warp:") or "warp:" in QToolTip.text()
    QToolTip.hideText()
    QApplication.processEvents()


def test_plurals_are_words_too_and_parts_of_words_are_none() -> None:
    found = [one.id for _, _, one in words_in("Lanes of two warps: 4 sectors, one subsector")]
    assert found == ["lane", "warp", "sector"]


def test_values_that_make_no_picture_veil_it_and_say_why(window: Window, qtbot: QtBot) -> None:
    stage, plain = window.stage, window.stage.grab().toImage()
    window.view.set_values({"stride": 9, "element": "double"})
    veiled = stage.grab().toImage()
    assert veiled != plain
    window.view.set_values({"stride": 2, "element": "float"})
    qtbot.waitUntil(lambda: not window.director.performer.busy)
    assert stage.grab().toImage() == plain


def test_another_lessons_picture_is_veiled_at_once(window: Window, perform: FakePerform) -> None:
    plain = window.stage.grab().toImage()
    perform.slow = lambda values: True
    window.actions_["open.strides"].trigger()
    assert window.stage.grab().toImage() != plain
