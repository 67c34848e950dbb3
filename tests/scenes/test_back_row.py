"""What a class sees from the last row: every word of a lesson on a projector is large enough."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtWidgets import QApplication

from gpuviz.draw.marks import Frame, Texts
from gpuviz.draw.palette import PROJECTOR
from gpuviz.draw.stage import Stage
from gpuviz.qt.look.fonts import load_fonts
from gpuviz.scenes import SCENES, lesson
from gpuviz.scenes.base import Lesson, Story
from gpuviz.scenes.compare import beside
from gpuviz.scenes.perform import perform
from tests.scenes.pictures import text_rects

# The largest letters with which no lesson leaves out a part of its picture.
STAGES = {"1080": Stage(1920, 1080, PROJECTOR, 1.3), "720": Stage(1280, 720, PROJECTOR, 1.15)}
LEAST = 1 / 45  # of the height
# Numbers inside cells are as large as these allow, and colour and place say the same: the threads
# in the 32 lanes of a warp, lanes in 32 rows of banks, and values of a matrix of many elements.
CELLS = {"hierarchy", "banks", "matmul-boundary"}
MOMENTS = (0.0, 0.3, 0.6, 1.0)

each = pytest.mark.parametrize("one", SCENES, ids=lambda one: one.id)


@pytest.fixture(autouse=True)
def _fonts(qapp: QApplication) -> None:
    load_fonts()


@cache
def told(name: str, preset: int) -> Story:
    """A lesson as it begins (-1), or one of its presets."""
    one = lesson(name)
    values = one.presets[preset].values if preset >= 0 else {}
    return perform(one, values, level="ptx", measured=lambda plan: None).story


def frames(one: Lesson, stage: Stage, presets: bool) -> Iterator[tuple[str, Frame]]:
    for preset in range(-1, len(one.presets) if presets else 0):
        story = told(one.id, preset)
        for share in MOMENTS:
            where = f"preset {preset} at {share:.1f}"
            yield where, story.frame(share * story.duration, stage)


def in_cells(mark: Texts) -> bool:
    """Whether these are numbers in the middle of cells."""
    return mark.align == "center" and all(text.isdigit() for text in mark.strings)


@each
@pytest.mark.parametrize("stage", STAGES)
def test_every_word_can_be_read(one: Lesson, stage: str) -> None:
    given = STAGES[stage]
    for where, frame in frames(one, given, presets=True):
        for mark in frame.marks:
            if not isinstance(mark, Texts) or not any(mark.strings):
                continue
            if one.id in CELLS and in_cells(mark):
                continue
            assert mark.size >= given.height * LEAST, f"{mark.strings[:3]} {where}"


@each
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("asked", ["", "How many of these does the warp need for its load?"])
def test_large_words_stay_inside_and_apart(one: Lesson, stage: str, asked: str) -> None:
    given = replace(STAGES[stage], question=asked, choices=("4", "8", "16", "32") * bool(asked))
    whole = QRectF(0, 0, given.width, given.height)
    for where, frame in frames(one, given, presets=False):
        placed = text_rects(frame)
        for text, rect in placed:
            assert whole.contains(rect), f"{text!r} is outside, {where}"
        for (a, first), (b, second) in combinations(placed, 2):
            assert not first.intersects(second), f"{a!r} and {b!r} overlap, {where}"


@pytest.mark.parametrize("name", sorted(CELLS))
def test_cells_are_an_exception_that_is_needed(name: str) -> None:
    sizes = [
        mark.size
        for _, frame in frames(lesson(name), STAGES["1080"], presets=True)
        for mark in frame.marks
        if isinstance(mark, Texts) and in_cells(mark)
    ]
    assert 12 <= min(sizes) < STAGES["1080"].height * LEAST


# Halves are narrow: letters stop growing there at about this scale, whatever is asked for.
HALVES = [Stage(1920, 1080, PROJECTOR, 1.7), Stage(1280, 720, PROJECTOR, 1.5)]


@each
@pytest.mark.parametrize("given", HALVES, ids=["1080", "720"])
@pytest.mark.parametrize("asked", ["", "How many of these does the warp need for its load?"])
def test_two_variants_stay_inside_and_apart(one: Lesson, given: Stage, asked: str) -> None:
    stage = replace(given, question=asked, choices=("4", "8", "16", "32") * bool(asked))
    pair = beside(told(one.id, -1), told(one.id, len(one.presets) - 1), "this one", "that one")
    whole = QRectF(0, 0, stage.width, stage.height)
    for share in MOMENTS:
        placed = text_rects(pair.frame(share * pair.duration, stage))
        for text, rect in placed:
            assert whole.contains(rect), f"{text!r} is outside at {share:.1f}"
        for (a, first), (b, second) in combinations(placed, 2):
            assert not first.intersects(second), f"{a!r} and {b!r} overlap at {share:.1f}"
