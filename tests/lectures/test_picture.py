"""The pictures of slides: pure, inside the stage, and silent while they ask."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QRectF

from gpuviz.course import lesson
from gpuviz.draw.marks import Boxes, Frame, Texts
from gpuviz.draw.palette import THEMES
from gpuviz.draw.stage import Stage
from gpuviz.files.allowed_paths import Reach
from gpuviz.lectures.answer import Answer, Figure
from gpuviz.lectures.cues import Cue, cues
from gpuviz.lectures.lecture import Guess, Question, Slide
from gpuviz.lectures.picture import SlideState, answered, frame
from gpuviz.lectures.slide_fields import slide_of
from gpuviz.recordings.measurement import DeviceFacts, Measurement
from gpuviz.story.lesson import Story
from gpuviz.story.perform import perform
from tests.course.pictures import LEAST_LETTER, misplaced, same, text_rects, words

SIZES = ((960, 540), (1024, 768), (1920, 1080))  # a preview, an old projector, a new one
DEVICE = DeviceFacts(0, "NVIDIA H200", "9.0", "1", "13.0", 132, 1 << 30, 1 << 20)
ORIGIN = Measurement("recorded", "2026-11-20", DEVICE)
CHOICES: tuple[Guess, ...] = (4, 8, 16, 32)
ANSWER = Answer(8.0, 1, "sectors a request", 8.0, ORIGIN)
FIGURES = (
    Figure("load sectors", "", 4096, 4096, ORIGIN),
    Figure("time of a launch", "", None, 3.71, ORIGIN),
)
LONG = ("every lane has a sector of its own", "two lanes share a sector", "four", "it depends", "?")


@pytest.fixture(scope="module")
def story() -> Story:
    return perform(
        lesson("coalescing"), {"stride": 2, "blocks": 1}, level="ptx", measured=lambda plan: None
    ).story


def stage(size: tuple[int, int] = (1920, 1080), scale: float = 1.15) -> Stage:
    return Stage(*size, THEMES["light"], scale)


def slide(choices: tuple[Guess, ...] = CHOICES, numbers: tuple[str, ...] = ("time",)) -> Slide:
    made, faults = slide_of({"lesson": "coalescing", "numbers": list(numbers)}, Reach(Path.cwd()))
    assert faults == ()
    asked = Question("Lane i reads float 2·i. How many sectors?", choices, "global_load_sectors")
    return Slide(made.title, made.view, question=asked if choices else None, numbers=made.numbers)


def shown(story: Story, choices: tuple[Guess, ...] = CHOICES) -> SlideState:
    return SlideState(slide(choices), story, ANSWER, FIGURES)


def filled(picture: Frame, at: Stage) -> list[int]:
    """How many boxes of choices are filled, as the right one is, by their place in the row."""
    accent = np.asarray(at.palette.accent)
    boxes = [
        mark
        for mark in picture.marks[-60:]
        if isinstance(mark, Boxes)
        and len(mark.rect) == 1
        and mark.rect[0][1] > at.height * 0.8
        and mark.stroke is not None
        and mark.rect[0][3] > 20
    ]
    return [
        i
        for i, mark in enumerate(boxes[: len(CHOICES)])
        if np.allclose(np.asarray(mark.fill).ravel()[:3], accent[:3])
    ]


@pytest.mark.parametrize("scale", [1.0, 1.15, 1.5])
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("choices", [CHOICES, LONG], ids=["numbers", "sentences"])
def test_all_words_are_inside_apart_and_legible(
    story: Story, size: tuple[int, int], choices: tuple[Guess, ...], scale: float
) -> None:
    at, given = stage(size, scale), shown(story, choices)
    for cue in cues(given.slide, story):
        for t in (cue.start, (cue.start + cue.end) / 2, cue.end):
            picture = frame(given, cue, t, at)
            assert [*misplaced(picture)] == []
            assert all(
                mark.size >= LEAST_LETTER
                for mark in picture.marks
                if isinstance(mark, Texts) and any(mark.strings)
            )
            for mark in picture.marks:
                if isinstance(mark, Boxes) and len(mark.rect):
                    x, y, wide, high = mark.rect.T
                    assert x.min() > -1 and y.min() > -1
                    assert (x + wide).max() < size[0] + 1 and (y + high).max() < size[1] + 1


def test_the_same_call_gives_the_same_picture(story: Story) -> None:
    given, at = shown(story), stage()
    for cue in cues(given.slide, story):
        first = frame(given, cue, cue.end, at)
        frame(given, cue, cue.start, at)
        again = frame(given, cue, cue.end, at)
        assert len(first.marks) == len(again.marks)
        assert all(map(same, first.marks, again.marks))


def test_while_it_asks_no_count_is_told(story: Story) -> None:
    given, at = shown(story), stage()
    ask, reveal = cues(given.slide, story)
    asking = words(frame(given, ask, ask.end, at))
    assert "Lane i reads float 2·i. How many sectors?" in asking
    assert not [
        text
        for text in asking
        if "sectors a request" in text
        or "µs" in text
        or "delivered" in text
        or text in ("model", "recorded")
    ]
    assert {"4", "8", "16", "32"} <= set(asking)
    told = words(frame(given, reveal, reveal.end, at))
    time = "3.71\N{NARROW NO-BREAK SPACE}µs"
    assert {"8 sectors a request", "model", "recorded", time} <= set(told)
    assert "recorded on NVIDIA H200, 2026-11-20" in told
    assert "Lane i reads float 2·i. How many sectors?" in told


def test_the_right_choice_is_marked_when_the_reveal_is_over(story: Story) -> None:
    given, at = shown(story), stage()
    ask, reveal = cues(given.slide, story)
    for cue, t, marked in [
        (ask, ask.end, []),
        (reveal, reveal.start, []),
        (reveal, reveal.end - 0.01, []),
        (reveal, reveal.end, [1]),
    ]:
        picture = frame(given, cue, t, at)
        assert filled(picture, at) == marked
        assert ("✓" in words(picture)) == bool(marked)
        assert ("8 sectors a request" in words(picture)) == bool(marked)


def test_when_an_answer_is_out() -> None:
    assert not answered(Cue(1, 1, asks=True), 1)
    assert not answered(Cue(1, 3, reveals=True), 2.9) and answered(Cue(1, 3, reveals=True), 3)
    assert answered(Cue(3, 3, reveals=True), 3)  # there is nothing to play
    assert answered(Cue(3, 5), 3)  # a later part


def test_an_answer_that_is_not_known_marks_nothing(story: Story) -> None:
    given, at = SlideState(slide(), story, None, (), "the answer is 5"), stage()
    _, reveal = cues(given.slide, story)
    picture = frame(given, reveal, reveal.end, at)
    assert filled(picture, at) == [] and "✓" not in words(picture)


def test_what_no_gpu_counted_has_no_badge(story: Story) -> None:
    given = SlideState(slide(), story, Answer(8.0, 1, "sectors a request"))
    _, reveal = cues(given.slide, story)
    told = words(frame(given, reveal, reveal.end, stage()))
    assert "8 sectors a request" in told and "recorded" not in told


def test_without_question_and_numbers_the_story_has_the_whole_stage(story: Story) -> None:
    plain, at = SlideState(slide((), ()), story), stage()
    first, played = cues(plain.slide, story)
    for cue in (first, played):
        assert all(map(same, frame(plain, cue, cue.end, at).marks, story.frame(cue.end, at).marks))


def test_figures_that_do_not_fit_are_left_out_whole(story: Story) -> None:
    many = tuple(
        Figure(f"a long name of the count {i}", "", 10**9 + i, 10**9, ORIGIN) for i in range(12)
    )
    given, at = SlideState(slide(()), story, None, many), stage((960, 540))
    placed = text_rects(frame(given, Cue(), 0.0, at))
    names = [text for text, _ in placed if text.startswith("a long name")]
    assert 0 < len(names) < 12
    assert all(rect.right() <= 960 for _, rect in placed)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("lines", [1, 6, 25, 100])
def test_words_fit(size: tuple[int, int], lines: int) -> None:
    made = SlideState(
        Slide(
            "A title that is rather long for a slide, but it has to fit as well",
            words="\n".join(
                "One warp, one instruction, 32 addresses: what does the memory system make of them?"
                for _ in range(lines)
            ),
        )
    )
    placed = text_rects(frame(made, Cue(), 0.0, stage(size)))
    whole = QRectF(0, 0, *size)
    assert all(whole.contains(rect) for _, rect in placed)
    assert not any(a.intersects(b) for (_, a), (_, b) in combinations(placed, 2))
    assert (placed[-1][0] == "…") == (lines == 100 or (lines == 25 and size == SIZES[0]))


def test_words_are_large_while_they_may() -> None:
    few = frame(SlideState(Slide("T", words="a\nb")), Cue(), 0.0, stage())
    many = frame(SlideState(Slide("T", words="a\n" * 40)), Cue(), 0.0, stage())
    sizes = [max(m.size for m in picture.marks if isinstance(m, Texts)) for picture in (few, many)]
    assert sizes[0] > 60 > sizes[1]


def test_a_slide_that_is_not_ready_says_its_name_and_why() -> None:
    waiting = frame(SlideState(slide()), Cue(), 0.0, stage())
    assert "Coalescing" in words(waiting)
    failed = frame(SlideState(slide(), trouble="there is no compiler"), Cue(), 0.0, stage())
    assert "there is no compiler" in words(failed)
