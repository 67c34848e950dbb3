"""A click on the stage sets what the story says is there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpuviz.draw.stage import Stage
from gpuviz.qt.window.window import Window
from gpuviz.story.lesson import Pick, Values
from gpuviz.story.perform import Performance
from tests.qt.fake_lesson import FakePerform

LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton
TOP, LOW = 60, 220  # below the band of names in a comparison, and where nothing is


def top_half(t: float, stage: Stage, x: float, y: float) -> Values | None:
    """The upper part of a picture sets a stride of 7, later one of 9."""
    return {"stride": 7 if t < 2 else 9} if 0 <= y < 150 else None


def broken(t: float, stage: Stage, x: float, y: float) -> Values | None:
    raise ZeroDivisionError("nothing there")


class Picked(FakePerform):
    """Performs stories in which something can be clicked."""

    pick: Pick = staticmethod(top_half)

    def __call__(self, *lesson: object, **values: object) -> Performance:
        made = super().__call__(*lesson, **values)  # type: ignore[arg-type]
        return replace(made, story=replace(made.story, pick=self.pick))


@pytest.fixture
def perform() -> FakePerform:
    return Picked()


def click(window: Window, x: float, y: int, button: Qt.MouseButton = LEFT) -> None:
    QTest.mouseClick(window.stage, button, pos=QPoint(round(window.stage.width() * x), y))


def test_a_click_sets_values_and_begins_anew(window: Window, qtbot: QtBot) -> None:
    window.player.seek(3.0)
    click(window, 0.8, TOP)
    assert window.view.now.values["stride"] == 9 and window.player.t == 0.0
    story = window.player.story
    qtbot.waitUntil(lambda: window.player.story is not story)
    assert window.player.t == 0.0
    click(window, 0.2, TOP)
    assert window.view.now.values["stride"] == 7


def test_a_click_beside_it_or_with_another_button_does_nothing(window: Window) -> None:
    window.player.seek(3.0)
    click(window, 0.5, LOW)
    click(window, 0.5, TOP, RIGHT)
    assert window.view.now.values["stride"] == 2 and window.player.t == 3.0


@pytest.mark.parametrize(("x", "strides"), [(0.2, (7, 1)), (0.8, (2, 7))])
def test_the_side_that_is_clicked_is_set(
    window: Window, qtbot: QtBot, x: float, strides: tuple[int, int]
) -> None:
    window.actions_["compare.toggle"].trigger()
    qtbot.waitUntil(lambda: window.director.showing.compared)  # type: ignore[union-attr]
    click(window, x, TOP)
    assert (window.view.now.values["stride"], window.view.now.compare_values["stride"]) == strides


def test_a_hand_is_shown_where_a_click_does_something(window: Window, qtbot: QtBot) -> None:
    QTest.mouseMove(window.stage, QPoint(200, TOP))
    hand = Qt.CursorShape.PointingHandCursor
    qtbot.waitUntil(lambda: window.stage.cursor().shape() == hand)
    QTest.mouseMove(window.stage, QPoint(200, LOW))
    qtbot.waitUntil(lambda: window.stage.cursor().shape() != hand)


def test_a_pick_that_fails_is_told(make: Callable[[], Window], perform: Picked) -> None:
    perform.pick = broken
    window = make()
    click(window, 0.5, TOP)
    assert window.message.isVisible()
    assert "nothing there" in window.message.text.toPlainText()
