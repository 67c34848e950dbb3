from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.compile import nvrtc
from gpuviz.draw.hit import tip_at
from gpuviz.draw.layout import Rect, centers, grid
from gpuviz.draw.marks import Boxes, Mark, Raster
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.errors import InputError
from gpuviz.memory.request import first_requests
from gpuviz.occupancy import occupancy
from gpuviz.runners import sweep_file
from gpuviz.scenes.base import Story
from gpuviz.scenes.block_atlas import Atlas, gigaflops
from gpuviz.scenes.block_shape import LESSON, expected_sectors, told
from gpuviz.scenes.block_shape_tables import BEST
from gpuviz.scenes.compare import beside
from gpuviz.scenes.perform import Performance
from tests.scenes import pictures
from tests.scenes.performed import performed

CASES = {
    f"{x} x {y}": {"x": x, "y": y} for x, y in ((32, 5), (2, 32), (5, 7), (13, 7), (1, 1), (32, 32))
}
cases = pytest.mark.parametrize("case", CASES)
pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")

# Maps made up for the pictures: every shape has a value of its own.
BY, BX = np.mgrid[1:33, 1:33]
PREDICTED = sweep_file.Predictions(
    np.full((32, 32), 64 << 13), (64 + 32 * BY // BX + BX) << 13, "sm_90"
)
TIMED = sweep_file.Times(
    0.5 + BY / BX + BX / 999,
    "NVIDIA H200",
    "9.0",
    "580.1",
    "13.0",
    (1900.0, 1980.0),
    "2026-01-01",
    7,
    1e-4,
)


def played(case: str) -> Performance:
    return performed(LESSON, CASES[case])


@cache
def story(case: str, timed: bool = True) -> Story:
    runs = played(case).runs
    return told(CASES[case], runs, PREDICTED, TIMED if timed else None)


def atlas(arch: str = "9.0", registers: int = 32) -> Atlas:
    return Atlas(architecture(arch), registers, PREDICTED, TIMED)


@cases
def test_every_shape_multiplies(case: str) -> None:
    run = played(case).runs["shape"]
    m, n, p = (run.outputs[b].astype(np.float64) for b in "MNP")
    wanted = m.reshape(32, 32) @ n.reshape(32, 64)
    assert np.abs(p.reshape(32, 64) - wanted).max() < 1e-4


@pytest.mark.parametrize("y", [1, 2, 5, 32])
@pytest.mark.parametrize("x", [1, 2, 5, 8, 13, 16, 24, 31, 32])
def test_sectors_of_the_first_warp_are_the_closed_form(x: int, y: int) -> None:
    run = performed(LESSON, {"x": x, "y": y}).runs["shape"]
    loads = {
        r.name: r.count
        for r in reversed(first_requests(run.trace, architecture("sm_90"), 0, 0))
        if not r.is_store
    }
    assert (loads["M"], loads["N"]) == expected_sectors(x, y)


@cases
def test_what_is_expected_is_told(case: str) -> None:
    m, n = expected_sectors(*CASES[case].values())
    assert f"{m} sector{'s' * (m > 1)} of M and {n} of N" in story(case).expected
    assert ("33.264 ms" in story(case).expected) == (case == "32 x 5")


def test_occupancy_of_every_shape_is_the_calculators() -> None:
    found = atlas()
    for x, y in ((1, 1), (32, 5), (32, 32), (7, 9)):
        wanted = occupancy(architecture("9.0"), x * y, 32)
        assert found.resident[y - 1, x - 1] == wanted.fraction
    assert np.array_equal(found.resident, found.resident.T)
    assert atlas("1.3").resident[31, 31] == 0  # 1024 threads are too many there


def test_the_fastest_come_first() -> None:
    times = TIMED.milliseconds
    found = [times[y - 1, x - 1] for x, y in atlas().order]
    assert found == sorted(found) and len(found) == 1024
    assert Atlas(architecture("9.0"), 32, None, None).order == ()


def test_rates_are_those_of_the_document() -> None:
    """Its GFLOP are 2^30 additions and multiplications."""
    assert gigaflops(BEST[0][2]) * 1e9 / 2**30 == pytest.approx(60, abs=0.2)


def test_bands_are_compared_with_their_neighbours() -> None:
    own, beside = atlas().around(TIMED.milliseconds, 16)
    assert own == np.median(TIMED.milliseconds[:, 15])
    assert beside == np.median(TIMED.milliseconds[:, [14, 16]])
    assert atlas().around(TIMED.milliseconds, 32)[1] == np.median(TIMED.milliseconds[:, 30])


@cases
@pytest.mark.parametrize("timed", [True, False])
def test_steps_and_pages(case: str, timed: bool) -> None:
    told_of = story(case, timed)
    pictures.check_steps(told_of)
    labels = [s.label for s in told_of.steps]
    assert ("times" in labels) == ("fastest" in labels) == timed


@cases
@pictures.stages
@pytest.mark.parametrize("timed", [True, False])
def test_words_are_legible(case: str, stage: str, timed: bool, qapp: object) -> None:
    told_of = story(case, timed)
    pictures.check_text(told_of, stage)
    for step in told_of.steps:  # every page, as filled as it gets
        pictures.check_text(
            Story("", "", (step,), lambda t, s, at=step.end - 0.01: told_of.frame(at, s)), stage
        )


def text_at(label: str, timed: bool = True, size: str = "full") -> str:
    told_of = story("32 x 5", timed)
    step = next(s for s in told_of.steps if s.label == label)
    return " ".join(pictures.words(told_of.frame(step.end - 0.01, pictures.STAGES[size])))


def test_unmeasured_times_are_unavailable() -> None:
    assert "unavailable" in text_at("published", timed=False)
    assert "recorded" not in text_at("published", timed=False)
    assert "recorded" in text_at("published") and "33.264 ms" in text_at("published")


def test_without_predictions_the_map_says_how_to_make_them() -> None:
    runs = played("32 x 5").runs
    bare = told(CASES["32 x 5"], runs, None, None)
    step = next(s for s in bare.steps if s.label == "sectors")
    shown = bare.frame(step.end - 0.01, pictures.STAGES["full"])
    assert "unavailable" in pictures.words(shown)
    assert "gpuviz.runners.sweep" in " ".join(pictures.words(shown))


def test_the_measured_page_names_device_driver_and_clocks() -> None:
    said = text_at("times")
    for word in ("NVIDIA H200", "580.1", "1900–1980 MHz", "2026-01-01", "median of 7"):
        assert word in said
    assert "182 and 49 ms" in said


def test_hovering_a_cell_tells_all_of_its_shape() -> None:
    told_of = story("32 x 5")
    step = next(s for s in told_of.steps if s.label == "times")
    shown = told_of.frame(step.end - 0.01, pictures.STAGES["full"])
    cells = next(m for m in shown.marks if isinstance(m, Boxes) and len(m.rect) == 1024)
    x, y, width, height = cells.rect[4 * 32 + 31].tolist()
    tip = tip_at(shown, x + width / 2, y + height / 2) or ""
    first, second, third, fourth = tip.splitlines()
    assert first == "block 32 × 5: 160 threads in 5 warps"
    assert second.startswith("occupancy 94 %, limit: ")
    assert third == "1.58 sectors a request, 3.16 for 32 products" and fourth == "0.688 ms"


def drawn(marks: tuple[Mark, ...], count: int) -> list[tuple[float, float]]:
    """The middles of the count x count cells that were drawn, be it as boxes or as an image."""
    for mark in marks:
        if isinstance(mark, Boxes) and len(mark.rect) == count**2:
            return [tuple(at) for at in centers(mark.rect).tolist()]
        if isinstance(mark, Raster) and mark.pixels.shape[:2] == (count, count):
            return [tuple(at) for at in centers(grid(Rect(*mark.rect), count, count)).tolist()]
    return []


@pytest.mark.parametrize("page", ["sectors", "occupancy", "times"])
@pytest.mark.parametrize("stage", [*pictures.STAGES, "tiny"])
def test_a_click_on_a_cell_of_the_map_is_its_shape(stage: str, page: str) -> None:
    told_of, size = story("13 x 7"), (pictures.STAGES | {"tiny": Stage(420, 260, DARK)})[stage]
    t = next(s.end for s in told_of.steps if s.label == page) - 0.01
    marks = told_of.frame(t, size).marks
    found = [told_of.pick(t, size, *at) for at in drawn(marks, 32)]
    assert found == [{"x": x, "y": y} for y in range(1, 33) for x in range(1, 33)]
    found = [told_of.pick(t, size, *at) for at in drawn(marks, 5)]
    assert found in ([], [{"x": x, "y": y} for y in range(4, 9) for x in range(4, 9)])
    assert found or stage != "full"
    for at in ((1.0, 1.0), (size.width - 1, size.height - 1), (-5.0, size.height / 2)):
        assert told_of.pick(t, size, *at) is None


def test_nothing_is_picked_where_no_map_is() -> None:
    told_of, size = story("32 x 5"), pictures.STAGES["full"]
    points = [(x, y) for x in range(0, 1920, 40) for y in range(0, 1080, 40)]
    for step in told_of.steps:
        t = (step.start + step.end) / 2
        found = any(told_of.pick(t, size, *at) for at in points)
        assert found == (step.label in ("sectors", "occupancy", "times"))


def test_a_map_without_values_is_picked_all_the_same() -> None:
    bare, size = told(CASES["32 x 5"], played("32 x 5").runs, None, None), pictures.STAGES["full"]
    t = next(s.end for s in bare.steps if s.label == "sectors") - 0.01
    middles = drawn(bare.frame(t, size).marks, 32)
    assert bare.pick(t, size, *middles[-1]) == {"x": 32, "y": 32}
    assert not any(bare.pick(t, size, x, 500.0) for x in range(1100, 1920, 20))


def test_beside_each_other_each_map_is_its_own() -> None:
    a, b, size = story("32 x 5"), story("13 x 7"), pictures.STAGES["full"]
    pair = beside(a, b, "a", "b")
    t = next(s.end for s in a.steps if s.label == "times") - 0.01
    sides = [
        [
            m
            for m in pair.frame(t, size).marks
            if isinstance(m, Boxes)
            and len(m.rect) == 1024
            and (m.rect[0, 0] > size.width / 2) == right
        ]
        for right in (False, True)
    ]
    for marks in sides:
        found = [pair.pick(t, size, *at) for at in drawn(tuple(marks), 32)]
        assert found == [{"x": x, "y": y} for y in range(1, 33) for x in range(1, 33)]


def test_a_run_without_its_loads_is_refused() -> None:
    run = played("32 x 5").runs["shape"]
    bare = replace(run.trace, requests=run.trace.requests.select(slice(0, 0)))
    with pytest.raises(InputError, match="no loads of M and N"):
        told(CASES["32 x 5"], {"shape": replace(run, trace=bare)}, None, None)
