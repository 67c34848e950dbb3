from dataclasses import replace

import numpy as np
import pytest

from gpuviz.compile import nvrtc
from gpuviz.course.together.roofline.lesson import ENDS, LESSON, ROLES, WIDTHS, narrate
from gpuviz.course.together.roofline.points import point_of
from gpuviz.draw.marks import Boxes
from gpuviz.recordings.measurement import DeviceFacts, Measurement, Peaks, Timing
from gpuviz.run import emulated
from gpuviz.story.lesson import Plan, Story, check_values
from gpuviz.story.perform import Performance, perform
from tests.course import pictures
from tests.course.performed import performed

CASES = {
    "the document's device": {"device": "document"},
    "150 GB/s": {"device": "tiles"},
    "bytes of whole sectors": {"device": "document", "basis": "moved"},
    "not measured": {"device": "measured"},
    "naive": {"device": "document", "tile": 1, "stride": 1, "degree": 16},
    "far apart": {"device": "document", "tile": 32, "stride": 32, "degree": 256, "basis": "moved"},
}
cases = pytest.mark.parametrize("case", CASES)
pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")


def played(case: str, arch: str = "sm_90") -> Performance:
    return performed(LESSON, CASES[case], arch=arch)


def number(case: str, name: str) -> int:
    return int(check_values(LESSON, CASES[case])[name])


def test_every_product_is_right_and_counted_as_its_classes_of_blocks_say() -> None:
    whole = replace(LESSON, plan=lambda values: tuple(map(_of_all_blocks, LESSON.plan(values))))
    values = check_values(LESSON, CASES["the document's device"])
    runs = perform(whole, values, level="ptx", measured=lambda plan: None).runs
    counted = played("the document's device").runs
    n = number("the document's device", "size")
    for role in ROLES[len(ENDS) :]:
        out = {k: v.astype(np.float64) for k, v in runs[role].outputs.items()}
        exact = out["M"].reshape(n, n) @ out["N"].reshape(n, n)
        assert np.abs(out["P"].reshape(n, n) - exact).max() < 1e-6 * n
        assert counted[role].outputs == {}
        assert counted[role].counts.totals == runs[role].counts.totals
        assert counted[role].trace.flops == runs[role].trace.flops


def test_only_the_polynomial_is_launched_anew_for_another_degree() -> None:
    before, now = (LESSON.plan(LESSON.defaults() | {"degree": n}) for n in (16, 128))
    assert [a.role for a, b in zip(before, now, strict=True) if a != b] == ["polynomial"]


def _of_all_blocks(plan: Plan) -> Plan:
    return replace(plan, run_blocks="all")


@cases
def test_kernels_at_both_ends_are_right(case: str) -> None:
    runs = played(case).runs
    out = runs["polynomial"].outputs
    exact = np.polyval([0.5] * (number(case, "degree") + 1), out["x"].astype(np.float64))
    assert np.allclose(out["y"], exact, rtol=1e-5)
    out = runs["strided"].outputs
    given = out["x"][:: number(case, "stride")].astype(np.float64)
    first = perform_input(case)
    assert np.allclose(out["y"], 2 * given + first, rtol=1e-6)


def perform_input(case: str):
    """What y held before the launch: the argument's own numbers."""
    from gpuviz.arguments import materialise, parse

    plan = next(p for p in played(case).plans if p.role == "strided")
    return materialise(parse(plan.arguments[2]), 2).astype(np.float64)


@cases
def test_operations_are_the_closed_form(case: str) -> None:
    runs, n, count = played(case).runs, number(case, "size"), number(case, "elements")
    expected = {
        "naive": 2 * n**3,
        "tiled 8": 2 * n**3,
        "tiled 16": 2 * n**3,
        "tiled 32": 2 * n**3,
        "fma4": 2 * count,
        "strided": 2 * count,
        "polynomial": 2 * count * number(case, "degree"),
    }
    assert {role: runs[role].trace.flops for role in ROLES} == expected


def test_ratios_are_the_documents() -> None:
    """GPGPU programming: 1 for the naive product, the tile's width for tiles."""
    for role, ratio in (("naive", 1), ("tiled 8", 8), ("tiled 16", 16), ("tiled 32", 32)):
        point = point_of(role, "", played("the document's device").runs[role], "loaded")
        assert point.ratio == ratio
        assert point.rate is None


def test_words_are_the_documents_figures() -> None:
    story = played("the document's device").story
    assert "2.1 % of the peak" in story.title and "33 %" in story.title
    assert "loads: 16." in story.sentence and "48" in story.sentence
    naive = played("naive").story
    assert "2.1 % of the peak" in naive.title and "loads: 1." in naive.sentence
    climbed = (0.4 * story.duration, story.duration)  # at the naive product, and with its tiles
    shown = {w for t in climbed for w in pictures.words(story.frame(t, pictures.STAGES["full"]))}
    assert {"250 GFLOP/s", "4 TFLOP/s"} <= shown
    assert "600 GFLOP/s" in played("150 GB/s").story.sentence


def test_without_a_measurement_there_is_no_roof() -> None:
    story = played("not measured").story
    shown = " ".join(pictures.words(story.frame(story.duration * 0.7, pictures.STAGES["large"])))
    assert "unavailable" in shown and "TFLOP/s" not in shown


def discs(t: float, story: Story) -> list[tuple[float, float]]:
    """Middles of the largest disc: the product that climbs."""
    stage = pictures.STAGES["large"]
    fill = stage.palette.compute
    boxes = [m for m in story.frame(t, stage).marks if isinstance(m, Boxes) and len(m.rect) == 1]
    own = [m.rect[0] for m in boxes if m.fill is not None and np.array_equal(m.fill, fill)]
    largest = max(own, key=lambda r: r[2], default=None)
    return [] if largest is None else [tuple(largest[:2] + largest[2:] / 2)]


def test_wider_tiles_move_the_product_to_the_right_and_up() -> None:
    story = played("the document's device").story
    steps = [step for step in story.steps if step.label.startswith("matmul")]
    assert [step.label for step in steps] == [
        "matmul, naive",
        "matmul, 8 × 8 tiles",
        "matmul, 16 × 16 tiles",
    ]
    moments = np.linspace(steps[0].end, steps[-1].end - 1e-3, 9)
    x, y = np.array([discs(t, story)[0] for t in moments]).T
    assert (np.diff(x) >= 0).all() and (np.diff(y) <= 0).all() and x[-1] - x[0] > 100


@pytest.mark.parametrize("width", WIDTHS)
def test_a_click_chooses_the_nearest_width_and_nothing_is_emulated_again(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    story, stage = played("the document's device").story, pictures.STAGES["large"]
    target = performed(LESSON, {"device": "document", "tile": width}).story
    x, _ = discs(target.duration, target)[0]
    assert story.pick(story.duration, stage, x + 5, stage.height * 0.2) == {"tile": width}
    assert story.pick(0.5, stage, x, stage.height * 0.2) is None  # not there yet
    monkeypatch.setattr(emulated, "run", None)
    perform(LESSON, {"device": "document", "tile": width}, level="ptx", measured=lambda plan: None)


def measured_story(values: dict[str, str], microseconds: float = 30.0):
    """The story as told where a GPU was timed (times and peaks made up)."""
    device = DeviceFacts(0, "a GPU", "9.0", "", "", 132, 0, 0, clock_mhz=2000)
    runs = {}
    for i, (role, run) in enumerate(played("the document's device").runs.items()):
        timing = Timing(np.array([microseconds / (1 + i)]))
        found = Measurement("recorded", "", device, timing=timing, peaks=Peaks(4e12, 60e12))
        runs[role] = replace(run, measurement=found)
    return narrate(check_values(LESSON, values), runs)


@pytest.mark.parametrize("device", ["document", "measured", "tiles"])
def test_rates_of_a_gpu_stand_under_its_own_roof_only(device: str, qapp: object) -> None:
    story = measured_story({"device": device})
    own = device == "measured"
    for t in np.linspace(0, 0.99 * story.steps[-1].start, 12):  # in the end there are times
        shown = pictures.words(story.frame(float(t), pictures.STAGES["full"]))
        assert ("reached (recorded)" in shown) == own
        assert not any("a GPU" in text for text in shown) or own
    pictures.check_purity(story)
    for stage in pictures.STAGES:
        pictures.check_text(story, stage)


def test_what_is_faster_than_memory_allows_is_said_and_l1_has_a_slope_of_its_own() -> None:
    slow, fast = (measured_story({"device": "measured"}, us) for us in (300.0, 3.0))
    assert "caches" not in slow.sentence and "caches answer" in fast.sentence
    assert "a GPU: the naive product reached" in fast.title
    shown = pictures.words(fast.frame(0.99 * fast.steps[-1].start, pictures.STAGES["large"]))
    assert "L1: 33.8 TB/s" in shown  # 132 times 32 banks of 4 bytes, 2 GHz


@cases
def test_steps_name_the_line_that_computes(case: str) -> None:
    for step in played(case).story.steps:
        if step.line:
            text = played(case).runs[step.role].trace.source.splitlines()[step.line - 1]
            assert "=" in text and ("*" in text)


@cases
@pictures.stages
def test_words_are_legible(case: str, stage: str, qapp: object) -> None:
    pictures.check_text(played(case).story, stage)
    pictures.check_text(played(case, "sm_20").story, stage)
