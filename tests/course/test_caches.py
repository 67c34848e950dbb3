"""What the lesson on caches says of its product, against arithmetic."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuviz.course import lesson
from gpuviz.course.together.caches.lesson import FROM_L2, Reads, apart, plan, reads_of
from gpuviz.course.together.caches.window import Window, window
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.panels.legend import ColorKey, Key
from gpuviz.recordings.measurement import CounterValue, DeviceFacts, Measurement
from gpuviz.story.lesson import Value
from gpuviz.timing.caches import lookups
from gpuviz.timing.traffic import LINE
from tests.course import pictures
from tests.course.performed import performed

SIDE = 256


def naive(**values: Value) -> Reads:
    one = lesson("caches")
    given = one.defaults() | values
    return reads_of(performed(one, given).runs["naive"], plan(given)[0].record)


def seen(reads: Reads) -> Window:
    found = lookups(reads.loads, reads.l1 // LINE)
    return window(reads.run.trace, reads.loads, found, 0, SIDE)


@pytest.mark.parametrize("across", [16, 8])
def test_a_large_l1_is_sent_what_a_block_reads_once(across: int) -> None:
    reads = naive(across=across)
    tall = 256 // across
    assert reads.l1 == 248 * 1024
    assert reads.missed == reads.blocks * (tall + across) * SIDE // 8
    assert reads.loads.sectors * reads.all == reads.asked * reads.blocks


@pytest.mark.slow
def test_l1_that_shared_memory_took_loses_what_it_was_sent() -> None:
    """At 512 x 512 eight blocks reside: of 256 rows of M each a line of 128 bytes, and L1 has 28 KB
    left."""
    few, many = (naive(size=512, across=8, taken=taken) for taken in (0, 27))
    assert many.l1 == 28 * 1024 and many.blocks == 8
    assert few.missed < 0.13 * few.loads.sectors < 0.8 * many.loads.sectors < many.missed


def test_a_sector_serves_eight_steps_and_all_warps_of_a_row() -> None:
    window = seen(naive())
    m, n = window.corners
    step = np.arange(window.moments) // window.warps
    brought = m.brought.any(axis=1)
    assert set(step[brought].tolist()) == {0, 8}
    assert (n.brought.any(axis=1) == (np.arange(window.moments) % window.warps == 0)).all()
    assert window.asked.tolist() == [4] * window.moments
    assert int(window.found.sum()) == window.moments * 4 - 16 * 2 - 16 * 2


def test_nothing_is_looked_up_where_loads_go_past_l1() -> None:
    story = performed(lesson("caches"), {}, "sm_61").story
    assert story.title == "Nothing is looked up in L1 here: every load goes to L2 or beyond"


def test_the_key_has_the_colours_of_the_cells() -> None:
    story = performed(lesson("caches"), {}).story
    shown = pictures.frame(story, 0.35, "large")
    cells = {tuple(c) for m in shown.marks if isinstance(m, Boxes) for c in np.atleast_2d(m.fill)}
    key = ColorKey((Key("in L1", "load", soft=0.62), Key("there", "good", soft=0.0)))
    stage = Stage(1270, 700, DARK)
    for mark in key.draw(stage, Rect(0, 0, 600, 40)):
        if isinstance(mark, Boxes):
            assert tuple(np.ravel(mark.fill)) in cells


def test_a_wide_stage_has_the_key_beside_larger_cells() -> None:
    """Below them it left a third of the stage empty."""
    story = performed(lesson("caches"), {}).story
    shown = story.frame(2.0, Stage(1300, 600, DARK))
    right = max(m.rect[:, 0].max() for m in shown.marks if isinstance(m, Boxes) and m.tip)
    assert right > 0.7 * 1300


@pytest.mark.parametrize(("times", "told"), [(1.1, 1.0), (9.0, 9.0), (0.5, 0.5)])
def test_a_count_that_the_model_misses_is_told_instead(times: float, told: float) -> None:
    """Lanes down a column: an H200 counted 9 times what the model lets L2 send."""
    reads = naive()
    sent = reads.whole(reads.missed) * times
    device = DeviceFacts(0, "NVIDIA H200", "9.0", "", "", 132, 0, 0)
    found = Measurement("recorded", "2026-11-22", device, {FROM_L2: CounterValue(sent)})
    counted = replace(reads, run=replace(reads.run, measurement=found))
    assert apart(counted) == pytest.approx(told, rel=1e-3)
    assert apart(reads) == 1.0
    older = replace(found, device=replace(device, capability="8.0"))
    assert apart(replace(reads, run=replace(reads.run, measurement=older))) == 1.0
