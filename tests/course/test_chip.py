"""A launch on the chip: where blocks go, when, and the camera's way to one address."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gpuviz.compile import nvrtc
from gpuviz.course.organisation.chip.floor import DEPTHS, _apart, by_rule, placed_of
from gpuviz.course.organisation.chip.lesson import LESSON, plan
from gpuviz.course.organisation.launch_attempt import FMA
from gpuviz.course.organisation.launch_attempt import plan as limits
from gpuviz.course.organisation.launch_limits.lesson import LESSON as LIMITS
from gpuviz.course.organisation.launch_limits.lesson import PRESETS as LIMIT_PRESETS
from gpuviz.draw.marks import Boxes
from gpuviz.recordings.measurement import DeviceFacts, Measurement, Placement, slots_of
from gpuviz.story.perform import Performance
from tests.course import pictures
from tests.course.performed import performed

SMALL = {"elements": 1 << 18, "threads": 128, "shown": 700, "lane": 9}
pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")


def played() -> Performance:
    return performed(LESSON, SMALL)


def test_the_rule_deals_blocks_in_turn_and_never_two_to_a_slot() -> None:
    found = by_rule(100, 3, 8)
    assert found.sm[:9].tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 0]
    places = set(zip(found.start.tolist(), found.sm.tolist(), found.slot.tolist(), strict=True))
    assert len(places) == 100 and found.slot.max() == 2
    assert found.resident(0.5) == 24 and found.left(1.0) == 24 and found.last == 5
    assert not found.measured and "nobody has noted" in found.sources[0]


def test_blocks_that_overlap_have_slots_of_their_own() -> None:
    start, end = np.array([0, 0, 5, 10, 4]), np.array([10, 5, 9, 12, 6])
    slot = slots_of(Placement(np.arange(5), np.array([0, 0, 0, 0, 1]), start, end))
    assert slot.tolist() == [0, 1, 1, 0, 0]
    rng = np.random.default_rng(3)
    begun = rng.integers(0, 500, 200)
    many = Placement(
        np.arange(200), rng.integers(0, 4, 200), begun, begun + rng.integers(1, 50, 200)
    )
    slot = slots_of(many)
    for a in range(200):
        same = (many.sm == many.sm[a]) & (slot == slot[a]) & (np.arange(200) != a)
        meet = (many.start_ns < many.end_ns[a]) & (many.end_ns > many.start_ns[a])
        assert not (same & meet).any()


def test_what_a_gpu_noted_is_shown_with_its_name() -> None:
    run = played().runs["fma4"]
    blocks = run.trace.launch.blocks
    number = np.random.default_rng(1).permutation(blocks)
    start = 40 * (number // 64)
    device = DeviceFacts(0, "a GPU", "9.0", "", "", 64, 0, 0)
    noted = Placement(number, number % 64, start, start + 40)
    found = Measurement("recorded", "2026-11-22", device, placement=noted)
    known = {**vars(run), "measurement": found, "companion": None}
    placed = placed_of(SimpleNamespace(**known), 16, 132)
    assert placed.measured and placed.sms == 64 and placed.slots == 1
    assert np.array_equal(placed.sm, np.arange(blocks) % 64)
    story = LESSON.narrate({**LESSON.defaults(), **SMALL}, {"fma4": SimpleNamespace(**known)})
    shown = " ".join(pictures.words(pictures.frame(story, 1.0, "full")))
    assert "recorded" in shown and "a GPU" in shown and "µs since the first began" in shown
    assert "usual rule" not in story.sentence


def test_without_a_gpu_the_rule_is_named_as_such() -> None:
    shown = " ".join(pictures.words(pictures.frame(played().story, 0.12, "full")))
    assert "Dealt in turn by the usual rule" in shown and "recorded" not in shown
    assert "µs" not in shown


def test_every_block_passes_once() -> None:
    story = played().story
    shown = " ".join(pictures.words(pictures.frame(story, 1.0, "full")))
    assert "0 blocks here" in shown and "2\u202f048 of 2\u202f048 done" in shown


def test_the_camera_ends_at_the_element_that_the_lane_loads() -> None:
    story = played().story
    address = next(s for s in story.steps if s.label == "one address")
    element = 700 * 128 + 9
    assert address.detail.replace("\u202f", "") == f"a[{element}]"
    frame = story.frame((address.start + address.end) / 2, pictures.STAGES["full"])
    words = {text.replace("\u202f", "") for text in pictures.words(frame)}
    assert f"a[{element}]" in words and "9" in words
    assert sum(step.kind == "load" for step in story.steps) == DEPTHS + 1


def test_nothing_is_painted_outside_the_stage() -> None:
    story, stage = played().story, pictures.STAGES["large"]
    for share in np.linspace(0, 1, 40):
        for mark in story.frame(share * story.duration, stage).marks:
            if isinstance(mark, Boxes) and len(mark.rect) and mark.tip:
                high = mark.rect[:, :2] + mark.rect[:, 2:]
                assert (mark.rect[:, :2] >= -1).all()
                assert (high <= (stage.width + 1, stage.height + 1)).all()


def test_the_launch_is_that_of_the_lesson_on_limits() -> None:
    fine = {**LIMITS.defaults(), **LIMIT_PRESETS[1].values}
    there = next(p for p in limits(fine) if p.role == FMA)
    (here,) = plan(LESSON.defaults())
    names = ("kernel", "entry", "grid", "block", "arguments", "defines", "dynamic_shared")
    assert [getattr(here, n) for n in names] == [getattr(there, n) for n in names]


def test_a_block_there_is_not_is_the_last() -> None:
    """Who chose fewer blocks was refused until another block was chosen, too."""
    fewer = {"elements": 1 << 20, "threads": 1024}
    (launch,) = plan({**LESSON.defaults(), **fewer})
    assert launch.grid == (1, 1024, 1) and launch.record == (1023,)
    story = performed(LESSON, {**SMALL, "shown": 3000}).story
    assert any(
        "block 2\u202f047" in words.lower()
        for words in pictures.words(pictures.frame(story, 0.3, "large"))
    )


def test_more_blocks_than_go_along_y_lie_beside_each_other() -> None:
    """It was a grid of 1 x 65,536, which no device accepts."""
    (launch,) = plan({**LESSON.defaults(), "threads": 64})
    assert launch.grid == (2, 32768, 1) and launch.record == (20000,)


def test_the_last_picture_says_what_each_multiprocessor_has_run() -> None:
    """It was a plan of empty boxes."""
    words = pictures.words(pictures.frame(played().story, 1.0, "large"))
    assert any("All blocks are done" in word for word in words)
    blocks = SMALL["elements"] // SMALL["threads"]
    assert sum(int(word) for word in words if word.isdigit()) == blocks


def test_small_blocks_all_stand_apart() -> None:
    """Gaps of a part of a pixel had been seen between some columns and not between others."""
    x, y = np.meshgrid(np.arange(8) * 7.7 + 3.3, np.arange(4) * 3.8 + 1.1)
    places = np.stack([x.ravel(), y.ravel(), np.full(32, 6.93), np.full(32, 3.42)], axis=1)
    made = _apart(places.astype(np.float32)).reshape(4, 8, 4)
    assert (made == np.round(made)).all() and made[..., 2:].min() >= 2
    assert (made[:, 1:, 0] - made[:, :-1, 0] - made[:, :-1, 2] == 1).all()
    assert (made[1:, :, 1] - made[:-1, :, 1] - made[:-1, :, 3] == 1).all()
