"""The lesson on latency: what is under way, what comes, and where no time is modelled."""

from __future__ import annotations

import pytest

from gpuviz.scenes import lesson
from gpuviz.scenes.latency import Chase
from gpuviz.scenes.perform import Performance
from tests.scenes.performed import performed


def chase(made: Performance, warps: int, chains: int) -> Chase:
    run = made.runs[f"{warps} × {chains}"]
    assert run.timeline is not None
    return Chase(warps, chains, run.timeline, run)


def test_more_warps_or_more_chains_have_more_under_way_at_one_latency() -> None:
    made = performed(lesson("latency"), {})
    one, eight, deep = (chase(made, *shape) for shape in ((1, 1), (8, 1), (4, 4)))
    assert 0.7 < one.under_way / 128 < 1.0 and one.waits > 0.8
    assert eight.rate == pytest.approx(8 * one.rate, rel=0.1)
    assert eight.latency == pytest.approx(one.latency, rel=0.05)
    assert deep.rate > 2 * chase(made, 4, 1).rate
    assert len(one.timeline.events) < len(eight.timeline.events)


def test_where_no_time_is_modelled_the_story_says_so() -> None:
    story = performed(lesson("latency"), {}, "sm_61").story
    assert story.sentence.startswith("No time is modelled of Pascal")
