from functools import cache
from itertools import product

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.compile import nvrtc
from gpuviz.course.global_memory.matrix_layout.lesson import LESSON, _asked, expected_sectors
from gpuviz.draw.hit import tip_at
from gpuviz.draw.marks import Boxes
from gpuviz.memory.request import requests_of
from gpuviz.story.perform import Performance, perform
from tests.course import pictures

CASES = {p.label: dict(p.values) for p in LESSON.presets} | {
    "largest": {"each": "row", "rows": 64, "columns": 64},
    "wide": {"each": "column", "rows": 4, "columns": 64},
    "tall": {"each": "row", "rows": 64, "columns": 4},
}
cases = pytest.mark.parametrize("case", CASES)
pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")


@cache
def played(case: str, arch: str = "sm_90") -> Performance:
    return perform(LESSON, CASES[case], arch=arch)


def shape(case: str) -> tuple[int, int]:
    given = {**LESSON.defaults(), **CASES[case]}
    return int(given["rows"]), int(given["columns"])


@cases
def test_sums_are_those_of_the_matrix(case: str) -> None:
    rows, columns = shape(case)
    for each, axis in (("row", 1), ("column", 0)):
        run = played(case).runs[each]
        matrix = run.outputs["M"].reshape(rows, columns).astype(np.float64)
        assert run.outputs["sums"] == pytest.approx(matrix.sum(axis=axis), rel=1e-5)


@cases
def test_addresses_are_row_major(case: str) -> None:
    rows, columns = shape(case)
    for each in ("row", "column"):
        trace = played(case).runs[each].trace
        loads = [r for r in requests_of(trace, architecture("sm_90"), 0, 0) if r.name == "M"]
        assert len(loads) == (columns if each == "row" else rows)
        for k, load in enumerate(loads):
            lane = np.flatnonzero(load.active)
            row, column = (lane, k) if each == "row" else (k, lane)
            assert (load.address[lane] == 4 * (row * columns + column)).all()


@pytest.mark.parametrize(("rows", "columns"), list(product((4, 8, 16, 32, 64), repeat=2)))
def test_the_closed_form_is_what_is_counted(rows: int, columns: int) -> None:
    runs = perform(LESSON, {"rows": rows, "columns": columns}).runs
    for each, run in runs.items():
        loads = [r for r in requests_of(run.trace, architecture("sm_90"), 0, 0) if r.name == "M"]
        wanted = expected_sectors(each, rows, columns)
        assert {load.count for load in loads} == {wanted}
        warps = run.trace.launch.warps_per_block
        assert run.counts.totals["global_load_sectors"] == wanted * len(loads) * warps


def test_walking_down_columns_needs_an_eighth() -> None:
    runs = played("Each thread a row").runs
    rows, columns = (runs[each].counts.totals for each in ("row", "column"))
    assert rows["global_load_sectors"] == 8 * columns["global_load_sectors"] == 1024
    assert "32 sectors a load with a thread a row, 4" in played("Each thread a row").story.expected


@cases
def test_hatched_is_what_no_lane_asks_for(case: str) -> None:
    rows, columns = shape(case)
    story = played(case).story
    first = story.steps[0]
    shown = pictures.frame(story, 0.99 * first.end / story.duration, "large")
    trace = played(case).runs[str(played(case).plans[0].role)].trace
    load = requests_of(trace, architecture("sm_90"), 0, 0)[0]
    cells = next(m for m in shown.marks if isinstance(m, Boxes) and len(m.rect) == rows * columns)
    size = set(map(tuple, cells.rect[:, 2:].tolist()))
    hatched = [
        m
        for m in shown.marks
        if isinstance(m, Boxes)
        and m.hatch is not None
        and not m.tip
        and len(m.rect)
        and set(map(tuple, m.rect[:, 2:].tolist())) <= size
    ]
    assert sum(len(m.rect) for m in hatched) == (load.moved - load.used) // 4


@cases
@pictures.stages
def test_words_are_legible(case: str, stage: str, qapp: object) -> None:
    pictures.check_text(played(case).story, stage)


@pytest.mark.parametrize("arch", ["sm_11", "sm_13", "sm_20", "sm_30"])
def test_older_architectures_show_their_own_transactions(arch: str, qapp: object) -> None:
    story = played("Each thread a row", arch).story
    assert story.expected == ""
    pictures.check_text(story, "window")
    assert "sector" not in " ".join(pictures.words(pictures.frame(story, 0.5, "large")))


def test_steps_name_the_line_of_the_load() -> None:
    for case in ("Each thread a row", "Each thread a column"):
        performance = played(case)
        role = performance.plans[0].role
        text = performance.runs[role].trace.source.splitlines()
        steps = performance.story.steps
        assert all("sum += M[" in text[s.line - 1] for s in steps[:-2])
        assert f"sums[{role}] = sum" in text[steps[-2].line - 1]
        assert {s.role for s in steps} == {role}


def test_hover_tells_where_an_element_lies_and_who_reads_it() -> None:
    story = played("4 x 4, each thread a row").story
    shown = story.frame(pictures.before_the_end(story), pictures.STAGES["large"])
    cells = next(m for m in shown.marks if isinstance(m, Boxes) and len(m.rect) == 16)
    x, y, width, height = cells.rect[6].tolist()
    assert tip_at(shown, x + width / 2, y + height / 2) == (
        "M[1][2] · element 6 · byte 24\nread by lane 1 with request 2"
    )


def test_pieces_asked_for_again_are_counted_in_pieces_whatever_transactions_are() -> None:
    """On 1.1 a segment has 32, 64 or 128 bytes: nothing is divided by another size."""
    for arch, asked in (("sm_90", 1024), ("sm_11", 1024), ("sm_30", 1024)):
        run = played("Each thread a row", arch).runs["row"]
        found = _asked(run, "rows")
        assert (found.asked, found.distinct) == (asked, 128)
    along = _asked(played("Each thread a column", "sm_11").runs["column"], "columns")
    assert (along.asked, along.distinct) == (64, 128)  # segments of 64 bytes


def test_both_walks_are_timed_with_as_many_threads_and_floats_each() -> None:
    drawn, timed, other, beside = played("4 x 4, each thread a row").plans
    assert (drawn.size, timed.companion_of, beside.companion_of) == ("4 × 4", "row", "column")
    assert timed.size == beside.size == "262\u202f144 threads, 128 floats each"
    assert timed.grid == beside.grid == (1024, 1, 1) and timed.block == (256, 1, 1)
    assert timed.arguments[2:] == ("i32=262144", "i32=128")
    assert beside.arguments[2:] == ("i32=128", "i32=262144")
    assert other.role == "column"
