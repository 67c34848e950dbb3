"""The pictures of any kernel's run: legible, and what they say is what the trace says."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from typing import TypeVar

import numpy as np
import pytest

from gpuviz.compile import nvrtc
from gpuviz.draw.layout import Rect
from gpuviz.panels.grid import Grids
from gpuviz.panels.lanes_over_time import LanesOverTime
from gpuviz.panels.layout import panels
from gpuviz.panels.panel import GO, Panel
from gpuviz.story import perform as told
from gpuviz.story.kernel_launch import KernelLaunch
from gpuviz.story.lesson import Story
from gpuviz.story.own_kernel.phases import WarpPhases
from gpuviz.story.own_kernel.pictures import PICTURES
from gpuviz.story.own_kernel.story import lesson_of
from gpuviz.story.perform import perform
from tests.course import pictures
from tests.course.own_kernels import FAULTY, FILE, LAUNCHES, launch_of, shown

pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")
P = TypeVar("P", bound=Panel)
QUICK = ("sgemm", "histogram", "collatz")


def panel(story: Story, text: str, kind: type[P]) -> P:
    """The panel of a kind in the picture at the first moment that words find."""
    assert story.search is not None and story.at is not None
    (moment, *_) = story.search.find(text)
    return next(p for p in panels(story.at(float(moment)).body) if isinstance(p, kind))


@pytest.mark.parametrize("stage", ["window", pytest.param("large", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name",
    [
        n if n in QUICK else pytest.param(n, marks=pytest.mark.slow)
        for n in LAUNCHES
        if n not in FAULTY
    ],
)
@pytest.mark.parametrize("picture", PICTURES)
def test_pictures_are_legible(picture: str, name: str, stage: str) -> None:
    pictures.check_text(shown(name, picture=picture).story, stage)


def test_every_request_of_the_phases_shown_is_a_box() -> None:
    done = shown("sgemm", picture="phases")
    boxes = panel(done.story, "#6", WarpPhases)
    trace = done.runs["kernel"].trace
    rows = trace.of(block=0)
    some = rows.phase < len(boxes.phases)
    assert len(boxes.warp) == some.sum()
    assert [p.end - p.start for p in boxes.phases[:4]] == [4, 32, 4, 32]


def test_a_click_on_a_request_goes_to_it_in_its_warp() -> None:
    done = shown("sgemm", picture="phases")
    boxes, stage = panel(done.story, "#6", WarpPhases), pictures.STAGES["large"]
    area = Rect(0, 0, 900, 500)
    number = int(np.flatnonzero((boxes.warp == 3) & (boxes.start == 5))[0])
    x, y, wide, high = boxes._rects(boxes._plot(stage, area))[number].tolist()
    values = boxes.pick(stage, area, x + wide / 2, y + high / 2)
    assert values is not None and values["warp"] == 3
    other = shown("sgemm", picture="phases", warp=3).story
    again = panel(other, str(values[GO]), WarpPhases)
    assert (again.now, again.row) == (5, 3)


def test_warps_that_have_less_to_do_wait() -> None:
    story = shown("stencil", picture="phases").story
    boxes = panel(story, "#1", WarpPhases)
    per = np.bincount(boxes.warp[boxes.end <= boxes.phases[0].end])
    assert per.tolist() == [5, 2, 2, 2]
    assert story.at is not None and "waits" in story.at(0.0).sentence


def test_lanes_at_work_are_those_of_the_path() -> None:
    done = shown("collatz", picture="lanes")
    lanes = panel(done.story, "store", LanesOverTime)
    assert lanes.active.sum(axis=1).min() == 1
    assert lanes.active[-1].all() and 0 < lanes.now <= lanes.total
    before = panel(done.story, "load", LanesOverTime)
    assert before.now < 32 and before.active[0].all()


def test_the_picture_of_a_large_buffer_takes_no_more_memory_than_its_cells() -> None:
    given = "f32[512]=ones", "f32[2097152]=arange", "i32=512"
    launch = KernelLaunch(FILE, "stencil", "stencil", (4, 1, 1), (128, 1, 1), given)
    done = perform(lesson_of(launch), {"picture": "buffer"})
    assert done.story.at is not None
    tracemalloc.start()
    try:
        body = done.story.at(done.story.duration).body
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    (grids,) = (p for p in panels(body) if isinstance(p, Grids))
    writes, values = grids.grids
    assert "writes to" in writes.names[0] and "3 to 2.097e+06" in values.names[0]
    assert most < 8 << 20  # bytes; the buffer itself has them


def test_the_heat_of_a_buffer_is_how_often_the_block_touched_it() -> None:
    done = shown("sgemm", picture="buffer")
    reads, values = panel(done.story, "a", Grids).grids
    assert reads.heat is not None and (reads.rows, reads.columns) == (64, 64)
    heat = reads.heat.count.reshape(64, 64)
    assert (heat[:16] == 1).all() and (heat[16:] == 0).all()
    assert len(reads.own) == 32 and set(reads.own) <= set(range(128))
    assert reads.tip is not None and "by warps 0" in reads.tip(0)
    assert f"= {done.runs['kernel'].outputs['A'][5]:.6g}" in reads.tip(5)
    assert "0 to" in values.names[0] or "values of A" in values.names[0]


def test_the_heat_of_shared_memory_counts_words() -> None:
    reads, writes = panel(shown("histogram", picture="buffer").story, "shared", Grids).grids
    assert reads.heat is not None and writes.heat is not None
    assert reads.heat.count.sum() == 256 + 64
    assert writes.heat.count.sum() == 256 + 64


def test_occupancy_and_roofline_are_those_of_the_launch() -> None:
    full = shown("sgemm", picture="occupancy").story
    assert full.title == "8 blocks of 256 threads: 100 % of the warp slots"
    done = shown("transpose", picture="roofline")
    assert "no roofline" in done.story.title
    roof = shown("sgemm", picture="roofline").story
    # 2 n³ operations on two matrices, each read once; what is written stays in L2.
    n = 64
    assert roof.title.startswith("Only 16 blocks for 132 multiprocessors. Arithmetic allows ")
    assert f"{2 * n**3 / (4 * 2 * n**2):.3g} operations" in roof.title


def test_a_story_that_is_not_told_any_more_keeps_no_trace() -> None:
    """Each picture's own results had held the last four, or sixteen, of hundreds of megabytes."""
    one = lesson_of(launch_of("sgemm"))
    gone = []
    for picture in PICTURES:
        performance = perform(one, {"picture": picture})
        story, (run,) = performance.story, performance.runs.values()
        for share in (0.1, 0.5, 0.9):
            pictures.frame(story, share, "window")
        gone.append(weakref.ref(run.trace))
    told._KEPT.clear()
    del performance, story, run
    gc.collect()
    assert [ref() for ref in gone] == [None] * len(PICTURES)
