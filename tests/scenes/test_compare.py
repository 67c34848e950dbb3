"""Two variants side by side: one clock, every mark in its own half."""

import numpy as np
import pytest

from gpuviz.draw.marks import Boxes, Frame, Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.scenes import lesson
from gpuviz.scenes.base import Story
from gpuviz.scenes.compare import beside, name_of
from tests.scenes.performed import performed

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
    assert pair.duration == max(a.duration, b.duration)
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


def test_the_shorter_story_waits_at_its_end(both: tuple[Story, Story, Story]) -> None:
    a, b, pair = both
    short = a if a.duration < b.duration else b
    assert short.duration < pair.duration
    late, end = (pair.frame(t, STAGE) for t in (short.duration, pair.duration))
    side = (lambda x: x < STAGE.width / 2) if short is a else (lambda x: x >= STAGE.width / 2)
    assert [w for w in words(late) if side(w[0])] == [w for w in words(end) if side(w[0])]


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
