from dataclasses import replace
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.base.errors import InputError
from gpuviz.compile import nvrtc
from gpuviz.course.together.matmul_common.block import Multiplication, moments, multiplication
from gpuviz.course.together.matmul_common.reads import tally, words
from gpuviz.course.together.matmul_common.sizes import Sizes, sizes_of
from gpuviz.course.together.matmul_tiled.lesson import (
    LESSON,
    PRESETS,
    Query,
    expected_loads,
    query_of,
)
from gpuviz.draw.hit import tip_at
from gpuviz.draw.marks import Boxes, Frame, Raster, Texts
from gpuviz.draw.palette import DARK, LIGHT
from gpuviz.draw.stage import Stage
from gpuviz.panels.time_bars import TimeBars
from gpuviz.recordings.measurement import DeviceFacts, Measurement, Timing
from gpuviz.run import emulated
from gpuviz.story.lesson import Plan, Value
from gpuviz.story.perform import Performance, job_of, perform
from gpuviz.words.language import grouped
from tests.course.pictures import misplaced

PRESET = {p.label: dict(p.values) for p in PRESETS}
GUARDED: dict[str, Value] = {
    **PRESET["10 × 3 times 3 × 5, tile 4"],
    "block_x": 1,
    "block_y": 2,
    "thread_x": 3,
}
SQUARE: dict[str, Value] = {"rows": 64, "inner": 64, "columns": 64}
CASES: dict[str, dict[str, Value]] = {
    **PRESET,
    "guard lanes": GUARDED,
    "random": {"fill": "rand", "rows": 5, "inner": 7, "columns": 3, "block_x": 1, "block_y": 1},
    "many tiles": {**SQUARE, "tile": 2, "block_x": 31, "block_y": 3},
    "large tiles": {**SQUARE, "tile": 32, "block_y": 1, "fill": "rand"},
    "one element": {"rows": 1, "inner": 1, "columns": 1, "tile": 2, "thread_x": 0},
    "thin": {"rows": 64, "inner": 1, "columns": 3, "tile": 4},
    "long": {"rows": 2, "inner": 64, "columns": 2, "tile": 4},
}
STAGES = {
    "small": Stage(760, 480, DARK),
    "window": Stage(1270, 700, LIGHT),
    "full": Stage(1920, 1080, DARK),
    "half": Stage(635, 700, DARK),
    "half of full": Stage(960, 1080, LIGHT),
    "half of small": Stage(380, 480, DARK),
    "least": Stage(420, 260, DARK),
    "1280 x 720": Stage(689, 321, DARK),
    "window of tests": Stage(700, 330, LIGHT),
    "1920 x 1080": Stage(1329, 681, DARK),
    "half of 1280 x 720": Stage(340, 321, LIGHT),
    "half of 1920 x 1080": Stage(660, 681, DARK),
    "presenter": Stage(1920, 1080, LIGHT, 1.5),
}
SHARES = (0.0, 0.07, 0.37, 0.6, 0.93, 1.0)

pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")
cases = pytest.mark.parametrize("case", CASES)


@cache
def played(case: str) -> Performance:
    return perform(LESSON, CASES[case], level="ptx")


def values(case: str) -> dict[str, Value]:
    return {**LESSON.defaults(), **CASES[case]}


@cache
def about(case: str) -> Multiplication:
    runs = played(case).runs
    return multiplication(values(case), runs["naive"], runs["tiled"])


def frame(case: str, share: float, stage: Stage = STAGES["small"]) -> Frame:
    story = played(case).story
    return story.frame(share * story.duration, stage)


def part(case: str, name: str, phase: int = 0, k: int = 0) -> float:
    """A time in the middle of some part."""
    steps = zip(moments(sizes_of(values(case))), played(case).story.steps, strict=True)
    found = next(s for m, s in steps if (m.part, m.phase) == (name, phase) and (m.k == k or not k))
    return (found.start + found.end) / 2


@cases
def test_both_kernels_compute_the_product(case: str) -> None:
    sizes = sizes_of(values(case))
    for run in played(case).runs.values():
        m, n, p = (
            np.asarray(run.outputs[name], np.float64).reshape(sizes.shape(name)) for name in "MNP"
        )
        assert np.allclose(p, m @ n, rtol=sizes.inner * 2.0**-23)


def test_ones_times_twos_is_the_published_six() -> None:
    product = played("10 × 3 times 3 × 5, tile 4").runs["tiled"].outputs["P"]
    assert product.shape == (50,) and (product == 6).all()


@cases
def test_loads_are_those_of_the_closed_form(case: str) -> None:
    sizes, runs = sizes_of(values(case)), played(case).runs
    loads = {role: run.counts.totals["global_load_bytes"] // 4 for role, run in runs.items()}
    assert (loads["naive"], loads["tiled"]) == expected_loads(sizes)
    if sizes.whole:
        assert loads["naive"] == loads["tiled"] * sizes.tile
    assert f"{grouped(loads['tiled'])} with tiles" in played(case).story.expected
    assert f"{grouped(loads['naive'])} elements" in played(case).story.expected


@cases
def test_an_element_is_loaded_once_and_then_shared(case: str) -> None:
    shown = about(case)
    sizes, (bx, by) = shown.sizes, shown.block
    wide = min(sizes.tile, sizes.columns - bx * sizes.tile)
    high = min(sizes.tile, sizes.rows - by * sizes.tile)
    for operand, threads, rows, columns in (
        (shown.m, wide, slice(by * sizes.tile, by * sizes.tile + high), slice(None)),
        (shown.n, high, slice(None), slice(bx * sizes.tile, bx * sizes.tile + wide)),
    ):
        needed = np.zeros(operand.shape, np.int64)
        needed[rows, columns] = 1
        assert np.array_equal(operand.tiled[-1], needed.ravel())
        assert np.array_equal(operand.naive[-1], needed.ravel() * threads)
        assert (operand.shared[:, -1] == sizes.tile).all()


@cases
def test_tiles_hold_what_the_threads_need(case: str) -> None:
    shown = about(case)
    tile = shown.sizes.tile
    for phase in range(shown.sizes.phases):
        for operand in (shown.m, shown.n):
            row, column = np.divmod(np.arange(tile * tile), tile) + operand.origin[phase][:, None]
            inside = (row < operand.shape[0]) & (column < operand.shape[1])
            wanted = np.where(inside, row * operand.shape[1] + column, -1)
            assert np.array_equal(operand.held[phase], wanted)
            read = operand.held[phase][operand.tile.reads[phase]]  # (k, T)
            steps = range(phase * tile, min((phase + 1) * tile, shown.sizes.inner))
            for k, step in enumerate(steps):
                busy = ~shown.guards
                assert np.array_equal(read[k][busy], operand.naive_reads[step][busy])


def test_the_documents_table_of_the_4_x_4_example() -> None:
    shown = about("4 × 4, tile 2")
    assert shown.naive.m.T.tolist() == [[0, 1, 2, 3], [0, 1, 2, 3], [4, 5, 6, 7], [4, 5, 6, 7]]
    assert shown.naive.n.T.tolist() == [[0, 4, 8, 12], [1, 5, 9, 13]] * 2
    assert shown.m.repeats[0].tolist() == [0, 1, 0, 1]
    assert shown.n.repeats[0].tolist() == [0, 0, 1, 1]
    texts = [
        s for m in frame("4 × 4, tile 2", 0.5).marks if isinstance(m, Texts) for s in m.strings
    ]
    assert texts.count("M1,2") == texts.count("N2,1") == 2
    assert {"k = 0", "k = 3", "(0,1)"} <= set(texts)


def test_guard_lanes_load_nothing_and_put_zeros() -> None:
    shown = about("guard lanes")
    assert shown.guards.sum() == 14 and (shown.tiled.stored >= 0).sum() == 2
    assert (shown.m.held[0] < 0).sum() == 16 - 2 * 3
    assert (shown.n.held[0] < 0).sum() == 16 - 3 * 1
    assert shown.element == -1
    story = played("guard lanes").story
    hatched = [
        len(m.rect)
        for m in story.frame(part("guard lanes", "multiply"), STAGES["full"]).marks
        if isinstance(m, Boxes) and m.hatch is not None
    ]
    # In M, Ms; N, Ns; P, threads, the access table.
    assert sorted(n for n in hatched if n > 1) == [10, 10, 13, 13, 14, 14, 3 * 14]
    said = [
        s
        for m in story.frame(part("guard lanes", "store"), STAGES["full"]).marks
        if isinstance(m, Texts)
        for s in m.strings
    ]
    assert "thread (3,1) is a guard lane" in said


@cases
def test_the_followed_sum_ends_at_what_is_stored(case: str) -> None:
    shown = about(case)
    if shown.element < 0:
        assert not shown.sums.any()
        return
    stored = shown.product.ravel()[shown.element]
    assert shown.sums[-1] == pytest.approx(stored, rel=1e-5)


def test_costs_of_a_single_block_are_the_totals() -> None:
    runs = perform(LESSON, {"tile": 4}, level="ptx").runs
    shown = multiplication({**LESSON.defaults(), "tile": 4}, runs["naive"], runs["tiled"])
    totals = runs["tiled"].counts.totals
    loads = [shown.costs.of(o.tile.load) for o in (shown.m, shown.n)]
    assert sum(c for _, c in loads) == totals["global_load_sectors"]
    reads = shown.costs.of(shown.tiled.read, 0)
    assert reads == (totals["shared_load_requests"], totals["shared_load_wavefronts"])


@cases
def test_steps_follow_each_other_and_name_their_line(case: str) -> None:
    story, source = played(case).story, played(case).runs["tiled"].trace.source.splitlines()
    texts = {
        "load M": "Ms[ty][tx] =",
        "load N": "Ns[ty][tx] =",
        "barrier": "__syncthreads",
        "multiply": "sum +=",
        "store": "P[row * columns",
    }
    assert story.steps[0].start == 0 and 8 <= story.steps[-1].start <= 25
    for one, following in zip(story.steps[:-1], story.steps[1:], strict=True):
        assert one.start < one.end == following.start
        if one.kind == "result":
            continue
        key = "multiply" if one.kind == "compute" else one.label
        assert texts[key] in source[one.line - 1]
    sizes = sizes_of(values(case))
    assert sum(s.kind == "compute" for s in story.steps) == sizes.phases * sizes.tile
    barriers = [s.line for s in story.steps if s.kind == "barrier"]
    assert barriers[0] < barriers[1] and len(barriers) == 2 * sizes.phases


def test_details_count_requests_and_sectors() -> None:
    steps = played("4 × 4, tile 2").story.steps
    assert steps[0].detail == "ld.global.f32 · 1 request · 1 sector"
    assert steps[-3].detail == "st.global.f32 · 1 request · 1 sector"
    assert steps[-2].detail == "global loads · 2 × fewer"
    loads = played("16 × 16, tile 8").story.steps[0]
    assert loads.detail == "ld.global.f32 · 2 requests · 8 sectors"


def test_times_of_tiles_of_other_widths_stand_beside_where_they_are_known() -> None:
    device = DeviceFacts(0, "NVIDIA X", "9.0", "", "", 1, 1, 1)

    def measured(plan: Plan) -> Measurement | None:
        timing = Timing(np.array([100.0 * plan.block[0]]))
        there = plan.block[0] >= 16  # nobody has timed tiles of 8 x 8
        return Measurement("recorded", "2026-01-01", device, timing=timing) if there else None

    made = perform(LESSON, CASES["4 × 4, tile 2"], level="ptx", measured=measured)
    assert [one is not None for one in made.runs["tiled"].others] == [False, True, True]
    assert made.story.at is not None
    shown = made.story.at(made.story.duration).body
    assert isinstance(shown, TimeBars) and shown.now == 2
    names = [bar.names[0] for bar in shown.bars]
    assert names == ["naive", *(f"tiles of {n} × {n}" for n in (8, 16, 32))]
    assert [bar.us for bar in shown.bars[1:]] == [None, 1600.0, 3200.0]


@pytest.mark.parametrize(
    "threads, shared, width", [(1024, 49152, 32), (512, 16384, 16), (1024, 4096, 16), (64, 64, 2)]
)
def test_the_width_of_tiles_follows_the_device(threads: int, shared: int, width: int) -> None:
    asked = Query("a GPU", "recorded", threads, shared)
    assert asked.width == width
    assert f"tiles of up to {width} × {width}, {8 * width**2}" in asked.said.replace("\u202f", "")
    facts = DeviceFacts(0, "NVIDIA X", "9.0", "", "", 1, 1, 1)
    known = replace(facts, limits={"maxThreadsPerBlock": threads, "sharedMemPerBlock": shared})
    found = query_of(Measurement("recorded", "2026-01-01", known), architecture("9.0"))
    assert (found.device, found.badge, found.width) == ("NVIDIA X", "recorded", width)
    modelled = query_of(None, architecture("1.0"))
    assert (modelled.threads, modelled.shared, modelled.badge) == (512, 16384, "model")


def test_wide_accesses_count_as_the_words_they_are_made_of() -> None:
    trace = played("8 × 8, tile 4").runs["naive"].trace
    plain = words(trace, 0)
    doubled = tuple(replace(i, width=8) for i in trace.instructions)
    wide = words(replace(trace, instructions=doubled), 0)
    assert len(wide.address) == 2 * len(plain.address)
    assert np.array_equal(wide.address[::2], plain.address)
    assert np.array_equal(wide.address[1::2], plain.address + 4)
    assert np.array_equal(wide.thread[1::2], plain.thread)


def test_a_block_that_was_not_recorded_is_named() -> None:
    with pytest.raises(InputError, match="block 3"):
        words(played("4 × 4, tile 2").runs["naive"].trace, 3)


def test_tally_counts_before_each_step() -> None:
    reads = np.array([[0, 0, 2], [-1, 2, 2]])
    assert tally(reads, 3).tolist() == [[0, 0, 0], [2, 0, 1], [2, 0, 3]]


def test_moments_are_the_parts_of_the_phases() -> None:
    line = tuple(moments(Sizes(4, 5, 4, 2)))
    assert [m.part for m in line[:7]] == [
        "load M",
        "load N",
        "loaded",
        "multiply",
        "multiply",
        "multiplied",
        "load M",
    ]
    assert line[-1].naive == 5 and max(m.step for m in line) == 4
    assert [m.tiles for m in line[:3]] == [(0, 0), (1, 0), (1, 1)]


def sized() -> list[object]:
    """Every case at every size; each of them once is for every run."""
    quick = {(case, [*STAGES][i % len(STAGES)]) for i, case in enumerate(CASES)}
    quick |= {([*CASES][i % len(CASES)], stage) for i, stage in enumerate(STAGES)}
    return [
        pytest.param(*pair, marks=[] if pair in quick else [pytest.mark.slow])
        for pair in product(CASES, STAGES)
    ]


@pytest.mark.parametrize("case, stage", sized())
def test_text_is_inside_the_frame_and_apart(case: str, stage: str, qapp: object) -> None:
    for share in SHARES:
        assert [*misplaced(frame(case, share, STAGES[stage]))] == [], f"at {share}"


@pytest.mark.parametrize("case, stage", sized())
def test_cells_and_letters_stay_inside_and_large_enough(case: str, stage: str) -> None:
    size = STAGES[stage]
    for share in SHARES:
        shown = frame(case, share, size)
        assert min(m.size for m in shown.marks if isinstance(m, Texts)) >= size.text(13)
        for mark in shown.marks:
            rect = mark.rect if isinstance(mark, Boxes) else np.zeros((0, 4))
            rect = np.array([mark.rect]) if isinstance(mark, Raster) else rect
            assert (rect[:, :2] >= 0).all() and (rect[:, 2:] >= 0).all()
            assert (rect[:, 0] + rect[:, 2] <= size.width + 1e-3).all()
            assert (rect[:, 1] + rect[:, 3] <= size.height + 1e-3).all()


@cases
def test_the_picture_stays_in_place_while_the_sentence_changes(case: str) -> None:
    places, story = set(), played(case).story
    block = story.steps[-1].start / story.duration  # afterwards there are tables
    for share in (one for one in SHARES if one < block):
        cells = next(
            m for m in frame(case, share, STAGES["half"]).marks if isinstance(m, Boxes | Raster)
        )
        places.add(tuple(np.ravel(cells.rect)[:2].tolist()))
    assert len(places) == 1


def _cell(shown: Frame, count: int, number: int, which: int = 0) -> tuple[float, float]:
    """The middle of a box of the which-th mark with so many boxes and hover texts."""
    marks = [m for m in shown.marks if isinstance(m, Boxes) and m.tip and len(m.rect) == count]
    x, y, width, height = marks[which].rect[number].tolist()
    return x + width / 2, y + height / 2


def test_hover_tells_element_reads_and_lanes() -> None:
    story = played("4 × 4, tile 2").story
    shown = story.frame(part("4 × 4, tile 2", "multiply", 0, 1), STAGES["small"])
    tip = tip_at(shown, *_cell(shown, 16, 4)) or ""
    assert tip.startswith("M[1][0] = 4\nread once so far by block (0,0)")
    assert "naive twice, tiled once" in tip and "loaded by thread (0,1), warp 0 lane 2" in tip
    slot = tip_at(shown, *_cell(shown, 4, 3)) or ""
    assert slot.startswith("Ms[1][1] = M[1][1]") and "read by threads (0,1), (1,1)" in slot
    thread = tip_at(shown, *_cell(shown, 4, 2, which=2)) or ""
    assert "lane 2" in thread and "computes P[1][0]" in thread


@cases
def test_every_cell_has_something_to_say(case: str) -> None:
    for share in SHARES:
        for mark in frame(case, share).marks:
            if isinstance(mark, Boxes) and mark.tip:
                assert all(mark.tip(i) for i in (0, len(mark.rect) // 2, len(mark.rect) - 1))
            if isinstance(mark, Raster) and mark.tip:
                rows, columns = mark.pixels.shape[:2]
                assert mark.tip(0, 0) and mark.tip(rows - 1, columns - 1)


def test_bad_combinations_are_explained() -> None:
    given = LESSON.defaults()
    assert LESSON.problem(given) == ""
    assert "no block with x = 2" in LESSON.problem({**given, "block_x": 2})
    assert "up to y = 1" in LESSON.problem({**given, "block_y": 9})
    assert "no thread with y = 2" in LESSON.problem({**given, "thread_y": 2})
    for preset in PRESETS:
        assert LESSON.problem({**given, **preset.values}) == ""
    with pytest.raises(InputError, match="whole number"):
        sizes_of({**given, "rows": "many"})


def test_titles_claim_what_the_counts_show() -> None:
    titles = {case: played(case).story.title for case in CASES}
    assert titles["8 × 8, tile 4"] == "Tiling divides global loads by the tile width: 4"
    partial = "Partial tiles share less: loads divided by 2.86, not by 4"
    assert titles["10 × 3 times 3 × 5, tile 4"] == partial
    assert titles["one element"].startswith("Partial tiles may share nothing")


def test_plans_watch_the_block_asked_for() -> None:
    plans = [p for p in played("guard lanes").plans if not p.companion_of]
    assert {p.role for p in plans} == {"tiled", "naive"}
    assert all(p.record == (5,) and p.grid == (2, 3, 1) for p in plans)
    assert [a.split("=")[0] for a in plans[0].arguments[:3]] == ["f32[30]", "f32[15]", "f32[50]"]


def test_pairs_of_presets_differ() -> None:
    for one, other in combinations(PRESETS, 2):
        assert one.label != other.label and one.values != other.values


@pytest.mark.parametrize("size", [(4, 4, 4, 2), (10, 3, 5, 4), (16, 16, 16, 8)])
def test_dynamic_shared_memory_tells_the_same_story(size: tuple[int, int, int, int]) -> None:
    rows, inner, columns, tile = size
    values = {"rows": rows, "inner": inner, "columns": columns, "tile": tile, "fill": "rand"}
    static, dynamic = (
        perform(LESSON, {**values, "shared": kind}, level="ptx") for kind in ("static", "dynamic")
    )
    run = dynamic.runs["tiled"]
    assert run.trace.launch.dynamic_shared == 8 * tile * tile
    np.testing.assert_array_equal(run.outputs["P"], static.runs["tiled"].outputs["P"])
    assert [(s.kind, s.start) for s in dynamic.story.steps] == [
        (s.kind, s.start) for s in static.story.steps
    ]
    for key in ("global_load_sectors", "shared_load_requests", "shared_store_requests"):
        assert run.counts.totals[key] == static.runs["tiled"].counts.totals[key]


@pytest.mark.slow
@pytest.mark.parametrize("tile, width", [(2, 16), (8, 8), (16, 16), (32, 32)])
@pytest.mark.parametrize("shared", ["static", "dynamic"])
def test_both_kernels_are_timed_in_blocks_as_people_run_them(
    tile: int, width: int, shared: str
) -> None:
    values = {**LESSON.defaults(), "rows": 64, "inner": 64, "columns": 64, "tile": tile}
    plans = {p.companion_of: p for p in LESSON.plan({**values, "shared": shared, "real": 256})}
    for role in ("tiled", "naive"):
        plan = plans[role]
        assert plan.block == (width, width, 1) and plan.grid == (256 // width, 256 // width, 1)
        unlike = f", not of {tile} × {tile}" if width != tile else ""
        blocks = f"256 × 256, blocks of {width} × {width}"
        assert plan.size == f"{blocks}{unlike}, loop over k unrolled"
    made = job_of(plans["tiled"], "sm_90")
    counts = emulated.run(made, architecture("9.0"), level="ptx").counts.totals
    assert counts["global_load_bytes"] == 4 * 2 * 256**3 // width
