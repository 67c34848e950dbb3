"""Warps and blocks: exchanges, votes, groups, barriers, locks."""

import numpy as np
import pytest

from tests.ptx.launching import DIALECTS, launch, outputs

rng = np.random.default_rng(7)
pytestmark = pytest.mark.parametrize("arch", DIALECTS)


def test_exchanges(arch):
    x = rng.integers(0, 97, 96).astype(np.int32)
    lane, base = np.arange(96) % 32, np.arange(96) // 32 * 32
    inside = lambda ok, at: np.where(ok, x[np.where(ok, base + at, 0)], x)  # noqa: E731
    rows = x.reshape(3, 32)
    per_warp = lambda values: np.repeat(values, 32)  # noqa: E731
    bits = lambda flags: (flags.reshape(-1, 32) * (1 << np.arange(32))).sum(-1)  # noqa: E731
    same = rows[:, :, None] % 5 == rows[:, None, :] % 5
    alike = (rows // 32 == rows[:, :1] // 32).all(1)
    wanted = [
        inside(True, 5),
        inside(True, lane // 8 * 8 + (lane + 3) % 8),
        inside(lane >= 2, lane - 2),
        inside(lane % 16 >= 3, lane - 3),
        inside(lane + 4 < 32, lane + 4),
        inside(lane % 4 < 3, lane + 1),
        inside(True, lane ^ 7),
        inside((lane ^ 9) < lane // 8 * 8 + 8, lane ^ 9),
        inside(True, x % 32),
        per_warp(bits(x & 1)),
        per_warp((rows > 95).any(1)),
        per_warp((rows > 3).all(1)),
        32,
        inside(True, lane ^ 1),
        bits(same).reshape(-1),
        per_warp(np.where(alike, 2**32 - 1, 0)),
        per_warp(alike),
        per_warp(rows.sum(1)),
        per_warp((-rows).max(1)),
        per_warp(np.bitwise_or.reduce(rows & 12, 1)),
        per_warp(rows.min(1)),
    ]
    found = outputs("warps", "shuffles", 1, 96, x, np.zeros((21, 96), np.int32), arch=arch)[1]
    wide = [np.broadcast_to(np.asarray(w).astype(np.int64), 96).astype(np.uint32) for w in wanted]
    assert [k for k, w in enumerate(wide) if (found[k].view(np.uint32) != w).any()] == []


def test_exchanges_of_parts_of_a_warp(arch):
    x = rng.integers(0, 97, 64).astype(np.int32)
    r = np.zeros((2, 32), int)
    for w, row in enumerate(x.reshape(2, 32)):
        r[w, :12] = np.append(row[1:12], row[11]) + 100 * ((row[:12] & 2) > 0).sum()
        odd = np.flatnonzero(row[12:] % 2) + 12
        r[w, odd] = 7 * len(odd) + row[odd[0]]
    wanted = r + r[:, np.arange(32) ^ 1]
    # lane 11 reads lane 12, which is not a member: undefined, here its own register
    found = outputs("warps", "parts_of_warps", 1, 64, x, np.zeros(64, np.int32), arch=arch)[1]
    found = found.reshape(2, 32)
    assert (found[:, :10] == wanted[:, :10]).all() and (found[:, 12:] == wanted[:, 12:]).all()


def test_scan_in_a_warp(arch):
    x = rng.integers(0, 97, (5, 32)).astype(np.int32)
    out = outputs("warps", "warp_scan", 1, 160, x, np.zeros_like(x), arch=arch)[1]
    assert (out == x.cumsum(1)).all()


@pytest.mark.slow
def test_cooperative_groups(arch):
    x = rng.integers(0, 100, 500).astype(np.int32)
    out, count = outputs(
        "cooperative",
        "aggregated",
        4,
        128,
        x,
        np.zeros(500, np.int32),
        np.zeros(1, np.int32),
        500,
        arch=arch,
    )[1:]
    assert count == (x > 50).sum() and (np.sort(out[: count[0]]) == np.sort(x[x > 50])).all()
    x = rng.integers(0, 62, (3, 4, 8)).astype(np.int32)
    out = outputs("cooperative", "tiles", 1, 96, x, np.zeros_like(x), arch=arch)[1]
    ballot = ((x & 1) << np.arange(8)).sum(2) * np.array([1, 0, 1, 0])
    wanted = (x.sum(2) + ballot + (x > 60).any((1, 2))[:, None])[..., None] + np.arange(8)
    assert (out == wanted).all()


@pytest.mark.slow
def test_collectives_of_groups(arch):
    x = rng.integers(0, 100, (4, 16)).astype(np.int32)
    found = outputs(
        "cooperative", "collectives", 1, 64, x, np.zeros((6, 4, 16), np.int32), arch=arch
    )[1]
    odd = x[:, :, None] % 2 == x[:, None, :] % 2
    size, rank = odd.sum(2), (odd & np.tri(16, k=-1, dtype=bool)).sum(2)
    same = (x[:, :, None] % 3 == x[:, None, :] % 3).sum(2)
    wide = np.ones((4, 16), int)
    wanted = [
        x.sum(1)[:, None] * wide,
        x.max(1)[:, None] * wide,
        x.cumsum(1),
        x.cumsum(1) - x,
        size * 100 + rank,
        same * 101,
    ]
    assert [k for k, w in enumerate(wanted) if (found[k] != w).any()] == []


def test_barrier_of_the_grid(arch):
    n, steps = 300, 6
    now = rng.integers(0, 9, n).astype(np.int32)
    both = outputs("warps", "grid_steps", 5, 64, now, np.zeros(n, np.int32), n, steps, arch=arch)
    for _ in range(steps):
        now = now + np.roll(now, -64)
    assert (both[steps % 2] == now).all()


def test_polling_by_atomics(arch):
    out = outputs(
        "warps",
        "poll_by_atomics",
        40,
        32,
        np.zeros(1, np.int32),
        np.zeros(40, np.int32),
        np.zeros((40, 32), np.int32),
        arch=arch,
    )[2]
    assert (out == ((np.arange(40) + 1) % 40 * 3)[:, None]).all()


@pytest.mark.parametrize("grid, block", [(1, 32), (7, 20), (2, 64)])
def test_locks(arch, grid, block):
    count = grid * block
    total, log = outputs(
        "warps",
        "locked",
        grid,
        block,
        np.zeros(1, np.int32),
        np.full(count, -1, np.int32),
        arch=arch,
    )
    assert total == count and (np.sort(log) == np.arange(count)).all()
    assert outputs("warps", "spinning", grid, block, np.zeros(1, np.int32), arch=arch)[0] == count


def test_early_exit_before_a_barrier(arch):
    x = rng.integers(0, 9, 70).astype(np.int32)
    result = launch("warps", "early_exit", 1, 100, x, np.zeros(70, np.int32), 70, arch=arch)
    assert (result.outputs["arg1"] == x[::-1]).all()


def test_counting_barriers(arch):
    x = rng.integers(0, 97, (3, 50)).astype(np.int32)
    out = outputs("warps", "counted", 3, 50, x, np.zeros_like(x), arch=arch)[1]
    wanted = (x > 10).sum(1) * 100 + (x > 2).all(1) * 10 + (x > 95).any(1)
    assert (out == wanted[:, None]).all()


def test_named_barriers(arch):
    x = rng.integers(0, 97, (8, 32)).astype(np.int32)
    out = outputs("warps", "producer_consumer", 1, 64, x, np.zeros_like(x), 8, arch=arch)[1]
    assert (out == 2 * x[:, ::-1]).all()
    x = rng.integers(0, 97, (4, 64)).astype(np.int32)
    wanted = x.copy()
    for group in range(4):
        for _ in range(group + 1):
            wanted[group] += np.roll(wanted[group], -1)
    result = launch("warps", "group_barriers", 1, 256, x, np.zeros_like(x), arch=arch)
    assert (result.outputs["arg1"] == wanted).all()


def test_volatile_warp_reduction(arch):
    x = rng.integers(0, 97, 32).astype(np.int32)
    out = outputs("warps", "volatile_warp", 1, 32, x, np.zeros(1, np.int32), arch=arch)[1]
    assert out == x.sum()


def test_every_atomic(arch):
    n = 96
    t = np.arange(n)
    plain = np.array([2**32 - 1, 0, 0, 3, 0, 5, 0, 10**6, 0, 0], np.uint32)
    ints, plain, wide, real, twice, old = outputs(
        "warps",
        "every_atomic",
        1,
        n,
        np.zeros(8, np.int32),
        plain,
        np.array([0, 0, 2**64 - 1], np.uint64),
        np.zeros(2, np.float32),
        np.zeros(1),
        np.zeros(n, np.int32),
        arch=arch,
    )
    total = int(t.sum())
    mixed = int(np.bitwise_xor.reduce(t * 3))
    assert list(ints) == [total, -total, 1 - n, n - 1, total, n - 1, 0, mixed]
    up = down = 0
    start = 3
    for _ in t:
        start = 0 if start >= 9 else start + 1
        down = 6 if down == 0 or down > 6 else down - 1
        up = 0 if up >= 10 else up + 1
    assert list(plain[:5]) == [0, 2**20 - 1, int(np.bitwise_xor.reduce(t)), start, down]
    assert list(plain[5:]) == [77, n, 1001 - n, up, 2 * n]
    assert list(wide) == [sum(1 << k % 40 for k in range(n)), 1 << 49, 15 << 60]
    assert real[0] == total / 2 and real[1] == 2.5
    assert np.isclose(twice[0], (1 / (t + 1)).sum())
    assert sorted(old) == sorted(np.cumsum(t) - t)


def test_cooperative_grid(arch):
    out = outputs("cooperative", "grid_syncs", 4, 64, *np.zeros((2, 256), np.int32), arch=arch)[0]
    assert (out == (np.arange(256) + 47) % 256).all()
