import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.compile import nvrtc
from gpuviz.scenes.launch_limits import LESSON, PUBLISHED, attempted, limits, refusal, sequential
from gpuviz.scenes.perform import Performance
from tests.scenes import pictures
from tests.scenes.performed import performed

CASES = {p.label: dict(p.values) for p in LESSON.presets} | {
    "huge": {"elements": 1 << 28, "threads": 32, "along": "y", "shared": 256, "copy": "symbol"},
    "shared beyond 48 KiB": {"elements": 4096, "shared": 100},
}
cases = pytest.mark.parametrize("case", CASES)
pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")


def played(case: str, arch: str = "sm_90") -> Performance:
    return performed(LESSON, CASES[case], arch=arch)


def asked(case: str):
    return attempted({**LESSON.defaults(), **CASES[case]})


@cases
def test_the_kernel_computes_a_fused_multiply_add(case: str) -> None:
    run = played(case).runs["fma4"]
    a, b, c = (run.outputs[name].astype(np.float64) for name in "abc")
    exact = a * b + c  # of float32 values: exact in float64 but for its last bits
    assert np.abs(run.outputs["d"] - exact).max() <= np.spacing(np.float32(exact.max())) / 2 * 1.01
    assert np.abs(sequential(run) - exact).max() < 2e-7


@pytest.mark.parametrize(
    ("case", "arch", "reason"),
    [
        ("2^18 blocks along y", "sm_90", "grid y is 262,144: Hopper (9.0) allows at most 65,535"),
        ("2^18 blocks along x", "sm_90", ""),
        ("2^18 blocks along x", "sm_20", "grid x is 262,144: Fermi (2.0) allows at most 65,535"),
        ("2^18 blocks along x", "sm_11", "grid x is 262,144: Tesla (1.1) allows at most 65,535"),
        ("2048 threads a block", "sm_90", "block x is 2,048: Hopper (9.0) allows at most 1,024"),
        ("Too much shared memory", "sm_90", "allows at most 232,448"),
        ("shared beyond 48 KiB", "sm_90", ""),
        ("shared beyond 48 KiB", "sm_75", "allows at most 65,536"),
    ],
)
def test_the_reason_is_that_of_the_launch_check(case: str, arch: str, reason: str) -> None:
    found = refusal(asked(case), arch)
    assert reason in found and bool(found) == bool(reason)
    words = played(case, arch).story.sentence
    assert not reason or reason[1:] in words


@cases
def test_a_row_is_refused_exactly_where_the_check_refuses(case: str) -> None:
    plan, run = asked(case), played(case).runs["fma4"]
    for arch in ("sm_11", "sm_20", "sm_90"):
        rows = limits(plan, run, architecture(arch))
        assert any(row.refused(-1) for row in rows) == bool(refusal(plan, arch))


def test_the_published_limits_are_those_of_the_architectures() -> None:
    plan, run = asked("2^18 blocks along x"), played("2^18 blocks along x").runs["fma4"]
    for column, arch in enumerate(("sm_11", "sm_20")):
        for row in limits(plan, run, architecture(arch)):
            said = row.allowed[column]
            assert said is None or said == row.allowed[-1], (arch, row.name)
    assert PUBLISHED["8600 GTS"]["shared"] == 16384 and PUBLISHED["GF100"]["threads"] == 1024


def words(case: str, share: float = 1.0, arch: str = "sm_90") -> list[str]:
    story = played(case, arch).story
    return pictures.words(pictures.frame(story, share, "large"))


def test_what_never_ran_leaves_the_result_as_it_was() -> None:
    run = played("2^18 blocks along y").runs["fma4"]
    largest = float(np.abs(sequential(run)).max())
    assert f"maximum difference {largest:.3g}" in words("2^18 blocks along y")
    assert "cudaErrorInvalidValue" in words("2^18 blocks along y")
    assert "fails, silently" in words("Plain copy of a symbol")


def test_what_ran_differs_by_rounding_alone() -> None:
    shown = words("1000 elements: it works")
    assert "maximum difference 1.19e-07" in shown and "cudaSuccess" in shown
    assert "last warp that stores: 24 lanes have no element" in " ".join(shown)


def test_nothing_is_refused_before_it_was_compared() -> None:
    assert not any("×" in text for text in words("2^18 blocks along y", 0.05))
    assert sum("×" in text for text in words("2^18 blocks along y")) == 3


@cases
def test_pictures_are_pure(case: str) -> None:
    pictures.check_purity(played(case).story)
    pictures.check_steps(played(case).story)


@cases
@pytest.mark.parametrize("stage", pictures.STAGES)
def test_words_are_legible(case: str, stage: str, qapp: object) -> None:
    for arch in ("sm_90", "sm_121"):
        pictures.check_text(played(case, arch).story, stage)


def test_the_grid_is_rounded_up() -> None:
    assert "8 blocks; 24 threads" in played("1000 elements: it works").story.expected
    launch = played("1000 elements: it works").runs["fma4"].trace.launch
    assert launch.blocks == 8
