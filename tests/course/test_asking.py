"""The question: how it is set, what room it takes, and where it stands above two variants."""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QApplication

from gpuviz.course import lesson
from gpuviz.draw.heading import heading, steady_heading
from gpuviz.draw.marks import Frame, Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.qt.look.fonts import load_fonts
from gpuviz.story.compare import beside
from gpuviz.story.lesson import Story
from tests.course.performed import performed
from tests.course.pictures import STAGES, misplaced, text_rects, words

QUESTION = "How many of them does this request of the warp take?"
CHOICES = ("4", "8", "16", "one for each lane")
MOMENTS = (0.0, 0.25, 0.5, 1.0)


@pytest.fixture(autouse=True)
def _fonts(qapp: QApplication) -> None:
    load_fonts()


def told(name: str) -> Story:
    return performed(lesson(name), {}).story


def asking(stage: Stage) -> Stage:
    return replace(stage, question=QUESTION, choices=CHOICES)


def is_asked(frame: Frame) -> bool:
    """Whether the question and every choice with its letter are in the picture, in their order."""
    said = " ".join(words(frame))
    every = " ".join(f"{letter} {text}" for letter, text in zip("ABCD", CHOICES, strict=True))
    return f"{QUESTION} {every}" in said


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
        assert [*misplaced(frame)] == [], f"at {share:.2f}"
