"""Reductions, scans and histograms against NumPy."""

import numpy as np
import pytest

from tests.ptx.launching import DIALECTS, launch, outputs

rng = np.random.default_rng(1)
pytestmark = pytest.mark.parametrize("arch", DIALECTS)


@pytest.mark.parametrize("step", range(5))
def test_reductions_in_shared_memory(arch, step):
    values = rng.integers(0, 9, 2000).astype(np.float32)
    per_block = 128 * (1 + (step > 2))
    blocks = -(-2000 // per_block)
    _, sums = outputs(
        "parallel",
        f"reduce{step}",
        blocks,
        128,
        values,
        np.zeros(blocks, np.float32),
        2000,
        arch=arch,
        shared=512,
    )
    padded = np.pad(values, (0, blocks * per_block - 2000))
    assert (sums == padded.reshape(blocks, -1).sum(1)).all()


def test_unrolled_and_atomic_reductions(arch):
    values = rng.integers(0, 9, 5000).astype(np.float32)
    result = launch("parallel", "reduce5", 4, 256, values, np.zeros(4, np.float32), 5000, arch=arch)
    assert result.outputs["arg1"].sum() == values.sum()
    assert not result.trace.findings
    assert (
        outputs("parallel", "reduce6", 3, 512, values, np.zeros(1, np.float32), 5000, arch=arch)[1]
        == values.sum()
    )


def test_scans(arch):
    values = rng.integers(-9, 9, 200).astype(np.int32)
    _, out = outputs(
        "parallel", "scan_hillis", 1, 256, values, np.zeros(200, np.int32), 200, arch=arch
    )
    assert (out == values.cumsum()).all()
    values = rng.integers(-9, 9, 512).astype(np.int32)
    _, out = outputs(
        "parallel", "scan_blelloch", 1, 256, values, np.zeros(512, np.int32), 512, arch=arch
    )
    assert (out == values.cumsum() - values).all()


def test_scan_with_look_back_across_blocks(arch):
    count, blocks = 4000, 32
    values = rng.integers(-9, 9, count).astype(np.int32)
    parts = [np.zeros(blocks, np.int32) for _ in range(3)]
    out = outputs(
        "parallel",
        "scan_look_back",
        blocks,
        128,
        values,
        np.zeros(count, np.int32),
        *parts,
        np.zeros(1, np.uint32),
        count,
        arch=arch,
    )[1]
    assert (out == values.cumsum()).all()


@pytest.mark.parametrize("kernel", ["histogram_global", "histogram_shared"])
def test_histograms(arch, kernel):
    values = (rng.random(5000) ** 3 * 256).astype(np.uint8)
    _, bins = outputs("parallel", kernel, 5, 192, values, np.zeros(256, np.uint32), 5000, arch=arch)
    assert (bins == np.bincount(values, minlength=256)).all()


def test_dot_product(arch):
    a, b = rng.integers(0, 9, (2, 3000)).astype(np.float32)
    assert (
        outputs("parallel", "dot", 4, 256, a, b, np.zeros(1, np.float32), 3000, arch=arch)[2]
        == a @ b
    )


def test_loops_of_compare_and_swap(arch):
    values, singles = rng.integers(0, 99, 700).astype(float), rng.random(700).astype(np.float32)
    _, sums, _, largest = outputs(
        "parallel",
        "loops_of_cas",
        3,
        256,
        values,
        np.zeros(3),
        singles,
        np.zeros(1, np.float32),
        700,
        arch=arch,
    )
    assert (sums == [values[k::3].sum() for k in range(3)]).all()
    assert largest == singles.max()


def test_last_block_sums_up(arch):
    values = rng.integers(0, 9, 3000).astype(np.float32)
    out = outputs(
        "parallel",
        "last_block_sums",
        10,
        64,
        values,
        np.zeros(10, np.float32),
        np.zeros(1, np.float32),
        3000,
        arch=arch,
    )[2]
    assert out == values.sum()
