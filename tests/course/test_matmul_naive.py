from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from gpuviz.compile import nvrtc
from gpuviz.course.together.matmul_common.block import Multiplication, multiplication, naive_moments
from gpuviz.course.together.matmul_common.panels import access_table
from gpuviz.course.together.matmul_common.reads import costs
from gpuviz.course.together.matmul_common.sizes import sizes_of
from gpuviz.course.together.matmul_naive.lesson import CARDS, LESSON, Ratios, expected_loads, ratios
from gpuviz.draw.layout import Rect
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.recordings.measurement import DeviceFacts, Measurement, Peaks, Timing
from gpuviz.run.run import Run
from gpuviz.story.lesson import Value
from gpuviz.story.perform import Performance, perform
from gpuviz.words.language import grouped
from tests.course import pictures

CASES: dict[str, dict[str, Value]] = {p.label: dict(p.values) for p in LESSON.presets} | {
    "guard lanes": {"rows": 5, "inner": 7, "columns": 3, "tile": 4, "block_y": 1, "fill": "rand"},
    "a guard lane followed": {"rows": 3, "columns": 3, "block_x": 1},
    "one element": {"rows": 1, "inner": 1, "columns": 1, "thread_x": 0},
    "large": {"rows": 64, "inner": 64, "columns": 64, "tile": 32, "block_y": 1},
}
cases = pytest.mark.parametrize("case", CASES)
pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")


@cache
def played(case: str) -> Performance:
    return perform(LESSON, CASES[case], level="ptx")


def values(case: str) -> dict[str, Value]:
    return {**LESSON.defaults(), **CASES[case]}


@cache
def about(case: str) -> Multiplication:
    runs = played(case).runs
    return multiplication(values(case), runs["naive"], runs["tiled"])


def rates(case: str) -> Ratios:
    return ratios(about(case), played(case).runs, CARDS[str(values(case)["card"])], 1024)


@cases
def test_both_kernels_compute_the_product(case: str) -> None:
    sizes = sizes_of(values(case))
    for run in played(case).runs.values():
        m, n, p = (np.asarray(run.outputs[x], np.float64).reshape(sizes.shape(x)) for x in "MNP")
        assert np.allclose(p, m @ n, rtol=sizes.inner * 2.0**-23)


@cases
def test_every_load_feeds_one_operation(case: str) -> None:
    made, sizes = rates(case), sizes_of(values(case))
    assert made.operations == made.loads == expected_loads(sizes)
    assert made.rows[0].ratio == 1
    assert f"{grouped(expected_loads(sizes))} elements" in played(case).story.expected
    if sizes.whole:
        assert made.rows[1].ratio == sizes.tile


def test_published_rates_come_from_the_ratios() -> None:
    naive, _, needed = rates("4 × 4, blocks of 2 × 2").rows
    assert (naive.rate, needed.ratio, needed.rate) == (250, 48, 12_000)
    assert naive.rate / needed.rate == pytest.approx(0.02, rel=0.05)
    tiled = rates("32 × 32, blocks of 16 × 16, 150 GB/s").rows[1]
    assert (tiled.ratio, tiled.rate) == (16, 600)
    assert rates("4 × 4, blocks of 2 × 2").said == "128 operations / 128 loads = 1"


def test_an_element_is_read_once_by_each_thread_of_its_row_or_column() -> None:
    shown = about("4 × 4, blocks of 2 × 2")
    assert shown.m.naive[-1].reshape(4, 4).tolist() == [[2] * 4] * 2 + [[0] * 4] * 2
    assert shown.n.naive[-1].reshape(4, 4).tolist() == [[2, 2, 0, 0]] * 4
    title = played("4 × 4, blocks of 2 × 2").story.title
    assert title == "One block makes 32 loads of only 16 floats"
    assert "none of them twice" in played("one element").story.title


@cases
def test_costs_of_the_steps_add_up_to_those_of_the_block(case: str) -> None:
    shown, sizes = about(case), sizes_of(values(case))
    made = costs(played(case).runs["naive"].trace, shown.arch, shown.number)
    table = made.by_step(sizes.inner)
    assert tuple(table.sum(axis=0)) == made.of(shown.naive.load)
    loading = (shown.naive.m.reshape(sizes.inner, -1) >= 0).any()
    assert (table[:, 0] >= 2 * loading).all()


def test_steps_name_their_load_and_its_sectors() -> None:
    steps = played("4 × 4, blocks of 2 × 2").story.steps
    source = played("4 × 4, blocks of 2 × 2").runs["naive"].trace.source.splitlines()
    assert steps[0].detail == "ld.global.f32 · 2 requests · 2 sectors"
    assert "sum += M[row" in source[steps[0].line - 1]
    assert "P[row * columns" in source[steps[-2].line - 1]


def test_moments_are_the_steps_of_the_loop() -> None:
    sizes = sizes_of({"rows": 4, "inner": 5, "columns": 4, "tile": 2})
    line = tuple(naive_moments(sizes))
    assert [m.step for m in line] == [0, 1, 2, 3, 4, -1, -1]
    assert [m.naive for m in line] == [0, 1, 2, 3, 4, 5, 5]
    assert [m.part for m in line[-2:]] == ["store", "result"]


@pytest.mark.parametrize("room", [(300, 200), (500, 120), (2000, 900)])
def test_a_window_shows_the_followed_thread_and_the_step(room: tuple[int, int]) -> None:
    shown, stage = about("8 × 8, blocks of 4 × 4"), Stage(700, 330, DARK)
    for moment in naive_moments(shown.sizes):
        table = access_table(shown, moment)
        window = table.window(stage, Rect(0, 0, *room))
        assert window is not None and 0 <= window.thread <= shown.watched
        assert shown.watched < window.thread + window.threads <= 16
        if moment.step >= 0:
            assert window.step <= moment.step < window.step + window.steps <= 8
    assert table.window(stage, Rect(0, 0, 2000, 900)) == (0, 16, 0, 8)
    assert table.window(stage, Rect(0, 0, 60, 200)) is None


@pytest.mark.parametrize("case", [*CASES][len(LESSON.presets) :])
@pictures.stages
def test_words_of_other_sizes_are_legible_and_apart(case: str, stage: str, qapp: object) -> None:
    pictures.check_text(played(case).story, stage)


def test_bad_combinations_are_explained() -> None:
    given = LESSON.defaults()
    assert "no block with x = 2" in LESSON.problem({**given, "block_x": 2})
    assert "no thread with y = 2" in LESSON.problem({**given, "thread_y": 2})
    for preset in LESSON.presets:
        assert LESSON.problem({**given, **preset.values}) == ""


def timed(microseconds: float) -> dict[str, Run]:
    """The runs as told where a GPU ran the naive kernel at 1024 x 1024 (times made up)."""
    device = DeviceFacts(0, "a GPU", "9.0", "", "", 132, 0, 0)
    peaks = Peaks(4e12, 60e12)
    found = Measurement("live", "", device, timing=Timing(np.array([microseconds])), peaks=peaks)
    runs = dict(played("4 × 4, blocks of 2 × 2").runs)
    companion = runs["naive"].companion
    assert companion is not None
    said = "1024 × 1024, blocks of 16 × 16, not of 2 × 2, loop over k unrolled"
    assert companion.size == said
    runs["naive"] = replace(runs["naive"], companion=replace(companion, measurement=found))
    return runs


def test_what_a_gpu_reached_is_of_the_size_people_run() -> None:
    for microseconds, rate in ((400.0, "5\u202f369"), (4000.0, "537")):
        story = LESSON.narrate(LESSON.defaults(), timed(microseconds))
        said = " ".join(pictures.words(pictures.frame(story, 1.0, "full")))
        reached = f"{rate} GFLOP/s at 1024 × 1024 on a GPU"
        assert f"{reached}; memory alone: 1\u202f000" in said


def test_the_documents_order_of_row_and_column_is_explained() -> None:
    story = played("4 × 4, blocks of 2 × 2").story
    said = pictures.words(pictures.frame(story, 0.0, "full"))
    assert "(x,y)" in said
    assert any("thread (1,0) · as (row, column): (0,1)" in text for text in said)
