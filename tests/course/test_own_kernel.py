"""The story of any kernel: all that a block did, found by words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.base.errors import InputError
from gpuviz.compile import nvrtc
from gpuviz.story.own_kernel.events import ALL, events_of
from gpuviz.story.own_kernel.moment import steps_of
from gpuviz.story.own_kernel.story import search
from gpuviz.traces.trace import MemoryInstruction, Requests, Trace
from gpuviz.views.playback import Playback, stepped, told
from tests.course.own_kernels import shown

pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")


def words_at(name: str, text: str, **values: int | str | bool) -> list[str]:
    """What the steps that words find are, as their labels and lines."""
    story = shown(name, **values).story
    assert story.search is not None
    steps = [story.steps[story.step_at(t)] for t in story.search.find(text)]
    return [f"{step.label} {step.line}" for step in steps]


def test_no_request_is_left_out() -> None:
    performance = shown("sgemm")
    rows = performance.runs["kernel"].trace.of(block=0, warp=0)
    steps = performance.story.steps
    assert len(rows) > 100
    assert sum(step.kind != "barrier" for step in steps) == len(rows)
    assert sum(step.kind == "barrier" for step in steps) == 8


def test_all_warps_have_barriers_in_common() -> None:
    performance = shown("sgemm", every=True)
    steps = performance.story.steps
    assert sum(step.kind != "barrier" for step in steps) == len(
        performance.runs["kernel"].trace.of(block=0)
    )
    assert sum(step.kind == "barrier" for step in steps) == 8


def test_barriers_stand_on_their_lines() -> None:
    assert words_at("sgemm", "barrier")[:4] == ["barrier 18", "barrier 20"] * 2
    assert words_at("stencil", "barrier") == ["barrier 32"]


def test_words_narrow_each_other_down() -> None:
    assert set(words_at("sgemm", "line 16 load")) == {"load 16"}
    assert set(words_at("sgemm", "16 shared")) == {"shared store 16"}
    assert words_at("sgemm", "store c") == ["store 22"]
    assert words_at("sgemm", "#5") == ["barrier 18"]
    assert len(words_at("sgemm", "line 16 load turn 2")) == 1
    assert words_at("sgemm", "turn 2 store c") == []
    assert words_at("histogram", "atomic", warp=0) == ["atomic 7"]
    assert set(words_at("transpose", "conflict")) == {"shared load 56"}
    assert words_at("sgemm", "conflict") == []
    assert len(words_at("sgemm", "warp 3 barrier", every=True)) == 0


def test_what_cannot_be_looked_for_says_what_can() -> None:
    with pytest.raises(InputError, match="line 12.*A, B, C"):
        words_at("sgemm", "nonsense")


def test_stepping_stops_where_requests_are_served() -> None:
    story = shown("sgemm").story
    state = told(Playback(), story)
    for number in range(3):
        state = stepped(state, True)
        step = story.steps[number]
        assert step.start < state.t < step.end


def large(requests: int) -> Trace:
    """A warp that makes so many requests to shared memory."""
    trace = shown("sgemm").runs["kernel"].trace
    one = MemoryInstruction(0, 5, 5, "ld.shared.f32", "load", "shared", 4, "f32")
    number = np.arange(requests)
    rows = Requests(
        np.zeros(requests, np.int32),
        number,
        np.zeros(requests, np.int64),
        np.zeros(requests, np.int32),
        (number // 1000).astype(np.int32),
        np.full(requests, 0xFFFFFFFF, np.uint32),
        np.zeros((requests, 32), np.uint64),
    )
    return replace(trace, instructions=(one,), requests=rows, path=None)


def test_long_runs_make_no_step_that_is_not_looked_at() -> None:
    events = events_of(large(200_000), architecture("sm_90"), 0, ALL)
    steps = steps_of(events, "kernel")
    assert len(steps) == 200_000 + 199
    assert steps[100_100].kind == "shared" and steps[100_100] is steps[100_100]
    assert len(search(events, steps).find("barrier")) == 199
    assert steps[1000].kind == "barrier" and steps[1001].kind == "shared"
