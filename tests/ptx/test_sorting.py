"""Sorting, graphs, dynamic programming and searching against Python."""

import numpy as np
import pytest

from tests.ptx.launching import DIALECTS, outputs

rng = np.random.default_rng(3)
pytestmark = pytest.mark.parametrize("arch", DIALECTS)


def test_bitonic_sorts(arch):
    data = rng.integers(0, 2**32, 256, np.uint32)
    now, k = data, 2
    while k <= 256:
        j = k // 2
        while j:
            now = outputs("sorting", "bitonic", 4, 64, now, 256, j, k, arch=arch)[0]
            j //= 2
        k *= 2
    assert (now == np.sort(data)).all()
    rows = rng.integers(-99, 99, (3, 256)).astype(np.int32)
    assert (outputs("sorting", "bitonic_shared", 3, 256, rows, arch=arch)[0] == np.sort(rows)).all()


def test_odd_even_and_radix_sort(arch):
    data = rng.integers(-99, 99, 61).astype(np.int16)
    assert (outputs("sorting", "odd_even", 1, 32, data, 61, arch=arch)[0] == np.sort(data)).all()
    wide = rng.integers(0, 2**32, 256, np.uint32)
    assert (outputs("sorting", "radix_split", 1, 256, wide, arch=arch)[0] == np.sort(wide)).all()


def graph(n):
    """Compressed rows of a random graph, and the depth of each node from node 0."""
    near = [rng.choice(n, rng.integers(1, 5), False) for _ in range(n)]
    start = np.cumsum([0, *map(len, near)]).astype(np.int32)
    depth, wave = np.full(n, -1, np.int32), [0]
    depth[0] = 0
    while wave:
        fresh = []
        for v in wave:
            for w in near[v]:
                if depth[w] < 0:
                    depth[w] = depth[v] + 1
                    fresh.append(w)
        wave = fresh
    return start, np.concatenate(near).astype(np.int32), depth


def test_breadth_first_search(arch):
    start, edge, wanted = graph(100)
    depth = np.full(100, -1, np.int32)
    depth[0] = 0
    level, changed = 0, True
    while changed:
        _, _, depth, flag = outputs(
            "sorting",
            "bfs",
            1,
            128,
            start,
            edge,
            depth,
            np.zeros(1, np.int32),
            100,
            level,
            arch=arch,
        )
        level, changed = level + 1, bool(flag[0])
    assert (depth == wanted).all()


def test_breadth_first_search_with_queues(arch):
    start, edge, wanted = graph(100)
    depth, queue, count = np.full(100, -1, np.int32), np.zeros(100, np.int32), 1
    depth[0] = 0
    while count:
        _, _, depth, _, queue, counts = outputs(
            "sorting",
            "bfs_queue",
            2,
            64,
            start,
            edge,
            depth,
            queue,
            count,
            np.zeros(100, np.int32),
            np.zeros(1, np.int32),
            arch=arch,
        )
        count = int(counts[0])
    assert (depth == wanted).all()


@pytest.mark.parametrize("kernel, grid", [("spmv_scalar", 1), ("spmv_vector", 15)])
def test_sparse_matrix_times_vector(arch, kernel, grid):
    a = rng.random((60, 60)) * (rng.random((60, 60)) < 0.3)
    rows, cols = np.nonzero(a)
    start = np.searchsorted(rows, np.arange(61)).astype(np.int32)
    x = rng.random(60)
    y = outputs(
        "sorting",
        kernel,
        grid,
        128,
        start,
        cols.astype(np.int32),
        a[rows, cols],
        x,
        np.zeros(60),
        60,
        arch=arch,
    )[4]
    assert np.allclose(y, a @ x, rtol=1e-13)


def test_needle_along_diagonals(arch):
    n, penalty = 48, 3
    match = rng.integers(-4, 9, (n, n)).astype(np.int32)
    score = np.zeros((n + 1, n + 1), np.int32)
    score[0] = score[:, 0] = -penalty * np.arange(n + 1)
    wanted = score.copy()
    for y in range(1, n + 1):
        for x in range(1, n + 1):
            wanted[y, x] = max(
                wanted[y - 1, x - 1] + match[y - 1, x - 1],
                max(wanted[y, x - 1], wanted[y - 1, x]) - penalty,
            )
    tiles = n // 16
    for d in range(2 * tiles - 1):
        score = outputs(
            "sorting",
            "needle",
            min(d + 1, 2 * tiles - 1 - d),
            16,
            score,
            match,
            n,
            penalty,
            d,
            arch=arch,
        )[0]
    assert (score == wanted).all()


def test_game_of_life(arch):
    now = rng.integers(0, 2, (20, 30), np.uint8)
    out = outputs("sorting", "life", (2, 3), (16, 8), now, np.zeros_like(now), 30, 20, arch=arch)[1]
    near = sum(np.roll(now, (j, i), (0, 1)) for j in (-1, 0, 1) for i in (-1, 0, 1)) - now
    assert (out == ((near == 3) | ((near == 2) & (now == 1)))).all()


def test_search_and_merge(arch):
    text = np.frombuffer(b"abracadabra and abrabra", np.int8)
    _, found, count = outputs(
        "sorting",
        "find",
        1,
        32,
        text,
        len(text),
        4,
        np.zeros(len(text), np.int32),
        np.zeros(1, np.int32),
        arch=arch,
    )
    assert list(np.flatnonzero(found)) == [0, 7, 16, 19] and count == 4
    a, b = (np.sort(rng.integers(0, 50, n)).astype(np.int32) for n in (40, 70))
    out = outputs("sorting", "merge_path", 2, 64, a, b, np.zeros(110, np.int32), 40, 70, arch=arch)[
        2
    ]
    assert (out == np.sort(np.concatenate([a, b]))).all()
