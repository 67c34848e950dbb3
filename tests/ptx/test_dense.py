"""Matrices, convolutions, stencils and factorisations against NumPy in float64."""

import numpy as np
import pytest

from tests.ptx.launching import DIALECTS, launch, outputs

rng = np.random.default_rng(2)
pytestmark = pytest.mark.parametrize("arch", DIALECTS)


def close(found, wanted, tolerance=1e-5):
    return np.allclose(found, wanted, rtol=tolerance, atol=tolerance)


def test_tiled_product_of_odd_sizes(arch):
    m, n, k = 37, 50, 41
    a, b = rng.random((m, k), np.float32), rng.random((k, n), np.float32)
    c = outputs(
        "dense",
        "product_tiled",
        (4, 3),
        (16, 16),
        a,
        b,
        np.zeros((m, n), np.float32),
        m,
        n,
        k,
        arch=arch,
    )[2]
    assert close(c, a.astype(float) @ b)


@pytest.mark.parametrize(
    "kernel, grid, block", [("product_registers", (2, 2), 256), ("product_async", (8, 8), (16, 16))]
)
def test_product_in_registers_and_by_asynchronous_copies(arch, kernel, grid, block):
    a, b = rng.random((2, 128, 128), np.float32)
    result = launch(
        "dense", kernel, grid, block, a, b, np.zeros((128, 128), np.float32), 128, arch=arch
    )
    assert close(result.outputs["arg2"], a.astype(float) @ b)
    assert not result.trace.findings


@pytest.mark.parametrize("count", [0, 5, 77, 128])
def test_partial_asynchronous_copy_fills_zeros(arch, count):
    values = rng.random(128, np.float32)
    out = outputs("dense", "copy_part", 1, 32, values, np.ones(128, np.float32), count, arch=arch)[
        1
    ]
    assert (out[:count] == values[:count]).all() and not out[count:].any()


def test_transpose(arch):
    values = rng.random((50, 70), np.float32)
    out = outputs(
        "dense",
        "transpose",
        (3, 2),
        (32, 8),
        values,
        np.zeros((70, 50), np.float32),
        70,
        50,
        arch=arch,
    )[1]
    assert (out == values.T).all()


def test_convolutions_with_constant_memory(arch):
    values = rng.random(300, np.float32)
    out = outputs("dense", "convolve", 3, 128, values, np.zeros(300, np.float32), 300, arch=arch)[1]
    weights = [0.05, 0.07, 0.1, 0.15, 0.26, 0.15, 0.1, 0.07, 0.05]
    assert close(out, np.convolve(values.astype(float), weights, "same"))
    image = rng.integers(0, 256, (20, 33), np.uint8)
    out = outputs(
        "dense", "blur", (3, 2), (13, 11), image, np.zeros_like(image), 33, 20, arch=arch
    )[1]
    wide = np.pad(image.astype(int), 1, "edge")
    sums = sum(
        w * wide[j : j + 20, i : i + 33]
        for j, row in enumerate([[1, 2, 1], [2, 4, 2], [1, 2, 1]])
        for i, w in enumerate(row)
    )
    assert (out == sums // 16).all()


def test_stencil_in_three_dimensions(arch):
    v = rng.random((9, 11, 13), np.float32)
    out = outputs(
        "dense", "stencil3d", (2, 3, 3), (8, 4, 3), v, np.zeros_like(v), 13, 11, 9, arch=arch
    )[1]
    near = (
        v[1:-1, 1:-1, :-2]
        + v[1:-1, 1:-1, 2:]
        + v[1:-1, :-2, 1:-1]
        + v[1:-1, 2:, 1:-1]
        + v[:-2, 1:-1, 1:-1]
        + v[2:, 1:-1, 1:-1]
    )
    assert close(out[1:-1, 1:-1, 1:-1], near * 0.125 + v[1:-1, 1:-1, 1:-1] * 0.25)


def test_hotspot(arch):
    n, steps = 40, 3
    temp, power = rng.random((2, n, n), np.float32)
    blocks = -(-n // (16 - 2 * steps))
    out = outputs(
        "dense",
        "hotspot",
        (blocks, blocks),
        (16, 16),
        temp,
        power,
        np.zeros((n, n), np.float32),
        n,
        steps,
        arch=arch,
    )[2]
    now = temp.astype(float)
    for _ in range(steps):
        wide = np.pad(now, 1, "edge")
        now = now + 0.1 * (
            power + wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:] - 4 * now
        )
    assert close(out, now)


@pytest.mark.slow
def test_factorisations(arch):
    n = 20
    a = rng.random((n, n)) + n * np.eye(n)
    now = a.copy()
    for k in range(n - 1):
        now = outputs("dense", "lu_step", (1, n - 1 - k), 32, now, n, k, arch=arch)[0]
    b = rng.random(n).astype(np.float32)
    left, right = a.astype(np.float32), b
    for k in range(n - 1):
        left, right = outputs("dense", "gaussian", 1, 32, left, right, n, k, arch=arch)
    assert close(np.linalg.solve(np.triu(left.astype(float)), right), np.linalg.solve(a, b), 1e-4)
    assert close(np.linalg.det(np.triu(now)), np.linalg.det(a), 1e-9)
    s = a @ a.T
    assert close(
        np.tril(outputs("dense", "cholesky", 1, 32, s, n, arch=arch)[0]),
        np.linalg.cholesky(s),
        1e-10,
    )


def test_floyd_warshall(arch):
    n = 20
    d = rng.integers(1, 100, (n, n)).astype(np.int32)
    now, wanted = d, d.copy()
    for k in range(n):
        now = outputs("dense", "floyd", (2, 2), (16, 16), now, n, k, arch=arch)[0]
        wanted = np.minimum(wanted, wanted[:, k : k + 1] + wanted[k : k + 1])
    assert (now == wanted).all()


def test_indices_of_odd_shapes(arch):
    grid, block = (3, 2, 4), (5, 3, 3)
    out = outputs("dense", "indices", grid, block, np.zeros(24 * 45, np.int32), arch=arch)[0]
    bz, by, bx, tz, ty, tx = np.indices((4, 2, 3, 3, 3, 5))
    wanted = bx + 10 * by + 100 * bz + 1000 * tx + 10000 * ty + 100000 * tz
    assert (out == wanted.reshape(-1)).all()
