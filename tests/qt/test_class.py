"""Hands counted and shown, and a lecture rehearsed: by keys, with a clock of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from pytestqt.qtbot import QtBot

from gpuviz.draw.hit import text_boxes
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Texts
from gpuviz.draw.palette import THEMES
from gpuviz.draw.stage import Stage
from gpuviz.lectures import picture
from gpuviz.lectures.answer import Answer
from gpuviz.lectures.hands import Hands
from gpuviz.lectures.picture import line_of
from gpuviz.lectures.reading import read
from gpuviz.lectures.writing import in_file
from gpuviz.qt.presenter.presentation import Presentation
from gpuviz.story.perform import perform
from gpuviz.story.sources import Sources
from tests.qt.test_presenter import press, texts
from tests.qt.test_strip_controller import TEXT

K = Qt.Key
WORDS = """gpuviz-lecture = 1
title = "Words"
minutes = 3

[[slide]]
title = "First"
words = "a"

[[slide]]
title = "Second"
words = "b"
minutes = 1
"""
Give = Callable[..., Presentation]


@pytest.fixture
def give(present: Give, qtbot: QtBot, tmp_path: Path) -> Give:
    def give(text: str, **how: object) -> Presentation:
        path = tmp_path / "a.gpuviz-lecture"
        path.write_text(text)
        shown = present(Presentation(read(path), perform, Sources(), keep=in_file(path), **how))  # type: ignore[arg-type]
        slide = shown.conductor.planned
        qtbot.waitUntil(
            lambda: slide.view is None or shown.conductor.shown.story is not None, timeout=60_000
        )
        return shown

    return give


def test_who_says_8(give: Give) -> None:
    """A number for each choice, Enter between them; the reveal keeps them."""
    shown = give(TEXT)
    press(shown, K.Key_H, K.Key_3, K.Key_Return, K.Key_1, K.Key_2)
    assert {"3", "12_"} <= set(texts(shown)) and shown.conductor.slide == 0
    press(shown, K.Key_Backspace, K.Key_5, K.Key_Return, K.Key_Left, K.Key_Right, K.Key_1)
    assert shown.conductor.hands == Hands((3, 15, 1), 2)
    press(shown, K.Key_Return)
    assert shown.conductor.hands == Hands((3, 15, 1)) and "15" in texts(shown)
    assert "19 hands" in shown.speaker.place.text()
    press(shown, K.Key_PageDown, K.Key_PageDown)
    said = texts(shown)
    assert "✓" in said and "15" in said
    press(shown, K.Key_End, K.Key_Home)  # the slide is repeated
    assert shown.conductor.hands == Hands((3, 15, 1)) and "15" in texts(shown)


def test_a_clicker_ends_counting_and_goes_on(give: Give) -> None:
    shown = give(TEXT)
    press(shown, K.Key_H, K.Key_4, K.Key_PageDown)
    assert shown.conductor.cue.reveals and shown.conductor.hands == Hands((4, 0, 0))
    press(shown, K.Key_2)  # a number is a slide again
    assert shown.conductor.slide == 1
    press(shown, K.Key_H, K.Key_1)  # nothing is asked here
    assert shown.conductor.slide == 0


def test_bars_are_as_long_as_the_shares_and_nothing_moves() -> None:
    stage, row = Stage(1280, 720, THEMES["projector"]), Rect(20, 600, 1240, 60)
    guesses, hands = (4, 8, 16), Hands((3, 12, 0))
    bare = picture.choices(stage, row, guesses, None)
    told = picture.choices(stage, row, guesses, None, hands)

    def frames(marks: tuple[object, ...]) -> list[list[float]]:
        return [m.rect[0].tolist() for m in marks if isinstance(m, Boxes) and m.stroke is not None]

    def places(marks: tuple[object, ...]) -> dict[str, list[float]]:
        return {m.strings[0]: m.at[0].tolist() for m in marks if isinstance(m, Texts) and m.bold}

    assert frames(bare) == frames(told) and places(bare).items() <= places(told).items()
    bars = [m.rect[0, 2] for m in told if isinstance(m, Boxes) and m.stroke is None]
    inside = frames(bare)[0][2] - 4
    assert np.allclose(bars, [inside * 0.2, inside * 0.8], atol=0.01)
    out = picture.choices(stage, row, guesses, Answer(8, 1, "sectors"), hands)
    assert frames(out)[:3] == frames(bare) and "12" in places_of(out)


def places_of(marks: tuple[object, ...]) -> list[str]:
    return [s for m in marks if isinstance(m, Texts) for s in m.strings]


def test_a_rehearsal_is_kept_with_the_slides(give: Give, tmp_path: Path) -> None:
    now = [100.0]
    shown = give(WORDS, rehearses=True, clock=lambda: now[0])
    speaker = shown.speaker
    assert speaker.isVisible()
    now[0] += 90
    speaker._tick()
    assert "1:30 of 2:00 · on time" in speaker.pace.text()
    now[0] += 70
    speaker._tick()
    assert "2:40 of 2:00 · 0:40 behind" in speaker.pace.text() and speaker.elapsed.property("late")
    press(shown, K.Key_Space)
    now[0] += 30
    press(shown, K.Key_PageUp)  # a slide that is repeated takes more
    now[0] += 5
    told: list[object] = []
    shown.rehearsed.connect(lambda taken, said: told.extend([taken, said]))
    press(shown, K.Key_Escape)
    assert told[0] == {0: 165.0, 1: 30.0} and "kept in" in str(told[1])
    assert [slide.taken for slide in read(tmp_path / "a.gpuviz-lecture").slides] == [165.0, 30.0]


def test_without_rehearsing_nothing_is_written(give: Give, tmp_path: Path) -> None:
    now = [0.0]
    shown = give(WORDS, clock=lambda: now[0])
    now[0] += 50
    press(shown, K.Key_Escape)
    assert (tmp_path / "a.gpuviz-lecture").read_text() == WORDS


@pytest.mark.parametrize("width", [960, 1280, 1920])
@pytest.mark.parametrize("answer", [None, Answer(5, 1, "sectors a request")])
def test_a_choice_and_its_hands_have_room_beside_each_other(
    width: int, answer: Answer | None
) -> None:
    stage = Stage(width, width * 9 / 16, THEMES["projector"], 1.15)
    row = Rect(20, 400, width - 40, 46 * stage.roomy().scale)
    marks = picture.choices(stage, row, (4, 5, 8, 33), answer, Hands((7, 128, 3, 7), 0))
    boxes = [m.rect[0] for m in marks if isinstance(m, Boxes) and m.stroke is not None][:4]
    said = [(m, rect) for m in marks if isinstance(m, Texts) for rect in text_boxes(m)]
    for text, count, box in zip(("4", "5", "8", "33"), ("7_", "128", "3", "7"), boxes, strict=True):
        own = {m.strings[0]: r for m, r in said if box[0] <= r[0] and r[0] < box[0] + box[2]}
        assert own[text][0] + own[text][2] <= own[count][0]
        assert own[count][0] + own[count][2] <= box[0] + box[2]


def test_what_is_long_about_the_gpu_leaves_the_notes_their_room(give: Give, qtbot: QtBot) -> None:
    shown = give(WORDS)
    shown.speaker.show()
    qtbot.waitExposed(shown.speaker)
    before = shown.speaker.notes.width()
    shown.speaker.say("the process that runs kernels on the GPU was lost, and it starts again " * 2)
    qtbot.wait(20)
    assert shown.speaker.notes.width() == before


def test_a_class_predicts_a_number_by_dragging(give: Give, qtbot: QtBot) -> None:
    shown = give(TEXT)
    conductor, screen = shown.conductor, shown.screen
    line = line_of(conductor.shown, conductor.cue, screen.stage())
    assert line is not None and conductor.shown.prediction is not None
    y, reach = line.center[1], conductor.shown.prediction.reach
    before = conductor.place
    assert screen.press_at(QPointF(line.x + 1, y))
    screen.move_to(QPointF(line.x + line.width * reach.share(5), y))
    screen.release()
    screen.move_to(QPointF(line.right, y))
    assert conductor.place == before and conductor.shown.prediction.value == 5
    assert "5" in texts(shown)
    press(shown, K.Key_Space)
    qtbot.waitUntil(lambda: not conductor.cue.asks)
    assert line_of(conductor.shown, conductor.cue, screen.stage()) is None
    conductor.player.seek(conductor.cue.end)
    assert {"5", "✓ 8"} <= set(texts(shown))
