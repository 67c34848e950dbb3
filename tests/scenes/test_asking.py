"""While a class is asked, every lesson shows its pattern and none of the counts that answer."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtWidgets import QApplication

from gpuviz.draw.heading import heading, steady_heading
from gpuviz.draw.marks import Frame, Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.qt.look.fonts import load_fonts
from gpuviz.scenes import SCENES, lesson
from gpuviz.scenes.base import Lesson, Story
from gpuviz.scenes.compare import beside
from gpuviz.scenes.perform import perform
from tests.scenes.pictures import STAGES, text_rects, words

QUESTION = "How many of them does this request of the warp take?"
CHOICES = ("4", "8", "16", "one for each lane")
MOMENTS = (0.0, 0.25, 0.5, 1.0)
# A count in words, as counters, tables and captions tell it: `3 of 8 sectors`, `12 × fewer`.
COUNT = re.compile(
    r"\b\d[\d\u2009,.]*\s+(of\s+\d[\d\u2009,]*\s+)?(different\s+)?"
    r"(sectors?|segments?|transactions?|lines?|wavefronts?|passes|pass|conflicts?|requests?|loads?"
    r"|reads?|times|additions|instructions)\b"
    r"|\b(sector|segment|line|wavefront|transaction) \d|-way\b|\bideal\b|\bfewer\b|\bwould do\b"
    r"|\bclosed form\b|\bconflict|[<>]?\d+ % of|for nothing$|\bread (once|twice|\d)"
)
# A column's title says what is counted, not how many there are.
TITLES = {"bytes used, and moved for nothing"}


@pytest.fixture(autouse=True)
def _fonts(qapp: QApplication) -> None:
    load_fonts()


@cache
def told(name: str) -> Story:
    return perform(lesson(name), {}, level="ptx", measured=lambda plan: None).story


def asking(stage: Stage) -> Stage:
    return replace(stage, question=QUESTION, choices=CHOICES)


def frames(story: Story, stage: Stage) -> Iterator[tuple[float, Frame]]:
    for share in MOMENTS:
        yield share, story.frame(share * story.duration, asking(stage))


def is_asked(frame: Frame) -> bool:
    """Whether the question and every choice with its letter are in the picture, in their order."""
    said = " ".join(words(frame))
    every = " ".join(f"{letter} {text}" for letter, text in zip("ABCD", CHOICES, strict=True))
    return f"{QUESTION} {every}" in said


def placed(frame: Frame) -> set[tuple[str, float, float]]:
    """Every text with its place in whole pixels."""
    return {
        (text, round(x), round(y))
        for mark in frame.marks
        if isinstance(mark, Texts)
        for text, (x, y) in zip(mark.strings, mark.at.tolist(), strict=True)
        if text
    }


each = pytest.mark.parametrize("one", SCENES, ids=lambda one: one.id)


@each
@pytest.mark.parametrize("stage", ["window", "large", "half", "full"])
def test_no_count_is_told(one: Lesson, stage: str) -> None:
    for share, frame in frames(told(one.id), STAGES[stage]):
        assert is_asked(frame)
        telling = {text for text in words(frame) if COUNT.search(text)} - TITLES
        assert telling == set(), f"at {share:.2f}"


@each
def test_counts_are_told_without_a_question(one: Lesson) -> None:
    """What the test above looks for is there to be found."""
    story = told(one.id)
    plain = {
        text
        for share in MOMENTS
        for text in words(story.frame(share * story.duration, STAGES["full"]))
    }
    hidden = plain - {text for _, frame in frames(story, STAGES["full"]) for text in words(frame)}
    assert any(re.search(r"\d", text) for text in hidden)


@each
@pytest.mark.parametrize("stage", ["window", "large", "half", "full"])
def test_words_stay_inside_and_apart(one: Lesson, stage: str) -> None:
    whole = QRectF(0, 0, STAGES[stage].width, STAGES[stage].height)
    for share, frame in frames(told(one.id), STAGES[stage]):
        placed = text_rects(frame)
        for text, rect in placed:
            assert whole.contains(rect), f"{text!r} is outside at {share:.2f}"
        for (a, first), (b, second) in combinations(placed, 2):
            assert not first.intersects(second), f"{a!r} and {b!r} overlap at {share:.2f}"


@each
def test_nothing_jumps_when_it_is_revealed(one: Lesson) -> None:
    """What a picture says before and after stands in the same place."""
    story, stage = told(one.id), STAGES["large"]
    for share in MOMENTS:
        asked, revealed = (
            placed(story.frame(share * story.duration, given))
            for given in (asking(stage), replace(asking(stage), revealed=True))
        )
        assert QUESTION not in {text for text, _, _ in revealed}
        kept = {text for text, _, _ in asked} & {text for text, _, _ in revealed}
        assert kept, "the picture is another one"
        for text in kept:
            before, after = ({at for at in one if at[0] == text} for one in (asked, revealed))
            own = text in CHOICES or text in "ABCD" or not re.search(r"[a-zA-Z]", text)
            assert own or before <= after, f"{text!r} has moved"


def test_the_largest_heading_decides_the_room() -> None:
    stage, said = STAGES["small"], "One warp reads every second float"
    plain = heading(stage, said, "Half.")[1]
    asked, low = heading(asking(stage), said, "Half.")
    assert low.y > plain.y and low.bottom == pytest.approx(plain.bottom)
    assert heading(replace(asking(stage), revealed=True), said, "Half.")[1] == low
    long = " ".join(["a sentence that takes a lot of room"] * 12)
    assert (
        steady_heading(asking(stage), said, "Half.", (long,))[1]
        == steady_heading(stage, said, "Half.", (long,))[1]
    )
    assert max(m.size for m in asked if isinstance(m, Texts)) >= stage.text(18)


def test_choices_are_set_larger_than_a_sentence_and_wrap() -> None:
    stage = replace(STAGES["full"], question="Which?", choices=("4", "8"))
    marks, _ = heading(stage, "Title", "Sentence")
    letters = [m for m in marks if isinstance(m, Texts) and m.strings in (("A",), ("B",))]
    assert all((m.color == stage.palette.accent).all() for m in letters)
    assert all(m.size > stage.text(16) for m in letters)
    narrow = replace(stage, width=320, choices=("a choice of many words " * 3, "another one " * 4))
    marks, area = heading(narrow, "Title", "Sentence")
    assert all(
        rect.right() <= 320 and rect.bottom() <= area.y
        for _, rect in text_rects(narrow.frame(*marks))
    )


@pytest.mark.parametrize("stage", [Stage(1280, 700, DARK), Stage(1920, 1080, DARK, 1.3)])
@pytest.mark.parametrize("name", ["coalescing", "banks", "transpose", "matmul-tiled"])
def test_two_variants_are_asked_about_once(name: str, stage: Stage) -> None:
    story = told(name)
    pair = beside(story, story, "this one", "that one")
    for share in MOMENTS:
        frame = pair.frame(share * pair.duration, asking(stage))
        assert is_asked(frame) and words(frame).count(QUESTION) == 1
        assert story.title not in words(frame)
        assert {"A · this one", "B · that one"} <= set(words(frame))
        for (a, first), (b, second) in combinations(text_rects(frame), 2):
            assert not first.intersects(second), f"{a!r} and {b!r} overlap at {share:.2f}"
