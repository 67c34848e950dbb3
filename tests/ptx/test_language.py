"""The CUDA language: calls, pointers, classes, aggregates, storage, printf."""

import struct

import numpy as np
import pytest

from gpuviz.base.errors import KernelFault
from tests.ptx.launching import DIALECTS, launch, outputs

rng = np.random.default_rng(6)
pytestmark = pytest.mark.parametrize("arch", DIALECTS)


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def ackermann(m, n):
    if not m:
        return n + 1
    return ackermann(m - 1, ackermann(m, n - 1) if n else 1)


def test_recursion(arch):
    out = outputs("language", "recursion", 2, 50, np.zeros((100, 2), np.int32), arch=arch)[0]
    assert list(out[:, 0]) == [fibonacci(i % 11) for i in range(100)]
    assert list(out[:, 1]) == [ackermann(i % 3, i % 4) for i in range(100)]


def test_recursive_quicksort(arch):
    rows = rng.integers(0, 50, (70, 23)).astype(np.int32)
    assert (outputs("language", "sort_rows", 2, 35, rows, 23, arch=arch)[0] == np.sort(rows)).all()


@pytest.mark.parametrize("by_warp", [0, 1])
def test_function_pointers(arch, by_warp):
    a, b = rng.random((2, 192), np.float32)
    out = outputs(
        "language", "pointers", 2, 96, a, b, np.zeros(192, np.float32), by_warp, arch=arch
    )[2]
    i = np.arange(192)
    assert (out == np.choose((i // 32 if by_warp else i) % 3, [a + b, a - b, a * b])).all()


def test_virtual_functions(arch):
    out = outputs("language", "virtuals", 1, 40, np.zeros((40, 2), np.float32), arch=arch)[0]
    i = np.arange(40)
    assert (out[:, 0] == np.where(i % 2, 3 * i * i, i * i)).all()
    assert (out[:, 1] == np.where(i % 2, 0, 4)).all()


def test_switch(arch):
    x = rng.integers(-1, 10, 200).astype(np.int32)
    out = outputs("language", "dense_switch", 2, 100, x, np.full(200, 50, np.int32), arch=arch)[1]
    wanted = []
    for i, v in enumerate(map(int, x)):
        grown = v
        for k in range(i % 5):
            grown += k * grown
        wanted.append(
            {0: v + 5, 1: v * 7, 2: i ^ 3, 3: grown, 4: 9 - i, 5: 59, 6: i // 3, 7: i % 3}.get(
                v, -1
            )
        )
    assert list(out) == wanted


def test_structs_by_value(arch):
    particle = np.void(struct.pack("<fffidcxxxxxxx", 1.5, 2, 3, 40, 0.5, b"\x07"))
    config = np.void(struct.pack("<8if5hxxq", *range(10, 18), 2.0, *range(5), 1000))
    out, real = outputs(
        "language",
        "by_value",
        1,
        32,
        particle,
        config,
        np.zeros(20, np.int32),
        np.zeros(20),
        20,
        arch=arch,
    )
    i = np.arange(20)
    assert (out == 10 + i % 8 + i % 5 + 40 + 7 + 1000).all() and (real == 0.5 * 2 + 1.5 + 6).all()


def test_structs_through_calls(arch):
    kind = np.dtype(
        [("x", "f4"), ("y", "f4"), ("z", "f4"), ("id", "i4"), ("mass", "f8"), ("tag", "i1")],
        align=True,
    )
    data = np.zeros(32, kind)
    for name in kind.names:
        data[name] = rng.integers(0, 50, 32)
    out = outputs("language", "struct_calls", 1, 32, data.view(np.uint8), arch=arch)[0].view(kind)
    i = np.arange(32)
    extra = i % 3 == 0
    assert (out["x"] == data["x"] + i / 2 + extra).all() and (
        out["y"] == data["y"] - i / 2 - extra
    ).all()
    assert (out["id"] == data["id"] + 1 + extra).all() and (
        out["tag"] == data["tag"] ^ ~extra
    ).all()
    assert (out["mass"] == data["mass"]).all() and (out["z"] == data["z"]).all()


def test_unions_and_packed_structs(arch):
    x = rng.random(20, np.float32)
    kind = np.dtype([("c", "i1"), ("i", "<i4"), ("s", "<i2"), ("d", "<f8")])
    out, packed = outputs(
        "language",
        "reinterpreted",
        1,
        32,
        x,
        np.zeros(20, np.uint32),
        np.zeros(20 * 15, np.uint8),
        20,
        arch=arch,
    )[1:]
    i, bits = np.arange(20), x.view(np.uint32)
    assert (
        out == (bits >> 3) + x.view(np.uint8)[4 * i + i % 4] + x.view(np.uint16)[2 * i + i % 2]
    ).all()
    fields = packed.view(kind)
    assert all(
        (fields[n] == v).all() for n, v in zip(kind.names, (i, i * 1000, -i, i * 0.25), strict=True)
    )


def test_arrays_in_local_memory(arch):
    nodes = rng.integers(0, 40, 40).astype(np.int32)
    out = outputs("language", "local_arrays", 1, 70, nodes, np.zeros(70, np.int32), 40, arch=arch)[
        1
    ]
    wanted = []
    for t in range(70):
        seen, at = [], t % 40
        while at not in seen:
            seen.append(at)
            at = int(nodes[at])
        total = 0
        for v in reversed(seen):
            total = total * 3 + v
        wanted.append((total + 2**31) % 2**32 - 2**31)
    assert list(out) == wanted


def test_device_variables(arch):
    out = outputs("language", "globals", 1, 32, np.zeros(32), arch=arch)[0]
    filled, tiny = [1.5, 2.5, 0, 9, 0, 0], [1e-300, 0.5, 3.25]
    wanted = [
        7
        + filled[i % 6]
        + tiny[i % 3]
        + ord("ent"[0] if i % 3 == 0 else "nw"[i % 3 - 1])
        + 1
        + i % 3
        + 7
        + ord("c")
        for i in range(32)
    ]
    assert list(out) == wanted


def test_generic_addresses(arch):
    values = rng.integers(0, 99, 64).astype(np.int32)
    out = outputs("language", "generic_spaces", 1, 64, np.zeros(64, np.int32), values, arch=arch)[0]
    t = np.arange(64)
    own = np.where(t & 1, 7, 3 * t)
    assert (out == np.choose(t % 3, [2 * (63 - t), values, own])).all()


def test_narrow_and_wide_types(arch):
    a, b = rng.integers(-128, 128, 64).astype(np.int8), rng.integers(0, 2**16, 64).astype(np.uint16)
    c, d = rng.integers(-(2**40), 2**40, 64), rng.integers(0, 2, 64).astype(np.uint8)
    out8, out64, flags = outputs(
        "language",
        "types",
        1,
        64,
        a,
        b,
        c,
        d,
        np.zeros(64, np.int16),
        np.zeros(64, np.int64),
        np.zeros(64, np.uint8),
        arch=arch,
    )[4:]
    assert (out8 == (a.astype(int) * 3 - b).astype(np.int16)).all() and (out64 == c * a + b).all()
    assert (flags == np.where((d > 0) & (a > 0), 200, b >> 3).astype(np.uint8)).all()


def test_printf(arch):
    text = launch("language", "prints", 2, 4, 2.5, arch=arch).trace.printed.splitlines()
    line = "-5 {:5d}|ff    |z text 2.500000 1.235e+04 -1099511627776 (nil) % 0003.142 +4 8589934592"
    assert sorted(text) == sorted([line.format(0), line.format(1)] * 2 + ["plain"])


def test_assert(arch):
    values = np.array([1, 2, 3, 10], np.int32)
    with pytest.raises(KernelFault, match=r"in\[threadIdx.x\] < 10.*thread \(3, 0, 0\)"):
        launch("language", "asserts", 1, 4, values, arch=arch)


def test_heap(arch):
    out = outputs("language", "heap", 1, 48, np.zeros(48, np.int32), 9, arch=arch)[0]
    assert (out == 36 * np.arange(48)).all()
    assert (
        outputs("language", "heap", 1, 2, np.zeros(2, np.int32), 1 << 23, arch=arch)[0] == -1
    ).all()


def test_templates(arch):
    ints, reals = np.arange(-8, 8, dtype=np.int32), rng.random(16)
    assert (outputs("language", "templated<int>", 1, 16, ints, arch=arch)[0] == ints**5).all()
    assert np.allclose(
        outputs("language", "templated<double>", 1, 16, reals, arch=arch)[0], reals**5
    )


def test_inline_ptx(arch):
    out = outputs(
        "language", "inline_ptx", 1, 64, np.zeros(64, np.uint32), np.uint32(10), arch=arch
    )[0]
    lane = np.arange(64) % 32
    left = 2 * (lane + 10)
    left -= 3 * -(-(left - 5) // 3)
    assert (out == np.where(lane < 7, 100, 200) + left * 1000).all()


def test_clocks_lists_and_functors(arch):
    assert (outputs("language", "clocks", 1, 32, np.zeros(32, np.int64), arch=arch)[0] == 2).all()
    out = outputs(
        "language",
        "linked",
        1,
        32,
        np.zeros(16 * 9, np.uint8),
        np.zeros(32, np.int32),
        9,
        arch=arch,
    )[1]
    assert list(out) == [sum(k * k for k in range(t % 9, 9)) for t in range(32)]
    k = np.arange(32)
    out = outputs("language", "functors", 1, 32, np.zeros(32, np.int32), arch=arch)[0]
    assert (out == 10 + 2 * k + 3 * k * k).all()


def deep(n, above, k):
    own = [n * 8 + i + above[(i + k) & 7] for i in range(8)]
    below = deep(n - 1, own, k + 1) if n > 0 else 0
    return below + own[k & 7] + above[(k + n) & 7]


def test_stacks_that_grow(arch):
    out = outputs("language", "deep_stacks", 1, 50, np.zeros(50, np.int32), 5, arch=arch)[0]
    wanted = []
    for t in range(50):
        own = [i * t for i in range(8)]
        wanted.append(sum(own[5] + deep(5 + 9 * r, own, r) for r in range(3)))
    assert list(out) == wanted


def test_partitioned_dynamic_shared_memory(arch):
    out = outputs("language", "partitioned", 1, 64, np.zeros(64), arch=arch, shared=64 * 14)[0]
    assert (out == 6 * np.arange(64)[::-1]).all()


def jumps(t, n):
    x, c, top = t, 0, not t & 1
    while True:
        if top:
            x, c = (x * 3 + 1) % 2**32, c + 1
        x, c = x ^ c * 5, c + 1
        if c >= n + (t & 7):
            return (x + 2**31) % 2**32 - 2**31
        top = bool(x & 2)


def test_loop_with_two_entries(arch):
    out = outputs("language", "jumps", 1, 64, np.zeros(64, np.int32), 20, arch=arch)[0]
    assert list(out) == [jumps(t, 20) for t in range(64)]
