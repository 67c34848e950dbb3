"""What the clicks of a speaker lead through."""

from __future__ import annotations

import pytest

from gpuviz.draw.marks import Frame
from gpuviz.draw.stage import Stage
from gpuviz.lectures.cues import Cue, asked_at, cues
from gpuviz.lectures.lecture import Question, Slide
from gpuviz.story.lesson import Story
from gpuviz.story.script import Step
from gpuviz.views.provenance import Provenance

VIEW = Provenance("coalescing", {}, "sm_90")
QUESTION = Question("How many?", (1, 2), "global_load_sectors")


def no_picture(t: float, stage: Stage) -> Frame:
    raise AssertionError("cues need no picture")


def story(*edges: float) -> Story:
    steps = tuple(Step(a, b, "load", "x") for a, b in zip(edges, edges[1:], strict=False))
    return Story("", "", steps, no_picture)


STORY = story(0, 1, 3, 6)


def spans_of(found: list[Cue]) -> list[tuple[float, float]]:
    """From where to where each goes, to a hundredth of a second."""
    return [(round(cue.start, 2), round(cue.end, 2)) for cue in found]


def plays(stops: tuple[float, ...], *, steps: bool = False, asks: bool = False) -> list[Cue]:
    return list(
        cues(Slide(view=VIEW, stops=stops, steps=steps, question=QUESTION if asks else None), STORY)
    )


@pytest.mark.parametrize(
    ("stops", "spans"),
    [
        ((), [(0, 0), (0, 6)]),  # told in one go
        ((0.0, 3.0), [(0, 0), (0, 3)]),
        ((2.0,), [(2, 2)]),  # a picture that stands
        ((1.0, 2.5, 6.0), [(1, 1), (1, 2.5), (2.5, 6)]),
        ((0.0, 3.0, 3.0005, 3.0), [(0, 0), (0, 3)]),  # the same moment
        ((4.0, 9.0, 99.0), [(4, 4), (4, 6)]),  # beyond the end
        ((99.0,), [(6, 6)]),
    ],
)
def test_stops(stops: tuple[float, ...], spans: list[tuple[float, float]]) -> None:
    found = plays(stops)
    assert spans_of(found) == spans
    assert not any(cue.asks or cue.reveals for cue in found)
    assert [cue.moves for cue in found] == [False, *(True for _ in found[1:])]


def test_what_is_waited_at_is_the_end_of_a_step_not_the_beginning_of_the_next() -> None:
    for cue in plays((), steps=True)[1:-1]:
        assert STORY.steps[STORY.step_at(cue.end)].start == cue.start
    assert plays((1.5, 2.5))[-1].end == 2.5 and plays(())[-1].end == STORY.duration


def test_steps() -> None:
    assert spans_of(plays((), steps=True)) == [(0, 0), (0, 1), (1, 3), (3, 6)]


@pytest.mark.parametrize(
    ("stops", "spans"),
    [
        ((), [(0, 0), (0, 6)]),
        ((0.0, 3.0), [(0, 0), (0, 3)]),
        ((2.0,), [(2, 2), (2, 6)]),  # there has to be something to reveal
        ((0.0, 3.0, 6.0), [(0, 0), (0, 3), (3, 6)]),
        ((6.0,), [(6, 6), (6, 6)]),  # even at the end
        ((99.0, 100.0), [(6, 6), (6, 6)]),
    ],
)
def test_a_question_is_asked_first_and_then_revealed(
    stops: tuple[float, ...], spans: list[tuple[float, float]]
) -> None:
    found = plays(stops, asks=True)
    assert spans_of(found) == spans
    assert [cue.asks for cue in found] == [True, *(False for _ in found[1:])]
    assert [cue.reveals for cue in found] == [False, True, *(False for _ in found[2:])]


def test_a_question_at_every_step() -> None:
    found = plays((), steps=True, asks=True)
    assert spans_of(found) == [(0, 0), (0, 1), (1, 3), (3, 6)]
    assert found[0].asks and found[1].reveals


def test_without_a_story_there_is_one_cue() -> None:
    assert cues(Slide("a", words="b"), None) == (Cue(),)
    assert cues(Slide(view=VIEW, question=QUESTION), None) == (Cue(asks=True),)  # still being run
    assert cues(Slide("a", words="b"), STORY) == (Cue(),)


def test_a_story_without_steps_stands() -> None:
    assert cues(Slide(view=VIEW), Story("", "", (), no_picture)) == (Cue(),)


@pytest.mark.parametrize("asks", [False, True])
def test_one_cue_ends_where_the_next_begins(asks: bool) -> None:
    for stops in ((), (0.5, 2.0, 2.5, 5.0), (3.0,)):
        found = plays(stops, asks=asks)
        assert all(0 <= b.start - a.end < 2e-3 for a, b in zip(found, found[1:], strict=False))
        assert all(0 <= cue.start <= cue.end <= STORY.duration for cue in found)


def test_a_question_is_asked_where_the_story_comes_to_it() -> None:
    """The picture of banks begins with the stores that fill the tile: nobody asks for them."""
    fill, load = Step(0, 2, "store", "", "st.shared.f32"), Step(2, 3, "load", "", "ld.shared.f32")
    told = Story("", "", (fill, load), no_picture)
    asked = Question("How many?", (1, 2), "shared_load_wavefronts")
    assert asked_at(asked, told) == 2.0
    assert cues(Slide(view=VIEW, question=asked), told)[0] == Cue(2.0, 2.0, asks=True)
    planned = cues(Slide(view=VIEW, question=asked, stops=(1.0, 3.0)), told)
    assert planned[0].start == 1.0  # where a speaker says so
    assert asked_at(QUESTION, told) == 0.0  # nothing of its kind
