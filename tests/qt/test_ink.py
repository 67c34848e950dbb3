"""Pen, highlighter, a part enlarged, a picture that stands still: by keys and the mouse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gpuviz.lectures.reading import read
from gpuviz.lectures.writing import in_file
from gpuviz.qt.presenter.presentation import Presentation
from gpuviz.story.perform import perform
from gpuviz.story.sources import Sources
from tests.qt.test_presenter import pixels, press

K = Qt.Key
TEXT = """gpuviz-lecture = 1
title = "Strides"

[[slide]]
title = "First"
words = "A slide of words, long enough to have a few letters."

[[slide]]
title = "Second"
words = "Another slide."
notes = "Ask."
"""
Give = Callable[..., Presentation]


@pytest.fixture
def give(present: Give, tmp_path: Path) -> Give:
    path = tmp_path / "a.gpuviz-lecture"
    path.write_text(TEXT)

    def give(*size: int) -> Presentation:
        return present(Presentation(read(path), perform, Sources(), keep=in_file(path)), *size)

    return give


def drag(widget: QWidget, *points: tuple[float, float]) -> None:
    """From point to point with the button held."""
    places = [QPoint(round(x), round(y)) for x, y in points]
    QTest.mousePress(widget, Qt.MouseButton.LeftButton, pos=places[0])
    for place in places[1:]:
        QTest.mouseMove(widget, place)
    QTest.mouseRelease(widget, Qt.MouseButton.LeftButton, pos=places[-1])


def inked(shown: Presentation, before: np.ndarray) -> np.ndarray:
    """The middle (y, x) of what changed on the screen."""
    changed = np.argwhere((pixels(shown.screen) != before).any(axis=2))
    return np.asarray((changed.min(axis=0) + changed.max(axis=0)) / 2)


def test_ink_belongs_to_its_slide_and_is_there_again(give: Give) -> None:
    shown = give()
    plain = pixels(shown.screen)
    press(shown, K.Key_D)
    drag(shown.screen, (100, 400), (200, 450), (300, 400))
    assert np.abs(inked(shown, plain) - (425, 200)).max() < 3
    first = pixels(shown.screen)
    press(shown, K.Key_T)
    drag(shown.screen, (500, 400), (700, 400))
    both = pixels(shown.screen)
    press(shown, K.Key_Escape, K.Key_Space)
    assert shown.conductor.slide == 1 and shown.board.ink is None
    press(shown, K.Key_PageUp)
    assert (pixels(shown.screen) == both).all()
    press(shown, K.Key_U)
    assert (pixels(shown.screen) == first).all()
    press(shown, K.Key_C)
    assert (pixels(shown.screen) == plain).all()
    QTest.keyClick(shown.screen, K.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert (pixels(shown.screen) == first).all()
    press(shown, K.Key_U, K.Key_U)
    assert (pixels(shown.screen) == plain).all()


@pytest.mark.parametrize("size", [(1280, 720), (1200, 540), (640, 360)])
def test_ink_stays_in_place_on_a_screen_of_another_size(give: Give, size: tuple[int, int]) -> None:
    """Letters of another size would have moved what it is about."""
    shown = give()
    press(shown, K.Key_D)
    drag(shown.screen, (100, 400), (300, 400))
    before = shown.screen.seen()
    shown.screen.resize(*size)
    after = shown.screen.seen()
    assert before is not None and after is not None
    scale = min(size[0] / 960, size[1] / 540)
    assert after.onto.m11() == pytest.approx(scale)
    assert after.onto.map(480.0, 270.0) == pytest.approx((size[0] / 2, size[1] / 2))
    assert (after.picture.width, after.picture.height) == (960, 540)


def test_what_is_kept_is_in_the_file_and_shown_again(give: Give, tmp_path: Path) -> None:
    shown = give()
    press(shown, K.Key_D)
    drag(shown.screen, (100, 400), (300, 400))
    press(shown, K.Key_D)
    drawn = pixels(shown.screen)
    press(shown, K.Key_K)
    assert "kept in a.gpuviz-lecture" in shown.speaker.gpu.text()
    assert read(tmp_path / "a.gpuviz-lecture").slides[0].ink == shown.board.ink
    again = give()
    assert (pixels(again.screen) == drawn).all()
    press(again, K.Key_U, K.Key_K)  # the line that was kept, too, can be taken back
    assert read(tmp_path / "a.gpuviz-lecture").slides[0].ink is None


def test_a_disk_that_is_full_is_told_to_the_speaker(give: Give, tmp_path: Path) -> None:
    shown = give()
    (tmp_path / "a.gpuviz-lecture").unlink()
    press(shown, K.Key_D)
    drag(shown.screen, (100, 400), (300, 400))
    press(shown, K.Key_K)
    assert "a.gpuviz-lecture" in shown.speaker.gpu.text() and shown.board.ink is not None


def test_the_speaker_draws_on_the_preview(give: Give) -> None:
    shown = give()
    shown.speaker.show()
    now = shown.speaker.now
    plain = pixels(now)
    press(shown, K.Key_D)
    share = now.share
    drag(now, (100 * share, 400 * share), (300 * share, 400 * share))
    assert shown.board.ink is not None
    points = np.array(shown.board.ink.strokes[0].points)
    assert np.abs(points[[0, -1]] - ((100, 400), (300, 400))).max() < 3
    assert (pixels(now) != plain).any()
    press(shown, K.Key_D)
    QTest.mouseClick(now, Qt.MouseButton.LeftButton)
    assert shown.conductor.slide == 0


def test_a_part_fills_the_screen_until_esc(give: Give) -> None:
    shown = give()
    plain = pixels(shown.screen)
    press(shown, K.Key_X)
    drag(shown.screen, (480, 270), (700, 400), (960, 540))
    seen = shown.screen.seen()
    assert shown.board.tool == "" and seen is not None
    assert seen.onto.m11() == pytest.approx(2.0, abs=0.01)
    large = pixels(shown.screen)
    assert (large != plain).any()
    press(shown, K.Key_D)
    drag(shown.screen, (1, 1), (40, 1))
    press(shown, K.Key_D)
    assert shown.board.ink is not None
    assert np.abs(np.array(shown.board.ink.strokes[0].points[0]) - (480, 270)).max() < 2
    press(shown, K.Key_Escape)
    assert shown.board.part is None and shown.screen.isVisible()
    press(shown, K.Key_X)
    drag(shown.screen, (480, 270), (483, 272))  # no rectangle
    assert shown.board.part is None
    press(shown, K.Key_X)
    drag(shown.screen, (1, 1), (480, 270))
    press(shown, K.Key_Space)
    assert shown.conductor.slide == 1 and shown.board.part is None


def test_the_class_sees_a_picture_that_stands_still(give: Give) -> None:
    shown = give()
    shown.speaker.show()
    before = pixels(shown.screen)
    press(shown, K.Key_R, K.Key_Space, K.Key_L)
    assert shown.conductor.slide == 1 and (pixels(shown.screen) == before).all()
    assert "still picture" in shown.speaker.place.text()
    press(shown, K.Key_B)
    assert (pixels(shown.screen) == 0).all()
    press(shown, K.Key_B, K.Key_R, K.Key_L)
    assert (pixels(shown.screen) != before).any()
    assert "still picture" not in shown.speaker.place.text()


def test_ink_of_what_a_slide_was_changed_to_is_not_the_slides(
    give: Give, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "a.gpuviz-lecture"
    path.write_text('gpuviz-lecture = 1\n[[slide]]\nlesson = "coalescing"\nstops = [0]\n')
    shown = give()
    qtbot.waitUntil(lambda: shown.conductor.shown.story is not None, timeout=60_000)
    press(shown, K.Key_D)
    drag(shown.screen, (100, 400), (300, 400))
    own = shown.board.ink
    press(shown, K.Key_P, K.Key_Up)
    assert own is not None and shown.board.ink is None
    drag(shown.screen, (100, 300), (300, 300))
    other = shown.board.ink
    press(shown, K.Key_K)
    assert "as they were planned" in shown.speaker.gpu.text()
    press(shown, K.Key_Escape)
    assert shown.board.ink == own
    press(shown, K.Key_P, K.Key_Up)
    assert shown.board.ink == other
    assert replace(own, strokes=()) != replace(other, strokes=())  # it lies below the strip
