import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.base.errors import InputError
from gpuviz.compile import nvrtc
from gpuviz.course.global_memory.coalescing.lesson import LESSON, expected_sectors
from gpuviz.draw.hit import tip_at
from gpuviz.draw.marks import Boxes, Frame
from gpuviz.draw.palette import DARK, LIGHT
from gpuviz.draw.stage import Stage
from gpuviz.memory.request import Request, requests_of
from gpuviz.story.perform import Performance
from gpuviz.story.requests.sentences import ordinal
from tests.course import pictures
from tests.course.performed import performed

CASES = {
    "stride 2": {},
    "stride 1": {"stride": 1},
    "stride 32": {"stride": 32},
    "offset 1": {"stride": 1, "offset": 1},
    "random": {"pattern": "random"},
    "bytes": {"bytes": 1, "stride": 1},
    "far bytes": {"bytes": 1, "stride": 32, "warp": 3},
    "halves": {"bytes": 2, "stride": 5, "offset": 3},
    "float2": {"bytes": 8, "stride": 3},
    "float4": {"bytes": 16, "stride": 1},
    "far float4": {"bytes": 16, "stride": 32},
    "in order": {"pattern": "in order"},
    "gap": {"pattern": "gap"},
    "pair": {"pattern": "pair"},
    "misaligned": {"pattern": "misaligned", "warp": 1},
    "some lanes": {"pattern": "some lanes"},
}
NARROW = (*pictures.NARROW, Stage(500, 480, DARK))

needs_compiler = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")
cases = pytest.mark.parametrize("case", CASES)
pytestmark = needs_compiler


def played(case: str, arch: str = "sm_90") -> Performance:
    return performed(LESSON, CASES[case], arch=arch)


def requests(case: str, arch: str = "sm_90") -> tuple[Request, ...]:
    warp = int({**LESSON.defaults(), **CASES[case]}["warp"])
    return requests_of(played(case, arch).runs["copy"].trace, architecture(arch), 0, warp)


def frame(case: str, share: float) -> Frame:
    return pictures.frame(played(case).story, share)


@cases
def test_what_is_shown_is_what_is_counted(case: str) -> None:
    run, made = played(case).runs["copy"], requests(case)
    warps = run.trace.launch.blocks * run.trace.launch.warps_per_block
    totals = run.counts.totals
    assert totals["global_load_requests"] == warps * sum(not r.is_store for r in made)
    stores = [r for r in made if r.is_store]
    assert totals["global_store_sectors"] == warps * sum(r.count for r in stores)
    assert totals["global_store_sectors_ideal"] == warps * sum(r.ideal for r in stores)
    for request in made:
        lanes = int(request.active.sum())
        assert request.used == lanes * request.instruction.width  # no two lanes share a byte
        assert request.moved == 32 * request.count >= request.used


@cases
def test_the_closed_form_is_what_the_trace_shows(case: str) -> None:
    values, load = {**LESSON.defaults(), **CASES[case]}, requests(case)[-2]
    expected = played(case).story.expected
    if values["pattern"] in ("random", "gap", "some lanes"):
        assert expected == ""
        return
    if values["pattern"] == "strided":
        numbers = (int(values[name]) for name in ("stride", "offset", "bytes", "warp"))
        assert load.count == expected_sectors(*numbers)
    assert f" {load.count} sectors" in expected


@cases
def test_solid_cells_are_the_bytes_used_and_boxes_the_sectors(case: str) -> None:
    load = requests(case)[-2]
    end = frame(case, 1.0)
    lanes = {tuple(color) for color in LIGHT.lanes.tolist()}
    solid = [m for m in end.marks if isinstance(m, Boxes) and m.tip and m.fill is not None]
    cells = [m for m in solid if m.fill.ndim == 2 and not m.radius]
    painted = sum(tuple(c) in lanes for m in cells for c in m.fill.tolist())
    assert painted * load.strip.unit == load.used
    waste = [m for m in end.marks if isinstance(m, Boxes) and m.hatch is not None and m.tip]
    assert sum(len(m.rect) for m in waste) * load.strip.unit == load.moved - load.used
    boxes = [m for m in solid if m.fill.ndim == 1 and m.radius]
    assert [len(m.rect) for m in boxes] == [load.count]


@cases
def test_steps_name_their_line(case: str) -> None:
    performance = played(case)
    steps, source = performance.story.steps, performance.runs["copy"].trace.source.splitlines()
    for step in steps[:-1]:
        assert "out[i] =" in source[step.line - 1]
        assert step.detail.split()[0] in performance.runs["copy"].trace.ptx


def test_hover_tells_lane_thread_element_and_sector() -> None:
    shown = frame("stride 2", 0.5)
    lanes = next(m for m in shown.marks if isinstance(m, Boxes) and len(m.rect) == 32)
    x, y, width, height = lanes.rect[5].tolist()
    tip = tip_at(shown, x + width / 2, y + height / 2) or ""
    assert tip.startswith("lane 5 · thread 5 of block 0")
    assert "in[10] · bytes 40 to 43" in tip and "sector 1 · line 0" in tip


def test_hover_tells_what_no_lane_asks_for() -> None:
    shown = frame("stride 2", 1.0)
    waste = [m for m in shown.marks if isinstance(m, Boxes) and m.hatch is not None and m.tip]
    x, y, width, height = max(waste, key=lambda m: len(m.rect)).rect[0].tolist()
    tip = tip_at(shown, x + width / 2, y + height / 2) or ""
    assert tip.startswith("bytes 4 to 7 of in\nfetched with sector 0")


@pytest.mark.parametrize(
    ("case", "title"),
    [
        ("stride 2", "One warp reads every second float"),
        ("stride 1", "One warp reads 32 floats in a row"),
        ("offset 1", "One warp reads 32 floats in a row, from inside a sector"),
        ("stride 32", "One warp reads every 32nd float"),
        ("random", "One warp reads 32 floats scattered over 32 lines"),
        ("in order", "One warp reads 32 floats in a row"),
        ("gap", "One warp reads 32 floats in a row with a gap"),
        ("pair", "One warp reads 32 floats in a row, lanes 5 and 6 swapped"),
        ("misaligned", "One warp reads 32 floats in a row, from inside a sector"),
        ("some lanes", "One warp reads 24 floats of a row, 8 lanes take no part"),
    ],
)
def test_titles_say_what_the_addresses_do(case: str, title: str) -> None:
    lines = len(np.unique(requests(case)[-2].line))
    assert played(case).story.title == title.replace("32 lines", f"{lines} lines")


# Segments of one warp's load: the slides' 1 or 16 of each half warp on 1.0 and 1.1 (the misaligned
# warp is warp 1), halved segments on 1.2, lines on 2.0, sectors from 5.0 on.
COUNTS = {
    "in order": {"sm_10": 2, "sm_11": 2, "sm_12": 2, "sm_20": 1, "sm_30": 4, "sm_90": 4},
    "gap": {"sm_10": 32, "sm_11": 32, "sm_12": 3, "sm_20": 2, "sm_30": 5, "sm_90": 5},
    "pair": {"sm_10": 17, "sm_11": 17, "sm_12": 2, "sm_20": 1, "sm_30": 4, "sm_120": 4},
    "misaligned": {"sm_10": 32, "sm_11": 32, "sm_13": 3, "sm_20": 2, "sm_35": 5, "sm_100": 5},
    "some lanes": {"sm_10": 2, "sm_11": 2, "sm_12": 2, "sm_20": 1, "sm_30": 4, "sm_50": 4},
}


@pytest.mark.parametrize("case", COUNTS)
def test_the_patterns_of_the_slides_cost_what_each_architecture_says(case: str) -> None:
    for arch, count in COUNTS[case].items():
        load = requests(case, arch)[0]
        assert load.count == count, arch
        totals = played(case, arch).runs["copy"].counts.totals
        assert totals["global_load_requests"] == 512
        if case != "misaligned":  # every warp starts alike there
            assert totals["global_load_sectors"] == 512 * count


@pytest.mark.parametrize("case", ["in order", "gap", "pair", "misaligned", "some lanes"])
def test_patterns_copy_what_they_say(case: str) -> None:
    outputs = played(case).runs["copy"].outputs
    given, got = (np.asarray(outputs[name], np.float64) for name in ("in", "out"))
    i = np.arange(len(got))
    lane = i % 32
    index = {
        "in order": i,
        "misaligned": i + 1,
        "gap": np.where(lane < 6, i, i + 2),
        "pair": i + (lane == 5) - (lane == 6),
        "some lanes": i,
    }[case]
    wanted = given[index]
    if case == "some lanes":
        wanted = np.where((lane % 8 == 3) | (lane % 8 == 4), 0.0, wanted)
    assert np.abs(got - wanted).max() == 0.0


@pytest.mark.parametrize("arch", ["sm_10", "sm_12", "sm_20", "sm_30"])
@pytest.mark.parametrize("case", ["gap", "pair", "misaligned", "some lanes", "float4"])
def test_words_are_legible_on_older_architectures(case: str, arch: str, qapp: object) -> None:
    for stage in NARROW:
        pictures.check_text(played(case, arch).story, stage)


@cases
@pytest.mark.parametrize("stage", [Stage(500, 480, DARK), Stage(1920, 1080, LIGHT, 1.5)])
def test_words_are_legible_in_other_windows(case: str, stage: Stage, qapp: object) -> None:
    pictures.check_text(played(case).story, stage)


def test_the_slides_reason_is_told() -> None:
    sentences = {c: played(c, "sm_10").story.sentence for c in ("in order", "pair", "misaligned")}
    assert "half warp" not in sentences["in order"]
    assert "The first half warp is not in order: one segment a lane." in sentences["pair"]
    assert "Neither half warp is in order" in sentences["misaligned"]
    assert "16-byte" in played("pair", "sm_10").story.expected


def test_older_architectures_show_their_own_transactions() -> None:
    for arch in ("sm_10", "sm_13", "sm_20", "sm_30"):
        trace = played("stride 2").runs["copy"].trace
        load = requests_of(trace, architecture(arch), 0, 0)[0]
        assert load.used == 128
        assert load.noun == ("line" if arch == "sm_20" else "segment")


def test_every_combination_is_either_explained_or_has_a_plan() -> None:
    values = LESSON.defaults()
    assert LESSON.problem(values) == ""
    assert "no warp 8" in LESSON.problem({**values, "warp": 8})
    with pytest.raises(InputError, match="no warp 8"):
        performed(LESSON, {"warp": 8})
    for preset in LESSON.presets:
        (plan,) = LESSON.plan({**values, **preset.values})
        assert all(plan.arguments) and plan.size


def test_ordinals() -> None:
    said = [ordinal(n) for n in (2, 3, 4, 11, 21, 22, 23, 32)]
    assert said == ["second", "third", "4th", "11th", "21st", "22nd", "23rd", "32nd"]
