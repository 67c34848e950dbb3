from functools import cache

import numpy as np
import pytest

from gpuviz.compile import nvrtc
from gpuviz.course.together.matmul_boundary.lesson import LESSON
from gpuviz.course.together.matmul_common.block import Multiplication, multiplication
from gpuviz.course.together.matmul_common.panels import dropped
from gpuviz.course.together.matmul_common.results import outcome
from gpuviz.course.together.matmul_common.sizes import sizes_of
from gpuviz.draw.hit import tip_at
from gpuviz.draw.marks import Boxes, Frame, Texts
from gpuviz.story.lesson import Value
from gpuviz.story.perform import Performance, perform
from tests.course import pictures

CASES: dict[str, dict[str, Value]] = {p.label: dict(p.values) for p in LESSON.presets} | {
    "random": {
        "rows": 5,
        "inner": 7,
        "columns": 6,
        "block_x": 1,
        "block_y": 2,
        "fill": "rand",
        "thread_x": 0,
    },
    "large": {"rows": 40, "inner": 35, "columns": 33, "tile": 16, "fill": "rand"},
    "a guard lane followed": {"block_x": 1, "block_y": 1, "thread_x": 1},
}
cases = pytest.mark.parametrize("case", CASES)
pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")
PUBLISHED = "10 × 3 times 3 × 5, tile 2"


@cache
def played(case: str) -> Performance:
    return perform(LESSON, CASES[case], level="ptx")


def values(case: str) -> dict[str, Value]:
    return {**LESSON.defaults(), **CASES[case]}


def about(case: str, role: str) -> Multiplication:
    runs = played(case).runs
    return multiplication(values(case), runs["naive"], runs[role])


def frame(case: str, share: float) -> Frame:
    return pictures.frame(played(case).story, share, "large")


@cases
def test_rounding_down_leaves_out_the_last_columns_of_m(case: str) -> None:
    sizes = sizes_of(values(case))
    kept = sizes.inner // sizes.tile * sizes.tile
    for role, end in (("rounded down", kept), ("rounded up", sizes.inner), ("naive", sizes.inner)):
        outputs = played(case).runs[role].outputs
        m, n, p = (np.asarray(outputs[x], np.float64).reshape(sizes.shape(x)) for x in "MNP")
        assert np.allclose(p, m[:, :end] @ n[:end], rtol=sizes.inner * 2.0**-23)


def test_the_published_six_is_four_without_the_last_tile() -> None:
    runs = played(PUBLISHED).runs
    assert (runs["rounded down"].outputs["P"] == 4).all()
    assert (runs["rounded up"].outputs["P"] == 6).all()
    assert "every element is 6" in played(PUBLISHED).story.expected
    assert "phase count 1 rounded down, 2 rounded up" in played(PUBLISHED).story.expected


@cases
def test_wrong_elements_are_those_that_differ(case: str) -> None:
    sizes, runs = sizes_of(values(case)), played(case).runs
    m, n, right, wrong = (
        np.asarray(runs[role].outputs[x], np.float64).reshape(sizes.shape(x))
        for role, x in (("naive", "M"), ("naive", "N"), ("naive", "P"), ("rounded down", "P"))
    )
    assert not outcome(("",), right, m, n).count
    made = outcome(("",), wrong, m, n)
    assert np.array_equal(made.wrong, np.abs(wrong - right) > 1e-4 * np.abs(right))
    assert (made.count == 0) == (sizes.inner % sizes.tile == 0)
    assert (made.said in played(case).story.title) == bool(made.count)


@cases
def test_elements_never_loaded_are_those_of_the_dropped_tile(case: str) -> None:
    sizes, down = sizes_of(values(case)), about(case, "rounded down")
    kept = sizes.inner // sizes.tile * sizes.tile
    assert down.phases == sizes.inner // sizes.tile
    columns = dropped(down.m) % down.m.padded[1]
    assert set(columns.tolist()) == set(range(kept, sizes.inner))
    rows = dropped(down.n) // down.n.padded[1]
    assert set(rows.tolist()) == set(range(kept, sizes.inner))
    up = about(case, "rounded up")
    assert up.phases == sizes.phases and not len(dropped(up.m))


def test_the_second_act_tells_only_what_is_new() -> None:
    steps = played("3 × 3, tile 2").story.steps
    labels = [(s.role, s.label) for s in steps if s.kind in ("load", "result")]
    assert labels == [
        ("rounded down", "load M"),
        ("rounded down", "load N"),
        ("rounded down", "compare"),
        ("rounded up", "load M"),
        ("rounded up", "load N"),
        ("rounded up", "compare"),
        ("rounded down", "result"),
    ]
    source = played("3 × 3, tile 2").runs["rounded down"].trace.source.splitlines()
    assert "Ms[ty][tx] =" in source[steps[0].line - 1]
    assert steps[-2].detail == "rounded up: none wrong"
    fits = played("4 × 4, tile 2: nothing to drop").story
    assert {s.role for s in fits.steps} == {"rounded down"}
    assert fits.title.startswith("The tiles fit")


def test_skipped_phases_and_wrong_elements_are_hatched() -> None:
    shown = frame("3 × 3, tile 2", 0.0)
    hatched = [len(m.rect) for m in shown.marks if isinstance(m, Boxes) and m.hatch is not None]
    assert hatched.count(4) == 1  # the parts of the second phase
    shown = frame("3 × 3, tile 2", 0.45)
    hatched = [len(m.rect) for m in shown.marks if isinstance(m, Boxes) and m.hatch is not None]
    assert 9 in hatched and hatched.count(2) == 2
    said = [s for m in shown.marks if isinstance(m, Texts) for s in m.strings]
    assert {"9 of 9 wrong", "rounded up"} <= set(said)
    panel = next(
        m
        for m in shown.marks
        if isinstance(m, Boxes) and m.tip and len(m.rect) == 9 and "rounded down" in m.tip(0)
    )
    x, y, width, height = panel.rect[4].tolist()
    tip = tip_at(shown, x + width / 2, y + height / 2)
    assert tip == "rounded down: P[1][1] = 19, where 54 is right"


@pytest.mark.parametrize("case", [*CASES][len(LESSON.presets) :])
@pictures.stages
def test_words_of_other_sizes_are_legible_and_apart(case: str, stage: str, qapp: object) -> None:
    pictures.check_text(played(case).story, stage)


def test_bad_combinations_are_explained() -> None:
    given = LESSON.defaults()
    assert "make M at least 8 wide" in LESSON.problem({**given, "tile": 8})
    assert "no block with x = 2" in LESSON.problem({**given, "block_x": 2})
    for preset in LESSON.presets:
        assert LESSON.problem({**given, **preset.values}) == ""


def test_the_wrong_elements_of_the_block_are_hatched_in_p() -> None:
    story = played("3 × 3, tile 2").story
    ends = [s for s in story.steps if s.kind == "result"][:2]
    for step, groups in zip(ends, (2, 0), strict=True):  # P, and the parts of the skipped phase
        marks = story.frame((step.start + step.end) / 2, pictures.STAGES["large"]).marks
        hatched = [len(m.rect) for m in marks if isinstance(m, Boxes) and m.hatch is not None]
        assert hatched.count(4) == groups
