"""Pictures of slides beside their names: made in idle time, kept, and moved with them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtGui import QPixmap
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpuviz.lectures.lecture import Slide
from gpuviz.qt.window.window import Window
from tests.qt.fake_lesson import FakePerform

pytestmark = pytest.mark.usefixtures("course")
TEXT = """gpuviz-lecture = 1
title = "Pairs"

[[slide]]
title = "Words"
words = "Look at the pairs."

[[slide]]
lesson = "pairs"
values = { stride = 4 }

[[slide]]
lesson = "nowhere"
"""


@pytest.fixture
def opened(window: Window, tmp_path: Path, qtbot: QtBot) -> Window:
    path = tmp_path / "mine.gpuviz-lecture"
    path.write_text(TEXT)
    window.lecture.saving.ask_unsaved = lambda: "discard"
    window.lecture.open(path)
    qtbot.waitUntil(lambda: all(picture(window, n) is not None for n in (0, 1)), timeout=20_000)
    return window


def slides(window: Window) -> tuple[Slide, ...]:
    assert window.lecture.document.lecture is not None
    return window.lecture.document.lecture.slides


def picture(window: Window, number: int) -> QPixmap | None:
    return window.lecture.thumbnails.picture(slides(window)[number])


def shown(window: Window, number: int) -> QPixmap:
    return window.lecture.pane.list.item(number).icon().pixmap(80, 45)


def test_each_slide_has_its_picture_where_there_is_one(opened: Window) -> None:
    assert not shown(opened, 0).isNull()
    assert shown(opened, 0).toImage() != shown(opened, 1).toImage()
    assert picture(opened, 2) is None


def test_notes_cost_no_new_picture_and_words_do(
    opened: Window, perform: FakePerform, qtbot: QtBot
) -> None:
    before = picture(opened, 1)
    opened.lecture.pane.select(1)
    qtbot.waitUntil(lambda: opened.view.now.values["stride"] == 4)
    qtbot.waitUntil(lambda: not opened.director.performer.busy)
    asked = [values["stride"] for values in perform.asked].count(4)
    opened.lecture.pane.notes.setFocus()
    QTest.keyClicks(opened.lecture.pane.notes, "Say this.")
    assert picture(opened, 1) is before
    qtbot.wait(400)
    assert [values["stride"] for values in perform.asked].count(4) == asked
    opened.lecture.document.change(
        lambda lecture: lecture.change(0, lambda slide: replace(slide, words="Others."))
    )
    assert picture(opened, 0) is None
    qtbot.waitUntil(lambda: picture(opened, 0) is not None, timeout=20_000)


def test_pictures_move_with_their_slides(opened: Window) -> None:
    first, second = shown(opened, 0).toImage(), shown(opened, 1).toImage()
    opened.lecture.pane.select(0)
    opened.lecture.slides._move(1)
    assert [shown(opened, n).toImage() for n in (0, 1)] == [second, first]
