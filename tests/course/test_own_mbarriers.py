"""What any kernel's warps do at mbarriers stands below its phases."""

from __future__ import annotations

import pytest

from gpuviz.base import resources
from gpuviz.compile import nvrtc
from gpuviz.panels.layout import panels
from gpuviz.panels.swimlanes import Swimlanes
from gpuviz.story.kernel_launch import KernelLaunch
from gpuviz.story.own_kernel.story import lesson_of
from gpuviz.story.perform import perform
from tests.course import pictures
from tests.course.own_kernels import shown

pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")


def test_phases_of_mbarriers_and_who_waits_are_shown_of_any_kernel() -> None:
    """Three stages, a producer (warp 2) and two consumers: the first of two pages of 40 turns."""
    file = resources.path("kernels/producer_consumer.cu")
    arguments = ("f32[2048]=rand", "f32[256]=zeros", "i32=8")
    launch = KernelLaunch(file, "sum", "sum", (1, 1, 1), (96, 1, 1), arguments, 3072)
    story = perform(lesson_of(launch), {"picture": "phases"}, level="ptx").story
    pictures.check_text(story, "window")
    assert story.at is not None and story.search is not None

    def lanes(text: str) -> Swimlanes:
        (moment, *_) = story.search.find(text)  # type: ignore[union-attr]
        found = panels(story.at(float(moment)).body)  # type: ignore[misc]
        return next(one for one in found if isinstance(one, Swimlanes))

    first, last = lanes("#2"), lanes("#9")
    offsets = tuple(f"{8 * n:#x}" for n in range(6))
    assert first.names == (*offsets, "warp 0", "warp 1", "warp 2")
    phases = [bar.names[0] for bar in first.bars if bar.row == 0]
    assert phases[:2] == ["phase 0, parity 0", "phase 1, parity 1"]
    waits = [bar for bar in first.bars if bar.ink == "barrier"]
    assert {first.names[bar.row] for bar in waits} == {"warp 0", "warp 1", "warp 2"}
    copies = [first.names[bar.row] for bar in (*first.bars, *last.bars) if bar.ink == "load"]
    assert copies == ["warp 2"] * 8
    assert 0 < first.now < first.bars[-1].end and last.now <= last.bars[-1].end


def test_a_kernel_without_mbarriers_shows_none() -> None:
    story = shown("sgemm", picture="phases").story
    assert story.at is not None
    assert not any(isinstance(one, Swimlanes) for one in panels(story.at(0.0).body))
