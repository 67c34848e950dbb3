from types import SimpleNamespace

import numpy as np
import pytest

from gpuviz.compile import nvrtc
from gpuviz.course.organisation.hierarchy.block_to_warps import _kept
from gpuviz.course.organisation.hierarchy.lesson import LESSON, placement, threads_of
from gpuviz.draw.hit import tip_at
from gpuviz.draw.marks import Boxes
from gpuviz.recordings.measurement import DeviceFacts, Measurement, Placement
from gpuviz.run.run import Run
from gpuviz.story.perform import Performance
from tests.course import pictures
from tests.course.performed import performed

CASES = {p.label: dict(p.values) for p in LESSON.presets} | {
    "largest": {"block_x": 256, "block_y": 4, "grid_x": 8, "grid_y": 4, "grid_z": 2, "shown": 63},
    "planes": {"block_x": 5, "block_y": 3, "block_z": 8, "grid_z": 4, "shown": 23},
    "tall": {"block_x": 1, "block_y": 32, "block_z": 1},
    "one": {"block_x": 1, "block_y": 1, "grid_x": 1, "grid_y": 1, "shown": 0},
}
cases = pytest.mark.parametrize("case", CASES)
pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")


def played(case: str) -> Performance:
    given = {**LESSON.defaults(), **CASES[case]}
    if LESSON.problem(given):
        given["grid_x"] = given["grid_x"] // 2
    return performed(LESSON, given)


def run_of(case: str) -> Run:
    return played(case).runs["identify"]


@cases
def test_threads_write_what_the_rule_says(case: str) -> None:
    run = run_of(case)
    (bx, by, bz), blocks = run.trace.launch.block, run.trace.launch.blocks
    z, y, x = np.unravel_index(np.arange(bx * by * bz), (bz, by, bx))
    thread = np.tile(np.arange(bx * by * bz), blocks)
    index, number = (run.outputs[n].reshape(-1, 4) for n in ("index", "number"))
    block = np.repeat(np.arange(blocks), bx * by * bz)
    assert (index == np.stack([*(np.tile(a, blocks) for a in (x, y, z)), block], 1)).all()
    wanted = np.stack([thread, thread // 32, thread % 32, np.arange(len(thread))], 1)
    assert (number == wanted).all()


@cases
def test_counts_are_the_closed_form(case: str) -> None:
    run = run_of(case)
    warps = run.trace.launch.warps_per_block * run.trace.launch.blocks
    assert run.counts.totals["global_store_requests"] == 2 * warps
    assert f"{2 * warps} store requests" in played(case).story.expected


@cases
def test_each_lane_of_each_warp_is_either_a_thread_or_empty(case: str) -> None:
    seen = threads_of(run_of(case), int(played(case).plans[0].record[0]))
    assert len(seen.thread) + len(seen.empty) == 32 * seen.warps
    end = pictures.frame(played(case).story, 1.0)
    hatched = [m for m in end.marks if isinstance(m, Boxes) and m.hatch is not None]
    assert sum(len(m.rect) for m in hatched) == len(seen.empty)


@cases
def test_pictures_are_pure(case: str) -> None:
    pictures.check_purity(played(case).story)
    pictures.check_steps(played(case).story)


def test_a_partial_warp_is_told() -> None:
    story = played("2-D, 8 x 6").story
    assert story.title == "A block of 8 × 6 threads is cut into 2 warps, row by row"
    assert story.sentence.startswith("16 of 64 lanes have no thread")
    assert "row" not in played("1-D, 256 threads").story.title
    assert "plane by plane" in played("3-D, 4 x 4 x 4").story.title


def test_hover_tells_index_thread_warp_and_lane() -> None:
    shown = pictures.frame(played("2-D, 8 x 6").story, 1.0, "large")
    cells = next(m for m in shown.marks if isinstance(m, Boxes) and len(m.rect) == 48)
    x, y, width, height = cells.rect[19].tolist()
    assert tip_at(shown, x + width / 2, y + height / 2) == (
        "threadIdx (3, 2, 0) · thread 19\nwarp 0 · lane 19"
    )


def test_blocks_are_placed_only_where_that_was_measured() -> None:
    run = run_of("2-D, 8 x 6")
    assert placement(run) is None
    zeros, device = np.zeros(6, np.int64), DeviceFacts(0, "GPU", "9.0", "", "", 132, 0, 0)
    found = Placement(np.arange(6), np.array([0, 2, 4, 6, 8, 0]), zeros, zeros)
    measurement = Measurement("recorded", "2026-11-20", device, placement=found)
    known = {**vars(run), "measurement": measurement}
    measured = SimpleNamespace(**known)
    placed = placement(measured)
    assert placed is not None and placed.sm == {0: 0, 1: 2, 2: 4, 3: 6, 4: 8, 5: 0}
    story = LESSON.narrate(LESSON.defaults(), {"identify": measured})
    words = pictures.words(pictures.frame(story, 1.0, "large"))
    assert "SM 0: block 0 5" in words and "5 of 132 SMs · GPU" in words and "recorded" in words
    assert "unavailable" not in words
    plain = pictures.frame(played("2-D, 8 x 6").story, 1.0, "large")
    assert "unavailable" in pictures.words(plain)


def test_bad_combinations_are_explained() -> None:
    values = LESSON.defaults()
    assert LESSON.problem(values) == ""
    assert "1024" in LESSON.problem({**values, "block_x": 256, "block_y": 8})
    assert "no block 9" in LESSON.problem({**values, "shown": 9})
    assert "64" in LESSON.problem({**values, "grid_x": 8, "grid_y": 4, "grid_z": 4})


@pytest.mark.parametrize("fitting", range(1, 9))
def test_the_multiprocessor_of_the_block_shown_is_always_told(fitting: int) -> None:
    """It had been among those that an ellipsis stands for."""
    for home in range(6):
        kept = _kept(6, fitting, home)
        assert home in kept and kept == sorted(set(kept))
        assert len(kept) + (1 < fitting < 6) == min(fitting, 6)
