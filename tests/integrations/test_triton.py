import re

import numpy as np
import pytest

import gpuviz
from gpuviz.base.errors import InputError

pytest.importorskip("triton")
programs = pytest.importorskip("tests.integrations.triton_programs")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")]


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_an_elementwise_kernel(arch: str) -> None:
    n = 5000
    x, y = (np.random.default_rng(seed).random(n, "f4") for seed in (1, 2))
    out = np.zeros(n, "f4")
    run = gpuviz.trace(programs.add, 5, None, (x, y, out, n), {"BLOCK": 1024}, arch=arch)
    assert (run.arrays["out_ptr"] == x + y).all() and not out.any()
    assert (run.arch, run.level, run.block) == (arch, "sass", (128, 1, 1))
    code = {row["line"]: row["code"] for row in run.lines}
    assert [text.split(" ")[0] for text in code.values()] == ["x", "y", "tl.store(out_ptr"]
    assert run.counts["global_load_bytes"] == 2 * 4 * n == 2 * run.counts["global_store_bytes"]


def test_what_is_divisible_is_read_in_vectors() -> None:
    """Triton specialises on n: 16 divides 4096 and not 4095."""
    x, out = np.ones(4096, "f4"), np.zeros(4096, "f4")
    wide, narrow = (
        gpuviz.count(programs.add, 4, None, (x, x, out, n), {"BLOCK": 1024}) for n in (4096, 4095)
    )
    assert wide["global_load_requests"] * 4 == narrow["global_load_requests"]


def test_rows_are_reduced_in_shared_memory() -> None:
    x = np.random.default_rng(3).standard_normal((8, 1000), "f4")
    out = np.zeros_like(x)
    args = (out, x, 1000, 1000)
    run = gpuviz.trace(programs.softmax, 8, None, args, {"BLOCK": 1024, "num_warps": 8})
    e = np.exp(x - x.max(1, keepdims=True))
    assert np.allclose(run.arrays["out_ptr"], e / e.sum(1, keepdims=True), rtol=1e-5)
    assert run.block == (256, 1, 1) and run.counts["shared_load_wavefronts"] > 0
    source = run.trace.source.splitlines()
    lines = [source[row["line"] - 1] for row in run.lines if row["line"]]
    assert any("tl.max" in line for line in lines) and any("tl.load" in line for line in lines)


def test_a_transposed_tile_goes_through_shared_memory() -> None:
    x = np.arange(64 * 64, dtype="f4").reshape(64, 64)
    run = gpuviz.trace(programs.transpose, (2, 2), None, (x, np.zeros_like(x), 64), {"BLOCK": 32})
    assert (run.arrays["out_ptr"] == x.T).all()
    assert run.counts["shared_store_wavefronts"] >= run.counts["shared_store_wavefronts_ideal"] > 0
    assert "wavefront" in run.picture("banks").title


def test_tuning_and_heuristics_choose_constants() -> None:
    x = np.ones(1024, "f4")
    grid = lambda meta: (-(-meta["n"] // meta["BLOCK"]),)  # noqa: E731
    run = gpuviz.trace(programs.scale, grid, None, (x, 2.5, 1024), inplace=True)
    assert (x == 2.5).all() and run.grid == (4, 1, 1) and run.block == (64, 1, 1)
    assert any("the first of 2 configurations" in note for note in run.notes)


@pytest.mark.parametrize(
    "grid, block, args, kwargs, said",
    [
        (None, None, (1, 2), {"BLOCK": 32}, "missing 2 required positional arguments"),
        (1, None, (np.ones(1), np.ones(1), np.ones(1), 1), {"BLCK": 1}, "missing"),
        (1, None, (np.ones(1), np.ones(1), np.ones(1), 1), {"BLOCK": 1, "warps": 2}, "warps"),
        (1, 64, (np.ones(1), np.ones(1), np.ones(1), 1), {"BLOCK": 128}, "has 128 threads"),
        (None, None, (np.ones(1), np.ones(1), np.ones(1), 1), {"BLOCK": 128}, "needs a grid"),
    ],
)
def test_what_does_not_fit_is_told(
    grid: object, block: object, args: tuple, kwargs: dict, said: str
) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        gpuviz.trace(programs.add, grid, block, args, kwargs)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_tensor_cores_multiply(arch: str) -> None:
    """mma on Ampere, wgmma on Hopper, stages filled by cp.async on both: no race, and exact but
    for the rounding of the result, as products of small integers are.
    """
    random = np.random.default_rng(5)
    a, b = (random.integers(-4, 5, shape).astype("f2") for shape in ((128, 192), (192, 64)))
    args = (a, b, np.zeros((128, 64), "f2"), 128, 64, 192)
    tiles = {"BM": 64, "BN": 64, "BK": 64}
    run = gpuviz.trace(programs.product, (2, 1), None, args, tiles, arch=arch)
    assert (run.arrays["c"] == (a.astype("f8") @ b.astype("f8")).astype("f2")).all()
    assert ("wgmma.mma_async" if arch == "sm_90" else "mma.sync") in run.trace.ptx
    assert not run.trace.findings


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_attention_is_softmax_of_a_product_times_values(arch: str) -> None:
    random = np.random.default_rng(6)
    q, k, v = (random.standard_normal((2, 128, 64)).astype("f2") for _ in range(3))
    args = (q, k, v, np.zeros_like(q), 128, float(np.log2(np.e) / 8))
    tiles = {"BM": 64, "BN": 64, "D": 64}
    run = gpuviz.trace(programs.attention, (2, 2), None, args, tiles, arch=arch)
    wide = [x.astype("f8") for x in (q, k, v)]
    p = np.exp(wide[0] @ wide[1].transpose(0, 2, 1) / 8)
    right = p / p.sum(2, keepdims=True) @ wide[2]
    assert np.abs(run.arrays["o"] - right).max() < 1e-3
    assert not run.trace.findings


def test_boxes_are_fetched_by_maps_that_the_kernel_makes() -> None:
    """The last boxes reach beyond the edges: 100 of 128 rows, 152 of 192 along k."""
    random = np.random.default_rng(7)
    a, b = (random.integers(-4, 5, (n, 152)).astype("f2") for n in (100, 72))
    args = (a, b, np.zeros((100, 72), "f2"), 100, 72, 152)
    tiles = {"BM": 64, "BN": 64, "BK": 64}
    run = gpuviz.trace(programs.boxes, (2, 2), None, args, tiles, arch="sm_90")
    assert (run.arrays["c"] == (a.astype("f8") @ b.astype("f8").T).astype("f2")).all()
    assert "tensormap.replace" in run.trace.ptx and not run.trace.findings
    assert any("tensor maps that the kernel makes itself" in note for note in run.notes)
