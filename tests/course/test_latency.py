"""The lesson on latency: what is under way, what comes, and where no time is modelled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuviz.course import lesson
from gpuviz.course.together.latency.lesson import Chase, _measured
from gpuviz.recordings.measurement import DeviceFacts, Measurement, Peaks, Placement, Timing
from gpuviz.story.perform import Performance
from tests.course.performed import performed


def chase(made: Performance, warps: int, chains: int) -> Chase:
    run = made.runs[f"{warps} × {chains}"]
    assert run.timeline is not None
    return Chase(warps, chains, run.timeline, run)


@pytest.mark.machine_code
def test_more_warps_or_more_chains_have_more_under_way_at_one_latency() -> None:
    made = performed(lesson("latency"), {})
    one, eight, deep = (chase(made, *shape) for shape in ((1, 1), (8, 1), (4, 4)))
    assert 0.7 < one.under_way / 128 < 1.0 and one.waits(one.timeline.cycles) > 0.8
    assert eight.rate == pytest.approx(8 * one.rate, rel=0.1)
    assert eight.latency == pytest.approx(one.latency, rel=0.05)
    assert deep.rate > 2 * chase(made, 4, 1).rate
    assert len(one.timeline.events) < len(eight.timeline.events)


@pytest.mark.machine_code
def test_a_hop_is_told_by_the_blocks_own_timer_not_by_the_launch() -> None:
    run = performed(lesson("latency"), {}).runs["1 × 1"]
    hops = int(lesson("latency").defaults()["hops"])
    block, start = np.arange(3), np.array([0, 40, 80])
    lasted = np.array([290, 300, 900]) * hops
    device = DeviceFacts(0, "a GPU", "9.0", "", "", 132, 0, 0, clock_mhz=2000.0)
    found = Measurement(
        "recorded",
        "",
        device,
        timing=Timing(np.array([8.9])),
        placement=Placement(block, block, start, start + lasted),
        peaks=Peaks(1e12, 1e12, 3.5),
    )
    timed = replace(run, measurement=found)
    assert timed.timeline is not None
    one = Chase(1, 1, timed.timeline, timed)
    assert one.hop == pytest.approx(600)
    (said,) = _measured(one)
    assert said.texts[0].startswith("a GPU: 600 cycles a hop")
    assert "8.90\u202fµs, launch overhead: 3.50\u202fµs of it" in said.texts[0]
    assert replace(one, run=run).hop is None and _measured(replace(one, run=run)) == ()


def test_where_no_time_is_modelled_the_story_says_so() -> None:
    story = performed(lesson("latency"), {}, "sm_61").story
    assert story.sentence.startswith("No time is modelled of Pascal")
