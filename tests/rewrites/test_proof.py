"""What is advised is right and faster; what is not is left, with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

import gpuviz
from gpuviz.base.errors import InputError
from gpuviz.launch.job import Job
from gpuviz.rewrites import proof
from gpuviz.rewrites.atomics import sum_of_warp
from gpuviz.rewrites.kernel_text import KernelText, Rewrite, kernel_text
from gpuviz.rewrites.proof import TOLERANCE, Advised, furthest_apart
from tests.rewrites.kernels import TEXTBOOK


def advised(name: str) -> Advised:
    one = TEXTBOOK[name]
    return gpuviz.trace(one.text, one.grid, one.block, one.arguments).advice()


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTBOOK)
def test_what_textbooks_mend_is_mended_as_they_do(name: str) -> None:
    found = advised(name)
    rules = [one.rewrite.rule for one in found.proven]
    assert TEXTBOOK[name].mended_by in rules
    for one in found.proven:
        assert one.microseconds is not None and one.microseconds < 0.97 * found.microseconds
        assert one.outputs.startswith("equal") or one.rewrite.rounds
    assert all(one.why for one in found.trials if one.verdict in ("wrong", "does not run"))


@pytest.mark.slow
def test_the_text_advised_does_the_same_from_the_beginning() -> None:
    """As a user would write it: nothing of the trial is left in it."""
    one = TEXTBOOK["transpose"]
    best = advised("transpose").proven[0]
    values = np.arange(65536, dtype="f4")
    arguments = (np.zeros(65536, "f4"), values, 256)
    run = gpuviz.trace(best.rewrite.text, one.grid, one.block, arguments)
    assert (run.arrays["out"].reshape(256, 256) == values.reshape(256, 256).T).all()
    assert not run.findings


SCALE = """__global__ void k(float* y, const float* x) {
    y[threadIdx.x] = 2 * x[threadIdx.x];
}
"""


def always(text: str) -> object:
    """A rule that makes this text of every kernel."""

    def rule(kernel: KernelText, job: Job) -> Iterator[Rewrite]:
        yield Rewrite("unroll", {}, 1, text)

    return rule


@pytest.mark.machine_code
@pytest.mark.parametrize(
    ("line", "verdict", "why"),
    [
        (
            "y[threadIdx.x] = x[0] + x[0];",
            "wrong",
            "other values in y",
        ),  # as right where all are ones
        ("y[threadIdx.x] = 2 * x[threadIdx.x + 64];", "wrong", "illegal global access"),
        ("y[threadIdx.x] = 2 * z[threadIdx.x];", "does not run", "z"),
        ("y[0] = 1; y[threadIdx.x] = 2 * x[threadIdx.x];", "wrong", ""),
        ("y[threadIdx.x] = x[threadIdx.x] + x[threadIdx.x];", "not faster", ""),
    ],
)
def test_what_is_not_right_or_not_faster_is_left(
    line: str, verdict: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = SCALE.replace("y[threadIdx.x] = 2 * x[threadIdx.x];", line)
    monkeypatch.setattr(proof, "RULES", (always(text),))
    (trial,) = gpuviz.trace(SCALE, 1, 64, ("f32[64]=zeros", "f32[64]=ones")).advice().trials
    assert trial.verdict == verdict and why in trial.why


def test_nothing_is_proven_of_a_launch_at_fault() -> None:
    run = gpuviz.trace(SCALE, 1, 64, ("f32[32]=zeros", "f32[64]=ones"))
    with pytest.raises(InputError, match="at fault as it is: illegal global access"):
        run.advice()


def test_an_address_that_depends_on_the_thread_is_not_summed_over_the_warp() -> None:
    one = TEXTBOOK["histogram"]
    run = gpuviz.trace(one.text, one.grid, one.block, one.arguments)
    text = kernel_text(one.text, "k")
    assert text is not None and run._job is not None
    assert not list(sum_of_warp(text, run._job))


@pytest.mark.parametrize(
    ("after", "least", "most"),
    [
        (np.float32([1, 2, 4]), 0, 0),
        (np.float32([1, 2, 4.00001]), 1e-7, TOLERANCE),
        (np.float32([1, 2, 4.1]), 0.02, 0.03),
        (np.float32([1, 2, np.nan]), np.inf, np.inf),
        (np.float32([1, 2, -4]), 2, 2),
    ],
)
def test_how_far_buffers_are_apart(after: np.ndarray, least: float, most: float) -> None:
    before = {"x": np.int32([1]), "y": np.float32([1, 2, 4])}
    name, apart = furthest_apart(before, {"x": np.int32([1]), "y": after})
    assert least <= apart <= most and (not apart or name == "y")
    assert furthest_apart(before, {"x": np.int32([2]), "y": before["y"]}) == ("x", np.inf)


def test_blocks_of_another_shape_cover_the_same_threads() -> None:
    run = gpuviz.trace(SCALE, 3, 100, ("f32[300]=zeros", "f32[300]=ones"))
    assert run._job is not None
    text = kernel_text(SCALE, "k")
    assert text is not None
    for one in proof.shapes(text, replace(run._job)):
        assert one.grid and one.block and one.grid[0] * one.block[0] >= 300
