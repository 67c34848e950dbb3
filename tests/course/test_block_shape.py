from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.arch.occupancy import occupancy
from gpuviz.base.errors import InputError
from gpuviz.compile import nvrtc
from gpuviz.course.together.block_shape.atlas import AXES, Atlas, agreement, ranks
from gpuviz.course.together.block_shape.bands import words as words_of_bands
from gpuviz.course.together.block_shape.lesson import LESSON, expected_sectors, narrate
from gpuviz.course.together.block_shape.times import on_one_axis
from gpuviz.draw.hit import lit_at, tip_at
from gpuviz.draw.layout import Rect, centers, grid
from gpuviz.draw.marks import Boxes, Frame, Mark, Raster
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.memory.request import first_requests
from gpuviz.recordings.measurement import DeviceFacts
from gpuviz.run import emulated
from gpuviz.story.compare import beside
from gpuviz.story.lesson import Story, check_values
from gpuviz.story.perform import Performance, job_of
from gpuviz.sweeps.cell import Found, On, Outcome
from gpuviz.sweeps.record import Head, SweepOrigin, key
from gpuviz.sweeps.table import Table
from tests.course import pictures
from tests.course.performed import performed

CASES = {
    f"{x} x {y}": {"x": x, "y": y, "n": 256}
    for x, y in ((32, 5), (2, 32), (5, 7), (13, 7), (1, 1), (32, 32))
}
cases = pytest.mark.parametrize("case", CASES)
pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")

# Maps made up for the pictures: every shape has a value of its own.
BY, BX = np.mgrid[1:33, 1:33]
H200 = DeviceFacts(0, "NVIDIA H200", "9.0", "580.1", "13.0", 132, 1 << 37, 50 << 20)
MAPS: tuple[On, ...] = ("emulator", "gpu")


def table(on: On, count: int = 1024) -> Table:
    """As if the first cells of a sweep had been done."""
    made = SweepOrigin(H200, "2026-01-01", 7) if on == "gpu" else None
    outcomes = {}
    for x, y in list(zip(BX.ravel().tolist(), BY.ravel().tolist(), strict=True))[:count]:
        sectors, ms = (64 + 32 * y // x + x) << 20, 0.5 + y / x + x / 999
        if on == "gpu":
            one = Found("shape", {}, microseconds=1000 * ms, clocks=(1900.0, 1900.0 + x))
        else:
            counts = {"global_load_requests": 64 << 20, "global_load_sectors": sectors}
            modelled = 1250 * ms if x & (x - 1) == y & (y - 1) == 0 else None
            lines = {"global_load_lines": sectors // 2}
            one = Found("shape", {**counts, **lines}, 1, modelled=modelled)
        outcomes[key({"x": str(x), "y": str(y)})] = Outcome((one,))
    return Table(AXES, outcomes, Head({}, "sm_90", on, "ptx", made=made))


def played(case: str) -> Performance:
    return performed(LESSON, CASES[case])


@cache
def story(case: str, maps: tuple[On, ...] = MAPS, count: int = 1024) -> Story:
    swept: Mapping[On, Table] = {on: table(on, count) for on in maps}
    runs = {role: replace(run, swept=swept) for role, run in played(case).runs.items()}
    return narrate(CASES[case], runs)


def atlas(arch: str = "9.0", registers: int = 32) -> Atlas:
    return Atlas(architecture(arch), registers, 1024, table("emulator"), table("gpu"))


@pytest.mark.parametrize(("x", "y"), [(32, 5), (13, 7)])
def test_every_shape_multiplies(x: int, y: int) -> None:
    (plan,) = LESSON.plan(check_values(LESSON, {"x": x, "y": y, "n": 256}))
    run = emulated.run(job_of(plan, "sm_90"), architecture("sm_90"), level="ptx")
    m, n, p = (run.outputs[b].astype(np.float64).reshape(256, 256) for b in "MNP")
    assert np.abs(p - m @ n).max() < 1e-3


def test_the_launch_counted_is_the_one_that_is_named() -> None:
    (plan,) = LESSON.plan(LESSON.defaults())
    assert plan.grid == (32, 205, 1)
    assert plan.size == "N = 1024, blocks of 32 × 5, loop over k unrolled"
    totals = played("32 x 5").runs["shape"].counts.totals
    assert totals["global_load_requests"] == 2 * 256 * (256 * 256 // 32)
    assert totals["global_load_sectors"] == (1 + 4) * 256 * (256 * 256 // 32)


@pytest.mark.slow
@pytest.mark.parametrize("y", [1, 2, 5, 32])
@pytest.mark.parametrize("x", [1, 2, 5, 8, 13, 16, 24, 31, 32])
def test_sectors_of_the_first_warp_are_the_closed_form(x: int, y: int) -> None:
    run = performed(LESSON, {"x": x, "y": y, "n": 256}).runs["shape"]
    loads = {
        r.name: r.count
        for r in reversed(first_requests(run.trace, architecture("sm_90"), 0, 0))
        if not r.is_store
    }
    assert (loads["M"], loads["N"]) == expected_sectors(x, y)


@cases
def test_what_is_expected_is_told(case: str) -> None:
    m, n = expected_sectors(CASES[case]["x"], CASES[case]["y"])
    assert f"{m} sector{'s' * (m > 1)} of M and {n} of N" in story(case).expected
    assert "published" not in story(case).expected  # which is of N = 1024


def test_occupancy_of_every_shape_is_the_calculators() -> None:
    found = atlas()
    for x, y in ((1, 1), (32, 5), (32, 32), (7, 9)):
        wanted = occupancy(architecture("9.0"), x * y, 32)
        assert found.resident[y - 1, x - 1] == wanted.fraction
    assert np.array_equal(found.resident, found.resident.T)
    assert atlas("1.3").resident[31, 31] == 0  # 1024 threads are too many there


def test_the_fastest_come_first() -> None:
    times = atlas().milliseconds
    found = [times[y - 1, x - 1] for x, y in atlas().order]
    assert found == sorted(found) and len(found) == 1024
    assert Atlas(architecture("9.0"), 32, 1024).order == ()


def test_shapes_stand_on_one_axis_the_fastest_first() -> None:
    shown = on_one_axis(atlas(), (13, 7), 1.0)
    times = [bar.us for bar in shown.bars]
    assert times == sorted(times) and shown.now is not None
    assert shown.bars[shown.now].names == ("13 × 7",) and shown.picks[shown.now] == {
        "x": 13,
        "y": 7,
    }
    assert {"32 × 5", "2 × 32", "32 × 2"} < {bar.names[0] for bar in shown.bars}
    assert "sectors a request" in shown.bars[0].note[0] and "NVIDIA H200" in shown.where[0]


def test_ranks_and_their_agreement() -> None:
    assert ranks(np.array([[3.0, 1.0], [3.0, 9.0]])).tolist() == [[2.5, 1], [2.5, 4]]
    a = np.arange(1024.0).reshape(32, 32)
    assert agreement(a, a**3) == pytest.approx(1) and agreement(a, -a) == pytest.approx(-1)


SOME: list[tuple[On, ...]] = [MAPS, ("emulator",), ("gpu",), ()]


@pytest.mark.parametrize("case", ["32 x 5", "13 x 7"])
@pytest.mark.parametrize("maps", SOME, ids=str)
def test_steps_and_pages(case: str, maps: tuple[On, ...]) -> None:
    told_of = story(case, maps)
    pictures.check_steps(told_of)
    labels = [s.label for s in told_of.steps]
    assert ("fastest" in labels) == ("gpu" in maps)
    assert ("modelled" in labels) == ({*maps} >= {"emulator", "gpu"})
    assert {"sectors", "lines", "occupancy"} < set(labels)


@pytest.mark.parametrize("case", ["32 x 5", "13 x 7"])
@pictures.stages
@pytest.mark.parametrize("maps", [SOME[0], SOME[-1]], ids=str)
def test_words_are_legible(case: str, stage: str, maps: tuple[On, ...], qapp: object) -> None:
    told_of = story(case, maps)
    pictures.check_text(told_of, stage)
    for step in told_of.steps:  # every page, as filled as it gets
        pictures.check_text(
            Story("", "", (step,), lambda t, s, at=step.end - 0.01: told_of.frame(at, s)), stage
        )


def shown(label: str, maps: tuple[On, ...] = MAPS, count: int = 1024) -> Frame:
    told_of = story("32 x 5", maps, count)
    step = next(s for s in told_of.steps if s.label == label)
    return told_of.frame(step.end - 0.01, pictures.STAGES["full"])


def text_at(label: str, maps: tuple[On, ...] = MAPS, count: int = 1024) -> str:
    return " ".join(pictures.words(shown(label, maps, count)))


def test_unmeasured_times_are_unavailable() -> None:
    assert "recorded" in text_at("fastest")
    assert "No GPU has measured" in text_at("lines", ("emulator",))


def test_what_is_not_predicted_says_how_to_and_fills_in() -> None:
    assert "press Sweep" in text_at("sectors", ("gpu",))
    assert "press Sweep" not in text_at("occupancy", ("gpu",))
    assert "300 of 1\u202f024" in text_at("sectors", MAPS, 300)


def test_how_far_time_follows_is_told_in_numbers() -> None:
    alike = agreement(atlas().sectors, atlas().milliseconds)
    assert alike > 0.9
    said = text_at("sectors")
    assert f"agree to {alike:.2f}" in said
    assert "Time follows the sectors" in said
    assert "Time does not follow occupancy" in text_at("occupancy")


def test_modelled_times_stand_beside_measured_ones() -> None:
    said = text_at("modelled")
    assert "Modelled times of 36 shapes: within 20 % of measured ones in the median" in said
    assert "Rank correlation 1.00" in said and "measured −20 %" in said
    assert "NVIDIA H200" in said and "recorded" in said and "model" in said
    few = Atlas(architecture("9.0"), 32, 1024, table("emulator", 3), table("gpu"))
    assert few.both.sum() == 2 and "modelled: " in few.tip(1, 1) and "modelled" not in few.tip(3, 1)


def test_the_conditions_of_the_measurement_are_told() -> None:
    for word in ("NVIDIA H200", "580.1", "1900–1932 MHz", "2026-01-01", "median of 7"):
        assert word in text_at("lines")


def test_both_maps_have_one_layout_and_light_each_other() -> None:
    told_of = shown("lines")
    left, right = (m for m in told_of.marks if isinstance(m, Boxes) and m.link)
    assert len(left.rect) == len(right.rect) == 1024
    apart = right.rect - left.rect
    assert np.allclose(apart, apart[0], atol=0.01) and apart[0, 0] > 0 == apart[0, 1]
    for mark in (left, right):
        x, y, width, height = mark.rect[4 * 32 + 31].tolist()
        at = x + width / 2, y + height / 2
        assert np.array_equal(lit_at(told_of, *at), [left.rect[159], right.rect[159]])
        head, counts, share, time = (tip_at(told_of, *at) or "").splitlines()
        assert head == "block 32 × 5: 160 threads in 5 warps"
        assert counts == "predicted: 106M sectors, 53M lines, 1.58 sectors a request"
        assert share.startswith("occupancy 94 %, limit: ")
        assert time == "measured: 0.688 ms"
    assert not len(lit_at(told_of, 1.0, 1.0))


def drawn(marks: tuple[Mark, ...], count: int) -> list[tuple[float, float]]:
    """The middles of the count x count cells that were drawn, be it as boxes or as an image."""
    for mark in marks:
        if isinstance(mark, Boxes) and len(mark.rect) == count**2:
            return [tuple(at) for at in centers(mark.rect).tolist()]
        if isinstance(mark, Raster) and mark.pixels.shape[:2] == (count, count):
            return [tuple(at) for at in centers(grid(Rect(*mark.rect), count, count)).tolist()]
    return []


@pytest.mark.parametrize("page", ["sectors", "lines", "occupancy"])
@pytest.mark.parametrize("stage", [*pictures.STAGES, "tiny"])
def test_a_click_on_a_cell_of_the_map_is_its_shape(stage: str, page: str) -> None:
    told_of, size = story("13 x 7"), (pictures.STAGES | {"tiny": Stage(420, 260, DARK)})[stage]
    t = next(s.end for s in told_of.steps if s.label == page) - 0.01
    marks = told_of.frame(t, size).marks
    found = [told_of.pick(t, size, *at) for at in drawn(marks, 32)]
    assert found == [{"x": x, "y": y} for y in range(1, 33) for x in range(1, 33)]
    for at in ((1.0, 1.0), (size.width - 1, size.height - 1), (-5.0, size.height / 2)):
        assert told_of.pick(t, size, *at) is None


def test_nothing_is_picked_where_no_map_is() -> None:
    told_of, size = story("32 x 5"), pictures.STAGES["full"]
    points = [(x, y) for x in range(0, 1920, 40) for y in range(0, 1080, 40)]
    for step in told_of.steps:
        t = (step.start + step.end) / 2
        found = any(told_of.pick(t, size, *at) for at in points)
        assert found == (step.label in ("sectors", "lines", "occupancy", "bands", "fastest"))


def test_a_map_without_values_is_picked_all_the_same() -> None:
    bare, size = story("32 x 5", ()), pictures.STAGES["full"]
    t = next(s.end for s in bare.steps if s.label == "sectors") - 0.01
    middles = drawn(bare.frame(t, size).marks, 32)
    assert bare.pick(t, size, *middles[-1]) == {"x": 32, "y": 32}


def test_beside_each_other_each_map_is_its_own() -> None:
    a, b, size = story("32 x 5"), story("13 x 7"), pictures.STAGES["full"]
    pair = beside(a, b, "a", "b")
    t = next(s.end for s in a.steps if s.label == "lines") - 0.01
    maps = [m for m in pair.frame(t, size).marks if isinstance(m, Boxes | Raster) and m.link]
    assert len(maps) == 4
    for mark in maps:
        places = list(zip(drawn((mark,), 32), product(range(1, 33), range(1, 33)), strict=True))
        for at, (y, x) in places[::31]:  # each row, each column
            assert pair.pick(t, size, *at) == {"x": x, "y": y}


def test_a_run_without_its_loads_is_refused() -> None:
    run = played("32 x 5").runs["shape"]
    bare = replace(run.trace, requests=run.trace.requests.select(slice(0, 0)))
    with pytest.raises(InputError, match="no loads of M and N"):
        narrate(CASES["32 x 5"], {"shape": replace(run, trace=bare)})


def test_bands_stand_where_rows_end_with_sectors() -> None:
    times = 100.0 / BX * np.where(BX % 8, 1.25, 1.0) + 0 * BY
    title, said = words_of_bands(SimpleNamespace(milliseconds=times))  # type: ignore[arg-type]
    assert title == "Bands at BX = 8, 16, 24, 32"
    assert "takes 11 to 29 % longer" in said  # of 9 against 8, and of 31 against 32
    even = SimpleNamespace(milliseconds=100.0 / BX + 0 * BY)
    assert words_of_bands(even)[0] == "Bands at BX = 32"  # type: ignore[arg-type]
    flat = SimpleNamespace(milliseconds=1.0 + 0 * BX)
    assert words_of_bands(flat)[0].startswith("No bands")  # type: ignore[arg-type]
