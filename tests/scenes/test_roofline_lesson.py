from types import SimpleNamespace

import numpy as np
import pytest

from gpuviz.compile import nvrtc
from gpuviz.runners.measurement import DeviceFacts, Measurement, Peaks, Timing
from gpuviz.scenes.check import check_values
from gpuviz.scenes.perform import Performance
from gpuviz.scenes.roofline import LESSON, ROLES, tell
from gpuviz.scenes.roofline_points import point_of
from tests.scenes import pictures
from tests.scenes.performed import performed

CASES = {
    "The document's device": {},
    "150 GB/s": {"device": "tiles"},
    "Bytes of whole sectors": {"basis": "moved"},
    "not measured": {"device": "measured"},
    "other sizes": {"size": 64, "stride": 1, "degree": 16},
    "far apart": {"stride": 32, "degree": 256, "basis": "moved"},
}
cases = pytest.mark.parametrize("case", CASES)
pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")


def played(case: str, arch: str = "sm_90") -> Performance:
    return performed(LESSON, CASES[case], arch=arch)


def number(case: str, name: str) -> int:
    return int(check_values(LESSON, CASES[case])[name])


@cases
def test_every_kernel_is_right(case: str) -> None:
    runs = played(case).runs
    for role in ("naive", "tiled 8", "tiled 16"):
        out = {k: v.astype(np.float64) for k, v in runs[role].outputs.items()}
        n = number(case, "size")
        exact = out["M"].reshape(n, n) @ out["N"].reshape(n, n)
        assert np.abs(out["P"].reshape(n, n) - exact).max() < 1e-6 * n
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
        "fma4": 2 * count,
        "strided": 2 * count,
        "polynomial": 2 * count * number(case, "degree"),
    }
    assert {role: runs[role].trace.flops for role in ROLES} == expected


def test_ratios_are_the_documents() -> None:
    """GPGPU programming: 1 for the naive product, the tile's width for tiles."""
    for role, ratio in (("naive", 1), ("tiled 8", 8), ("tiled 16", 16)):
        point = point_of(role, "", played("The document's device").runs[role], "loaded")
        assert point.ratio == ratio
        assert point.rate is None


def test_words_are_the_documents_figures() -> None:
    story = played("The document's device").story
    assert "2.1 % of the peak" in story.title and "48" in story.sentence
    shown = pictures.words(story.frame(story.duration, pictures.STAGES["full"]))
    assert {"250 GFLOP/s", "4 TFLOP/s", "unavailable"} <= set(shown)
    assert "600 GFLOP/s" in played("150 GB/s").story.sentence


def test_without_a_measurement_there_is_no_roof() -> None:
    story = played("not measured").story
    shown = " ".join(pictures.words(story.frame(story.duration * 0.7, pictures.STAGES["large"])))
    assert "unavailable" in shown and "TFLOP/s" not in shown


def measured_story(values: dict[str, str], microseconds: float = 3.0):
    """The story as told where a GPU was timed (times and peaks made up)."""
    device = DeviceFacts(0, "a GPU", "9.0", "", "", 132, 0, 0)
    runs = {}
    for i, (role, run) in enumerate(played("The document's device").runs.items()):
        timing = Timing(np.array([microseconds * (1 + i)]))
        found = Measurement("recorded", "", device, timing=timing, peaks=Peaks(4e12, 60e12))
        runs[role] = SimpleNamespace(**{**vars(run), "measurement": found})
    return tell(check_values(LESSON, values), runs)


@pytest.mark.parametrize("device", ["document", "measured", "tiles"])
def test_what_was_measured_is_shown(device: str, qapp: object) -> None:
    story = measured_story({"device": device})
    shown = pictures.words(story.frame(story.duration, pictures.STAGES["full"]))
    assert "recorded" in shown
    assert any("GFLOP/s" in text for text in shown)
    pictures.check_purity(story)
    for stage in pictures.STAGES:
        pictures.check_text(story, stage)


def test_what_is_faster_than_the_roof_is_said() -> None:
    assert "caches" not in measured_story({"device": "measured"}).sentence
    assert "caches serve" in measured_story({"device": "measured"}, 0.0001).sentence


@cases
def test_steps_name_the_line_that_computes(case: str) -> None:
    for step in played(case).story.steps:
        if step.line:
            text = played(case).runs[step.role].trace.source.splitlines()[step.line - 1]
            assert "=" in text and ("*" in text)


@cases
def test_pictures_are_pure(case: str) -> None:
    pictures.check_purity(played(case).story)
    pictures.check_steps(played(case).story)


@cases
@pictures.stages
def test_words_are_legible(case: str, stage: str, qapp: object) -> None:
    pictures.check_text(played(case).story, stage)
    pictures.check_text(played(case, "sm_10").story, stage)
