"""A lecture given by the keyboard alone, on the screen and in the speaker's window."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gpuviz.base.errors import InputError
from gpuviz.compile import CompileError
from gpuviz.draw.marks import Texts
from gpuviz.lectures.lecture import Lecture
from gpuviz.lectures.reading import parse
from gpuviz.lectures.variation import Variation, fields
from gpuviz.qt.look.fonts import load_fonts
from gpuviz.qt.presenter import presentation
from gpuviz.qt.presenter.keys import KEYS
from gpuviz.qt.presenter.presentation import Presentation
from gpuviz.story.perform import perform
from gpuviz.story.sources import Sources

K = Qt.Key
TEXT = """gpuviz-lecture = 1
title = "Strides"
minutes = 5

[[slide]]
title = "Strides"
words = "One warp, 32 addresses."
notes = "Welcome."

[[slide]]
lesson = "coalescing"
values = { stride = 2 }
numbers = ["global_load_sectors", "time"]
notes = "Ask for hands."
[slide.question]
ask = "How many sectors?"
choices = [4, 8, 16]
count = "global_load_sectors"

[[slide]]
lesson = "nowhere"

[[slide]]
lesson = "coalescing"
values = { stride = 1 }
stops = [0, 1, 2]
"""
Give = Callable[..., Presentation]


@pytest.fixture
def give(qtbot: QtBot, tmp_path: Path) -> Iterator[Give]:
    load_fonts()
    made: list[Presentation] = []

    def give(
        text: str = TEXT, perform_: object = perform, sources: Sources | None = None, slide: int = 0
    ) -> Presentation:
        lecture = text if isinstance(text, Lecture) else parse(text, tmp_path)
        shown = Presentation(lecture, perform_, sources or Sources())  # type: ignore[arg-type]
        made.append(shown)
        shown.start(slide)
        shown.screen.showNormal()
        shown.screen.resize(960, 540)
        qtbot.waitExposed(shown.screen)
        return shown

    yield give
    for shown in made:
        shown.close()
        shown.deleteLater()


@pytest.fixture
def given(give: Give) -> Presentation:
    return give()


def press(shown: Presentation, *keys: Qt.Key, where: QWidget | None = None) -> None:
    for key in keys:
        QTest.keyClick(where or shown.screen, key)


def ready(shown: Presentation, qtbot: QtBot) -> None:
    """The slide has been performed."""
    slide = shown.conductor.lecture.slides[shown.conductor.slide]
    qtbot.waitUntil(
        lambda: slide.view is None or shown.conductor.shown.story is not None, timeout=60_000
    )


def texts(shown: Presentation) -> list[str]:
    """What is written on the screen."""
    shown.screen.grab()
    frame = shown.screen.frame
    assert frame is not None
    return [s for mark in frame.marks if isinstance(mark, Texts) for s in mark.strings]


def pixels(widget: QWidget) -> np.ndarray:
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1)
    return rows[:, : 3 * image.width()].reshape(image.height(), image.width(), 3).copy()


@pytest.mark.parametrize(
    ("size", "badge"),
    [("", "model"), pytest.param(", blocks = 65536", "recorded", marks=pytest.mark.slow)],
)
def test_keys_lead_through_the_lecture(give: Give, qtbot: QtBot, size: str, badge: str) -> None:
    """The size that lessons ship with was recorded, the small one of tests is not."""
    given = give(TEXT.replace("stride = 2", f"stride = 2{size}"))
    assert "One warp, 32 addresses." in texts(given)
    press(given, K.Key_Space)
    ready(given, qtbot)
    assert given.conductor.place == (1, 0) and given.conductor.cue.asks
    said = texts(given)
    assert "How many sectors?" in said and {"a", "4", "8", "16"} <= set(said)
    assert not [s for s in said if "8 sectors" in s]
    press(given, K.Key_PageDown)
    assert given.conductor.player.state.playing and given.conductor.cue.reveals
    assert "✓" not in texts(given)
    press(given, K.Key_PageDown)  # to the end of what is being played
    assert not given.conductor.player.state.playing
    said = texts(given)
    assert "✓" in said and "8 sectors a request" in said and badge in said
    press(given, K.Key_Right)  # the broken slide is left out
    ready(given, qtbot)
    assert given.conductor.place == (3, 0)
    press(given, K.Key_Down, K.Key_Down)
    assert given.conductor.place == (3, 1)
    assert given.conductor.player.t == pytest.approx(1.0, abs=0.01)
    press(given, K.Key_Return)
    qtbot.waitUntil(lambda: not given.conductor.player.state.playing, timeout=5000)
    assert given.conductor.player.t == pytest.approx(2.0, abs=0.01)
    press(given, K.Key_Space)
    assert (pixels(given.screen) == 0).all()  # behind the last slide
    press(given, K.Key_Left)
    assert "✓" not in texts(given) and given.conductor.place == (3, 2)
    press(given, K.Key_Space)
    with qtbot.waitSignal(given.ended):
        press(given, K.Key_Space)


def test_going_back_shows_the_end_of_what_was(given: Presentation, qtbot: QtBot) -> None:
    press(given, K.Key_End)
    ready(given, qtbot)
    press(given, K.Key_PageUp)
    ready(given, qtbot)
    assert given.conductor.place == (1, 1) and not given.conductor.player.state.playing
    assert "✓" in texts(given)
    press(given, K.Key_Left)
    assert given.conductor.cue.asks
    press(given, K.Key_Up, K.Key_Backspace)
    assert given.conductor.place == (0, 0)
    press(given, K.Key_PageUp)
    assert given.conductor.place == (0, 0)


def test_numbers_jump(given: Presentation, qtbot: QtBot) -> None:
    press(given, K.Key_4)
    assert given.conductor.slide == 3
    press(given, K.Key_9)
    assert given.conductor.slide == 3
    press(given, K.Key_3)  # broken: the next that can be shown
    assert given.conductor.slide == 3
    press(given, K.Key_Home)
    assert given.conductor.slide == 0


def test_numbers_of_two_digits(give: Give, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presentation, "DIGITS_MS", 50)
    slides = "".join(f'[[slide]]\ntitle = "S{n}"\nwords = "w"\n' for n in range(1, 24))
    shown = give(f"gpuviz-lecture = 1\n{slides}")
    press(shown, K.Key_1, K.Key_7)
    assert shown.conductor.slide == 16
    press(shown, K.Key_2)
    qtbot.waitUntil(lambda: shown.conductor.slide == 1)
    press(shown, K.Key_1, K.Key_Return)
    assert shown.conductor.slide == 0


@pytest.mark.parametrize(
    ("key", "colour"), [(K.Key_B, 0), (K.Key_Period, 0), (K.Key_W, 255), (K.Key_Comma, 255)]
)
def test_blank_and_back(given: Presentation, key: Qt.Key, colour: int) -> None:
    before = pixels(given.screen)
    press(given, key)
    assert (pixels(given.screen) == colour).all()
    press(given, key)
    assert (pixels(given.screen) == before).all()
    press(given, key, K.Key_Escape)
    assert (pixels(given.screen) == before).all() and not given.conductor.blank


def test_a_step_forward_ends_the_blank(given: Presentation, qtbot: QtBot) -> None:
    press(given, K.Key_B, K.Key_Space)
    ready(given, qtbot)
    assert not given.conductor.blank and given.conductor.slide == 1


def test_laser_and_lens_follow_the_mouse(given: Presentation, qtbot: QtBot) -> None:
    press(given, K.Key_2)
    ready(given, qtbot)
    plain = pixels(given.screen)
    here, there = QPoint(200, 100), QPoint(700, 350)
    press(given, K.Key_L)
    QTest.mouseMove(given.screen, here)
    changed = np.argwhere((pixels(given.screen) != plain).any(axis=2))
    assert len(changed) and np.abs(changed.mean(axis=0) - (100, 200)).max() < 3
    press(given, K.Key_Z)
    QTest.mouseMove(given.screen, there)
    changed = np.argwhere((pixels(given.screen) != plain).any(axis=2))
    assert np.abs((changed.min(axis=0) + changed.max(axis=0)) / 2 - (350, 700)).max() < 40
    press(given, K.Key_Escape)
    assert (pixels(given.screen) == plain).all() and given.board.tool == ""


def test_full_screen_by_its_key_and_by_a_clickers(given: Presentation) -> None:
    assert not given.screen.isFullScreen()
    press(given, K.Key_F5, K.Key_F5)
    assert given.screen.isFullScreen()
    press(given, K.Key_F)
    assert not given.screen.isFullScreen()


def test_a_click_goes_on(given: Presentation, qtbot: QtBot) -> None:
    QTest.mouseClick(given.screen, Qt.MouseButton.LeftButton)
    assert given.conductor.slide == 1
    QTest.mouseClick(given.screen, Qt.MouseButton.RightButton)
    assert given.conductor.slide == 0


def test_letters_grow(given: Presentation, qtbot: QtBot) -> None:
    def largest() -> float:
        given.screen.grab()
        assert given.screen.frame is not None
        return max(m.size for m in given.screen.frame.marks if isinstance(m, Texts))

    before = largest()
    press(given, K.Key_Plus)
    grown = largest()
    press(given, K.Key_Minus, K.Key_Minus)
    assert largest() < before < grown


def test_the_speaker_sees_notes_what_comes_next_and_the_clock(
    given: Presentation, qtbot: QtBot
) -> None:
    speaker = given.speaker
    press(given, K.Key_S)
    assert speaker.isVisible() and speaker.notes.toPlainText() == "Welcome."
    assert "slide 1 of 4" in speaker.place.text() and "of 5 min" in speaker.elapsed.text()
    assert speaker.coming.text() == "next: a question"
    press(given, K.Key_Space, where=speaker)
    ready(given, qtbot)
    assert speaker.notes.toPlainText() == "Ask for hands." and "answer" in speaker.coming.text()
    assert "slide 2 of 4 · step 1 of 2" in speaker.place.text()
    qtbot.waitUntil(lambda: given.slide_runs.showing(3) is not None, timeout=30_000)
    shown = pixels(speaker.next)
    assert len(np.unique(shown.reshape(-1, 3), axis=0)) > 50
    item = speaker.slides.item(2)
    assert "line 21" in item.text() and not item.flags() & Qt.ItemFlag.ItemIsEnabled
    press(given, K.Key_End, where=speaker)
    ready(given, qtbot)
    press(given, K.Key_Space, K.Key_Space, K.Key_Space, K.Key_Space, where=speaker)
    assert speaker.coming.text() == "next: the end"
    press(given, K.Key_S, where=speaker)
    assert speaker.isHidden()


def test_the_speakers_buttons(given: Presentation, qtbot: QtBot) -> None:
    from PySide6.QtWidgets import QPushButton

    given.speaker.show()
    buttons = {b.text(): b for b in given.speaker.findChildren(QPushButton)}
    QTest.mouseClick(buttons["Next"], Qt.MouseButton.LeftButton)
    assert given.conductor.slide == 1
    QTest.mouseClick(buttons["Black"], Qt.MouseButton.LeftButton)
    assert given.conductor.blank == "black"
    QTest.mouseClick(buttons["Back"], Qt.MouseButton.LeftButton)
    assert given.conductor.slide == 0 and not given.conductor.blank
    rect = given.speaker.slides.visualItemRect(given.speaker.slides.item(3))
    QTest.mouseClick(given.speaker.slides.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
    assert given.conductor.slide == 3
    with qtbot.waitSignal(given.ended):
        QTest.mouseClick(buttons["End lecture"], Qt.MouseButton.LeftButton)


def test_escape_ends_it_on_the_slide_it_was_at(given: Presentation, qtbot: QtBot) -> None:
    press(given, K.Key_4)
    with qtbot.waitSignal(given.ended) as ended:
        press(given, K.Key_Escape)
    assert ended.args == [3] and not given.screen.isVisible()


def test_closing_the_screen_ends_it(given: Presentation, qtbot: QtBot) -> None:
    with qtbot.waitSignal(given.ended):
        given.screen.close()
    given.close()


def test_a_slide_that_fails_does_not_stop_the_lecture(give: Give, qtbot: QtBot) -> None:
    def fails(lesson: object, values: dict[str, object], **more: object) -> object:
        if values["stride"] == 2:
            raise CompileError("a.cu does not compile")
        return perform(lesson, values, **more)  # type: ignore[arg-type]

    shown = give(perform_=fails)
    press(shown, K.Key_Space)
    qtbot.waitUntil(lambda: bool(shown.conductor.shown.trouble), timeout=20_000)
    assert "does not compile" in shown.speaker.trouble.text()
    press(shown, K.Key_Space)
    ready(shown, qtbot)
    assert shown.conductor.slide == 3


def test_an_answer_that_is_no_choice_is_told_to_the_speaker(give: Give, qtbot: QtBot) -> None:
    shown = give(TEXT.replace("[4, 8, 16]", "[4, 16]"), slide=1)
    ready(shown, qtbot)
    assert "the answer is 8" in shown.speaker.trouble.text()
    press(shown, K.Key_Space, K.Key_Space)
    assert "✓" not in texts(shown)


def test_a_lesson_that_cannot_be_drawn_keeps_the_last_picture(
    given: Presentation, qtbot: QtBot
) -> None:
    before = pixels(given.screen)

    def broken(*_: object) -> None:
        raise ZeroDivisionError("oh")

    shown = given.conductor.shown
    story = replace(given.conductor.following()[0], story=None)  # type: ignore[index]
    assert story is not None and shown is not None
    given.conductor.shown = replace(shown, slide=replace(shown.slide, words=broken))  # type: ignore[arg-type]
    given.screen.refresh()
    assert (pixels(given.screen) == before).all() and given.screen.trouble


@pytest.mark.slow
def test_without_motion_the_ends_of_steps_are_shown(tmp_path: Path, qtbot: QtBot) -> None:
    load_fonts()
    shown = Presentation(parse(TEXT, tmp_path), perform, Sources(), calm=True)
    shown.start(1)
    ready(shown, qtbot)
    story = shown.conductor.shown.story
    assert story is not None
    ends, seen = {step.end for step in story.steps}, []
    shown.conductor.player.t_changed.connect(seen.append)
    press(shown, K.Key_Space)
    qtbot.waitUntil(lambda: len(seen) > 2)
    assert set(seen[1:]) <= ends
    shown.close()
    shown.deleteLater()


def test_nothing_to_show_is_refused(tmp_path: Path) -> None:
    lecture = parse('gpuviz-lecture = 1\ntitle = "T"\n[[slide]]\nlesson = "nowhere"\n', tmp_path)
    with pytest.raises(InputError, match="“T” has no slide"):
        Presentation(lecture, perform, Sources())


def test_a_key_does_one_thing() -> None:
    keys = [key for keys in KEYS.values() for key in keys]
    assert len(keys) == len(set(keys))


def slowly(gate: threading.Event) -> object:
    """Performs only when the gate is open."""

    def waits(lesson: object, values: dict[str, object], **more: object) -> object:
        gate.wait(20)
        return perform(lesson, values, **more)  # type: ignore[arg-type]

    return waits


def test_a_slide_that_gets_ready_leaves_the_screen_black(give: Give, qtbot: QtBot) -> None:
    gate = threading.Event()
    shown = give(perform_=slowly(gate), slide=1)
    press(shown, K.Key_B)
    gate.set()
    ready(shown, qtbot)
    assert shown.conductor.blank == "black"
    press(shown, K.Key_B)
    assert not shown.conductor.blank and shown.conductor.place == (1, 0)


def test_the_end_stays_though_the_last_slide_gets_ready(give: Give, qtbot: QtBot) -> None:
    gate = threading.Event()
    shown = give(perform_=slowly(gate), slide=3)
    press(shown, K.Key_Space)
    gate.set()
    ready(shown, qtbot)
    assert shown.conductor.blank == "black"
    with qtbot.waitSignal(shown.ended):
        press(shown, K.Key_Space)


def test_what_a_blank_interrupted_is_shown_before_anything_else(
    given: Presentation, qtbot: QtBot
) -> None:
    press(given, K.Key_2)
    ready(given, qtbot)
    press(given, K.Key_Space, K.Key_B, K.Key_B)
    assert "✓" not in texts(given)
    press(given, K.Key_Space)
    assert given.conductor.place == (1, 1) and "✓" in texts(given)


@pytest.mark.parametrize("key", [K.Key_End, K.Key_2, K.Key_9])
def test_a_last_slide_that_is_broken_sends_nobody_back(give: Give, key: Qt.Key) -> None:
    words = '[[slide]]\nwords = "w"\n'
    broken = '[[slide]]\nlesson = "nowhere"\n'
    shown = give(f"gpuviz-lecture = 1\n{broken}{words}{words}{broken}")
    press(shown, K.Key_End)
    assert shown.conductor.slide == 2
    press(shown, K.Key_Left, K.Key_4)
    assert shown.conductor.slide == 2


def test_it_begins_with_a_slide_that_can_be_shown(give: Give) -> None:
    broken = '[[slide]]\nlesson = "nowhere"\n'
    shown = give(f'gpuviz-lecture = 1\n{broken}[[slide]]\nwords = "w"\n{broken}', slide=2)
    assert shown.conductor.slide == 1


@pytest.mark.parametrize("key", [K.Key_B, K.Key_Left, K.Key_End])
def test_another_key_forgets_the_number_begun(
    give: Give, qtbot: QtBot, key: Qt.Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presentation, "DIGITS_MS", 50)
    slides = "".join(f'[[slide]]\ntitle = "S{n}"\nwords = "w"\n' for n in range(1, 24))
    shown = give(f"gpuviz-lecture = 1\n{slides}", slide=5)
    press(shown, K.Key_2, key)
    there = shown.conductor.slide
    qtbot.wait(100)
    assert shown.conductor.slide == there != 1
    press(shown, K.Key_1)
    shown.conductor.go(7)
    shown.speaker.chosen.emit(8)
    qtbot.wait(100)
    assert shown.conductor.slide == 8


def test_other_slides_that_get_ready_are_not_announced(give: Give, qtbot: QtBot) -> None:
    gate = threading.Event()
    shown = give(perform_=slowly(gate))
    said: list[str] = []
    with qtbot.waitSignal(shown.screen.announcer.said):
        pass
    shown.screen.announcer.said.connect(said.append)
    gate.set()
    qtbot.waitUntil(lambda: shown.slide_runs.showing(3) is not None, timeout=30_000)
    qtbot.wait(300)
    assert said == []


def test_long_notes_stay_where_they_were_scrolled_to(give: Give) -> None:
    lines = "\\n".join("Attention\N{NO-BREAK SPACE}!" for _ in range(400))
    shown = give(f'gpuviz-lecture = 1\n[[slide]]\nwords = "w"\nnotes = "{lines}"\n')
    press(shown, K.Key_S)
    bar = shown.speaker.notes.verticalScrollBar()
    bar.setValue(bar.maximum())
    assert bar.value() > 100
    press(shown, K.Key_B, K.Key_B)
    assert bar.value() == bar.maximum()


def test_keys_of_a_keypad_are_the_presentations_too(given: Presentation) -> None:
    press(given, K.Key_S)
    QTest.keyClick(given.speaker.slides, K.Key_PageDown, Qt.KeyboardModifier.KeypadModifier)
    assert given.conductor.slide == 1


def test_the_speaker_is_told_of_a_picture_that_cannot_be_drawn(given: Presentation) -> None:
    shown = given.conductor.shown
    given.conductor.shown = replace(shown, slide=replace(shown.slide, words=print))  # type: ignore[arg-type]
    given.screen.refresh()
    given.screen.grab()
    assert "TypeError" in given.speaker.gpu.text()


def test_two_lessons_are_shown_beside_each_other_and_either_is_changed(
    give: Give, qtbot: QtBot
) -> None:
    beside = 'beside = { lesson = "banks" }\nstops = [3]'
    small = "values = { blocks = 1 }"
    shown = give(f'gpuviz-lecture = 1\n[[slide]]\nlesson = "coalescing"\n{small}\n{beside}\n')
    ready(shown, qtbot)
    assert {"A · Coalescing", "B · Shared memory banks"} <= set(texts(shown))
    press(shown, K.Key_P)
    b = Variation.of(shown.conductor.lecture.slides[0].view).beside(1)  # type: ignore[arg-type]
    shown.conductor.vary(next(one for one in fields(b) if one.id == "stride").put(7))
    qtbot.waitUntil(lambda: shown.conductor.varied is not None, timeout=60_000)
    varied = shown.conductor.shown.slide.view
    assert varied is not None and varied.compare_values["stride"] == 7
    assert any("7" in said for said in texts(shown))
