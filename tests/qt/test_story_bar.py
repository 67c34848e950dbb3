"""Long stories in the window: the time line's strip and page, and what is looked for in them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpuviz.base.errors import InputError
from gpuviz.qt.playing import long_strip
from gpuviz.qt.window.window import Window
from gpuviz.story.lesson import Search, Story
from gpuviz.story.script import KINDS, LongSteps, Step

COUNT = 5000


def long_story(story: Story) -> Story:
    """The same picture over many steps, each second one a store."""
    edges = np.arange(COUNT + 1.0)
    kinds = np.where(np.arange(COUNT) % 2, KINDS.index("store"), KINDS.index("load"))

    def make(i: int) -> Step:
        return Step(i, i + 1, KINDS[kinds[i]], f"step {i}", "", i + 1, "")

    def find(text: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        if not text.isdigit():
            raise InputError(f"{text} is no line")
        return np.arange(int(text), COUNT, 1000.0)

    lines = np.arange(1, COUNT + 1, dtype=np.int32)
    what = np.full(COUNT, -1, np.int32)
    steps = LongSteps(edges, edges[:-1] + 0.9, kinds.astype(np.int8), lines, make, (), what)
    frame = story.frame
    return replace(
        story, steps=steps, frame=lambda t, s: frame(0.0, s), search=Search("lines", find)
    )


def test_a_long_story_is_a_strip_and_a_page(window: Window) -> None:
    assert window.player.story is not None
    window.player.tell(long_story(window.player.story))
    line = window.timeline
    window.player.seek(2500.5)
    assert len(line.rects()) == long_strip.PAGE
    top, low = long_strip.parts(line._whole())
    middle = line.width() / 2
    QTest.mouseClick(line, Qt.MouseButton.LeftButton, pos=low.center().toPoint())
    page = long_strip.page_of(window.player.story.steps, 2500)
    assert page[0] <= window.player.t <= page[-1] + 1
    QTest.mouseClick(line, Qt.MouseButton.LeftButton, pos=top.center().toPoint())
    assert abs(window.player.t - line.t_of(middle)) < COUNT / line.width()
    window.player.step(True)
    assert window.player.t % 1 == np.float64(2500.9) % 1
    assert line.grab().width() == line.width()


def test_moments_are_looked_for_and_gone_to(window: Window, qtbot: QtBot) -> None:
    finder, player = window.panes.bar.finder, window.player
    assert finder.isHidden()
    assert player.story is not None
    player.tell(long_story(player.story))
    assert not finder.isHidden()
    window.actions_["find.open"].trigger()
    QTest.keyClicks(finder.line, "700")
    QTest.keyClick(finder.line, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: player.t == 700.0)
    assert finder.count.text() == "1 of 5"
    window.actions_["find.next"].trigger()
    assert player.t == 1700.0
    for _ in range(2):
        window.actions_["find.back"].trigger()
    assert player.t == 4700.0
    finder.line.setText("x")
    finder.go(True)
    finder._look()
    qtbot.waitUntil(lambda: finder.count.text() == "?")
    assert "x is no line" in finder.count.toolTip()
    finder.line.clear()
    assert not len(finder.moments)


def test_a_line_of_the_source_is_gone_to_without_making_all_steps(window: Window) -> None:
    assert window.player.story is not None
    window.player.tell(long_story(window.player.story))
    window.panes.source.point_at("", 1234)
    assert window.player.t == 1233.9
    window.panes.source.point_at("", 99999)
    assert window.player.t == 1233.9
