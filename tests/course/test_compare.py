"""Two variants side by side: one clock, every mark in its own half."""

import numpy as np
import pytest

from gpuviz.course import lesson
from gpuviz.draw.marks import Boxes, Frame, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.results.count_columns import views_of
from gpuviz.story.compare import beside, clock_of, name_of
from gpuviz.story.exhibit import Variant, showing
from gpuviz.story.lesson import Story
from gpuviz.story.script import Step
from tests.course.performed import performed

COALESCING = lesson("coalescing")
STAGE = Stage(1280, 700, DARK)


def story(**values: int) -> Story:
    return performed(COALESCING, values).story


@pytest.fixture(scope="module")
def both() -> tuple[Story, Story, Story]:
    a, b = story(stride=1), story(stride=32)
    return a, b, beside(a, b, "Stride 1", "Stride 32")


def words(frame: Frame) -> list[tuple[float, str]]:
    return [
        (float(x), text)
        for mark in frame.marks
        if isinstance(mark, Texts)
        for (x, _), text in zip(mark.at, mark.strings, strict=True)
    ]


def test_lasts_as_long_as_the_longer(both: tuple[Story, Story, Story]) -> None:
    a, b, pair = both
    assert pair.duration == pytest.approx(max(a.duration, b.duration))
    starts = [step.start for step in pair.steps]
    assert starts == sorted(starts)


def test_each_half_shows_its_own_story(both: tuple[Story, Story, Story]) -> None:
    a, b, pair = both
    frame = pair.frame(3.0, STAGE)
    left = {text for x, text in words(frame) if x < STAGE.width / 2}
    right = {text for x, text in words(frame) if x >= STAGE.width / 2}
    assert any("Stride 1" in text for text in left) and any("Stride 32" in text for text in right)
    boxes = [mark.rect for mark in frame.marks if isinstance(mark, Boxes)]
    middle = STAGE.width / 2
    for rect in boxes:
        crossing = (rect[:, 0] < middle - 0.5) & (rect[:, 0] + rect[:, 2] > middle + 0.5)
        assert not crossing.any()
        assert (rect[:, 1] + rect[:, 3] <= STAGE.height + 0.5).all()


def test_who_is_done_with_the_loads_waits_for_the_other(both: tuple[Story, Story, Story]) -> None:
    a, b, pair = both
    stores = [next(s.start for s in one.steps if s.kind == "store") for one in (a, b)]
    assert stores[0] < stores[1]
    waits, still = (pair.frame(t, STAGE) for t in (stores[0] + 0.1, stores[1] - 0.1))
    left = [[w for w in words(one) if w[0] < STAGE.width / 2] for one in (waits, still)]
    assert left[0] == left[1] and any("4 of 4 sectors delivered" in text for _, text in left[0])
    begun = [text for _, text in words(pair.frame(stores[1] + 0.1, STAGE))]
    assert sum("Then it writes" in text for text in begun) == 2


def test_bars_of_one_length_are_as_many_bytes(both: tuple[Story, Story, Story]) -> None:
    """Both store 128 bytes, beside 128 loaded by one and 1024 by the other."""
    a, b, pair = both
    assert a.scales != b.scales
    frame = pair.frame(pair.duration, STAGE)
    fills = [mark for mark in frame.marks if isinstance(mark, Boxes) and mark.fill is not None]
    stored = [mark.rect for mark in fills if np.array_equal(mark.fill, STAGE.palette.store)]
    widths = [float(wide) for rects in stored for _, _, wide, _ in rects.tolist()]
    assert len(widths) == 2 and widths[0] == pytest.approx(widths[1], rel=0.01)


def test_stories_of_the_same_times_run_as_they_are() -> None:
    steps = [Step(0, 2, "load", "a"), Step(2, 3, "compute", "b"), Step(3, 5, "result", "c")]
    other = [Step(0, 2, "compute", "a"), Step(2, 3, "load", "b"), Step(3, 5, "result", "c")]
    clock = clock_of(steps, other)
    assert [clock.time(1, t) for t in (0.5, 2.5, 4.0, 9.0)] == [0.5, 2.5, 4.0, 5.0]


def test_what_only_one_tells_the_other_waits_for() -> None:
    a = [Step(0, 2, "load", "row"), Step(2, 6, "shared", "column"), Step(6, 8, "result", "all")]
    b = [Step(0, 3, "load", "row"), Step(3, 4, "result", "all")]
    clock = clock_of(a, b)
    assert clock.time(0, 2.5) == pytest.approx(2.0) and clock.time(1, 2.5) == 2.5
    assert clock.time(0, 5.0) == pytest.approx(4.0) and clock.time(1, 5.0) == pytest.approx(3.0)
    assert (clock.time(0, 7.5), clock.time(1, 7.5)) == (6.5, 3.5)  # both at their result
    assert (clock.time(0, 9.0), clock.time(1, 9.0)) == (8.0, 4.0)
    named = [(s.start, s.end, s.role) for s in clock.steps(a, b, ("A", "B"))]
    assert named == [(0, 2, "A"), (2, 3, "B"), (3, 7, "A"), (7, 9, "A")]


def test_pure(both: tuple[Story, Story, Story]) -> None:
    first, again = (both[2].frame(2.0, STAGE) for _ in range(2))
    for one, two in zip(first.marks, again.marks, strict=True):
        if isinstance(one, Boxes) and isinstance(two, Boxes):
            np.testing.assert_array_equal(one.rect, two.rect)


def test_names() -> None:
    base = COALESCING.defaults()
    assert name_of(COALESCING, base | {"stride": 32}, base) == "Stride 32"
    assert "7" in name_of(COALESCING, base | {"stride": 7}, base)


def test_two_variants_of_one_preset_are_named_by_what_differs() -> None:
    values = COALESCING.defaults()
    more = {**values, "blocks": 128}
    assert name_of(COALESCING, values, more) == "blocks 64"
    assert name_of(COALESCING, more, values) == "blocks 128"


def test_what_a_lesson_begins_with_has_a_short_name_and_values_are_named_as_knobs_do() -> None:
    one = lesson("ilp-tlp")
    slides = {**one.defaults(), **one.presets[0].values}
    assert name_of(one, one.defaults(), slides) == "as the lesson begins"
    other = {**one.defaults(), "sm": "G80", "latency": 400}
    knob = next(p for p in one.parameters if p.id == "sm")
    assert knob.shown("G80") != "G80" and knob.shown("G80") in name_of(one, other, one.defaults())


def test_a_long_name_stays_in_its_half(both: tuple[Story, Story, Story]) -> None:
    a, b, _ = both
    frame = beside(a, b, "A name", "A name " * 20).frame(0.0, STAGE)
    (label,) = [m for m in frame.marks if isinstance(m, Texts) and m.strings[0].startswith("B · ")]
    room = STAGE.width - float(label.at[0, 0])
    assert text_width(label.strings[0], label.size, True) < room


def test_counts_begin_with_what_each_side_is_about() -> None:
    one = lesson("reduction")
    values = [{**one.defaults(), **preset.values} for preset in one.presets[:2]]
    told = showing(
        tuple(Variant(one, each, "sm_90", "ptx") for each in values),
        tuple(performed(one, each) for each in values),
    )
    views = views_of(told)
    assert views[0].runs == ("A interleaved", "B packed") and views[0].ratio
    assert views[1].title == "interleaved: A | B"
