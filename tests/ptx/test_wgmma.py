"""wgmma: matrices in shared memory in every canonical layout, sums in the registers of four warps.

Layouts are written down here a second time, in another way: a swizzled row of 128 bytes exchanges
piece c of row r with piece c ^ (r % 8), of 64 bytes with c ^ (r / 2 % 4), of 32 with
c ^ (r / 4 % 2).
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from gpuviz.base.errors import KernelFault
from gpuviz.ptx.emulator import Options
from gpuviz.ptx.tensor import sums
from tests.ptx.launching import launch

AREA = 32 << 10  # bytes of A, and of B


def kernel(form: str, sums_: int, held: int, more: str, threads: int = 128) -> str:
    """A and B as they lie in shared memory, from global memory; A from registers if `held`."""
    outs = ", ".join(f"%{n}" for n in range(sums_))
    left = "{" + ", ".join(f"%{sums_ + n}" for n in range(held)) + "}" if held else f"%{sums_}"
    at = sums_ + (held or 1)
    first = ", ".join(f'"r"(R[threadIdx.x * {held} + {n}])' for n in range(held))
    return f"""
extern "C" __global__ void k(const uint4* A, const uint4* B, const unsigned* R,
                             unsigned long long a, unsigned long long b, int on, unsigned* D) {{
    extern __shared__ __align__(1024) uint4 s[];
    for (int i = threadIdx.x; i < {AREA // 16}; i += {threads}) {{
        s[i] = A[i]; s[{AREA // 16} + i] = B[i];
    }}
    __syncthreads();
    unsigned d[{sums_}];
    for (int i = 0; i < {sums_}; i++) d[i] = D[threadIdx.x * {sums_} + i];
    if (threadIdx.x < 128)
    asm volatile("{{.reg .pred p; setp.ne.b32 p, %{at + 1}, 0;"
        "wgmma.fence.sync.aligned;"
        "wgmma.mma_async.sync.aligned.{form} {{{outs}}}, {left}, %{at}, p{more};"
        "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;}}"
        : {", ".join(f'"+r"(d[{n}])' for n in range(sums_))}
        : {first or '"l"(a)'}, "l"(b), "r"(on));
    for (int i = 0; i < {sums_}; i++) D[threadIdx.x * {sums_} + i] = d[i];
}}
"""


def along_k(matrix: np.ndarray, size: int) -> tuple[np.ndarray, int, int]:
    """Rows of m or n with k in them: their bytes as they lie, and the two strides."""
    lines = matrix.view(np.uint8).reshape(len(matrix), 2, 16)
    out = np.zeros(AREA, np.uint8)
    leading, stride = (len(matrix) * 16 + 64, 128) if not size else (16, 8 * size)
    for n, line in enumerate(lines):
        for c, piece in enumerate(line):
            if size:
                group, row = divmod(n, 8)
                at = group * stride + row * size + 16 * (c ^ turn(row, size))
            else:
                at = c * leading + n * 16
            out[at : at + 16] = piece
    return out, leading, stride


def across_k(matrix: np.ndarray, size: int) -> tuple[np.ndarray, int, int]:
    """Columns of k with m or n along memory, of 16 bits: likewise."""
    pieces = matrix.view(np.uint8).reshape(16, -1, 16)  # k, of m or n 8 elements
    out = np.zeros(AREA, np.uint8)
    each = max(1, size // 16)
    atoms = pieces.shape[1] // each
    down, across = (128, 256 + 32) if not size else (atoms * 8 * size, 8 * size)
    for k in range(16):
        for c in range(pieces.shape[1]):
            atom, within = divmod(c, each)
            row = k % 8
            within ^= turn(row, size) if size else 0
            at = k // 8 * down + atom * across + row * (size or 16) + within * 16
            out[at : at + 16] = pieces[k, c]
    return out, *((down, across) if not size else (across, down))


def turn(row: int, size: int) -> int:
    return {128: row % 8, 64: row // 2 % 4, 32: row // 4 % 2}[size]


def descriptor(start: int, leading: int, stride: int, size: int) -> np.uint64:
    mode = {0: 0, 128: 1, 64: 2, 32: 3}[size]
    return np.uint64(start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | mode << 62)


@cache
def operands(seed: int, columns: int) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(seed)
    a, b = (random.standard_normal((n, 16)).astype("f2") for n in (64, columns))
    return a, b, random.standard_normal((64, columns)).astype("f4")


def held(matrix: np.ndarray) -> np.ndarray:
    """Sums of 32 bits as the lanes of four warps hold them (PTX ISA, figure of fragment D)."""
    out = np.zeros((128, matrix.shape[1] // 2), matrix.dtype)
    for thread in range(128):
        for n in range(out.shape[1]):
            row = 16 * (thread // 32) + thread % 32 // 4 + 8 * (n // 2 % 2)
            out[thread, n] = matrix[row, n // 4 * 8 + thread % 4 * 2 + n % 2]
    return out


def right_sums(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """A times B, given as (n, k), plus C as Hopper's tensor cores add."""
    x, y = a.view(np.uint16)[None], b.view(np.uint16).T[None]
    found = sums.floating(x, y, c.view(np.uint32)[None], ("f16", "f16", "f32"), sums.Adder(25))
    return found[0]


@pytest.mark.parametrize("size", [0, 32, 64, 128])
@pytest.mark.parametrize("turned", ["", "a", "b"])
def test_every_layout_in_shared_memory(size: int, turned: str) -> None:
    a, b, c = operands(1, 64)
    layouts = [
        across_k(np.ascontiguousarray(m.T), size) if name in turned else along_k(m, size)
        for name, m in (("a", a), ("b", b))
    ]
    (one, *first), (two, *second) = layouts
    more = f", 1, 1, {int('a' in turned)}, {int('b' in turned)}"
    source = kernel("m64n64k16.f32.f16.f16", 32, 0, more)
    given = [one.view("u4"), two.view("u4"), np.zeros(1, "u4")]
    given += [descriptor(0, *first, size), descriptor(AREA, *second, size), 1]
    run = launch(source, "k", 1, 128, *given, held(c).view("u4"), arch="sm_90a", shared=2 * AREA)
    assert (run.outputs["arg6"] == held(right_sums(a, b, c))).all()
    assert run.trace.recorded and run.trace.handovers is None  # thousands of pieces are not kept


def test_writes_that_no_proxy_fence_shows_to_wgmma_are_told() -> None:
    """PTX ISA, "Async Proxy": wgmma reads shared memory through it, threads write by another."""
    a, b, c = operands(1, 64)
    (one, *first), (two, *second) = along_k(a, 128), along_k(b, 128)
    given = [one.view("u4"), two.view("u4"), np.zeros(1, "u4")]
    given += [descriptor(0, *first, 128), descriptor(AREA, *second, 128), 1, held(c).view("u4")]

    def found(fence: str) -> list[str]:
        source = kernel("m64n64k16.f32.f16.f16", 32, 0, ", 1, 1, 0, 0")
        source = source.replace("__syncthreads();", fence + "__syncthreads();")
        checked = Options(checks=("race",))
        run = launch(source, "k", 1, 128, *given, arch="sm_90a", shared=2 * AREA, options=checked)
        return [finding.message for finding in run.trace.findings]

    assert found('asm volatile("fence.proxy.async.shared::cta;" ::: "memory");') == []
    assert len(told := found("")) == 1 and "without a proxy fence" in told[0]


def test_left_matrix_in_registers_without_a_sum_and_negated() -> None:
    """scale-d 0 begins anew; imm-scale -1 negates; wide blocks of other warps stand aside."""
    a, b, c = operands(2, 8)
    two, *second = along_k(b, 128)
    registers = np.zeros((128, 4), "u4")
    for thread in range(128):
        for n in range(4):
            row = 16 * (thread // 32) + thread % 32 // 4 + 8 * (n % 2)
            column = thread % 4 * 2 + 8 * (n // 2)
            registers[thread, n] = a[row, column : column + 2].copy().view("u4")[0]
    source = kernel("m64n8k16.f32.f16.f16", 4, 4, ", 1, -1, 0", 160)
    d = np.zeros((160, 4), "u4")
    d[:128] = held(c).view("u4")
    given = [np.zeros(AREA // 4, "u4"), two.view("u4"), registers, np.uint64(0)]
    given += [descriptor(AREA, *second, 128), 0, d]
    run = launch(source, "k", 2, 160, *given, arch="sm_90a", shared=2 * AREA)
    right = held(right_sums(a, -b, np.zeros_like(c)))
    assert (run.outputs["arg6"][:128] == right).all() and not run.outputs["arg6"][128:].any()


@pytest.mark.parametrize("form", ["s32.s8.u8", "f32.e4m3.e5m2", "f32.tf32.tf32", "f16.f16.f16"])
def test_other_types_multiply(form: str) -> None:
    """Small whole numbers, of which every sum is exact."""
    random = np.random.default_rng(3)
    a, b = random.integers(0, 4, (64, 32)), random.integers(0, 4, (16, 32))
    eight = {0: 0, 1: 0x38, 2: 0x40, 3: 0x44}, {0: 0, 1: 0x3C, 2: 0x40, 3: 0x42}
    scales, k = ", 1, 1", 32
    if "s8" in form:
        x, y, scales = a.astype("u1"), b.astype("u1"), ""
    elif "e4m3" in form:
        x, y = (np.vectorize(t.get)(m).astype("u1") for t, m in zip(eight, (a, b), strict=True))
    else:
        k, kind = (8, "f4") if "tf32" in form else (16, "f2")
        a, b = a[:, :k], b[:, :k]
        x, y = a.astype(kind), b.astype(kind)
        scales += ", 0, 0" if kind == "f2" else ""
    (one, *first), (two, *second) = (
        along_k(np.ascontiguousarray(x), 32),
        along_k(np.ascontiguousarray(y), 32),
    )
    count = 4 if form.startswith("f16") else 8
    source = kernel(f"m64n16k{k}.{form}", count, 0, scales)
    given = [one.view("u4"), two.view("u4"), np.zeros(1, "u4")]
    given += [descriptor(0, *first, 32), descriptor(AREA, *second, 32), 0]
    d = np.zeros((128, count), "u4")
    run = launch(source, "k", 1, 128, *given, d, arch="sm_90a", shared=2 * AREA)
    out, right = run.outputs["arg6"], a @ b.T
    if form.startswith("f16"):
        found = out.view("f2").reshape(128, 4, 2).astype(int)
        assert (found.reshape(128, 8) == held(right)).all()
    else:
        assert (out.view("i4" if "s8" in form else "f4") == held(right)).all()


def test_part_of_a_warpgroup_is_a_fault_with_its_line() -> None:
    source = kernel("m64n8k16.f32.f16.f16", 4, 0, ", 1, 1, 0, 0").replace("x < 128", "x < 96")
    empty = np.zeros(AREA // 4, "u4")
    given = [empty, empty, np.zeros(1, "u4"), np.uint64(0), np.uint64(0), 0]
    with pytest.raises(KernelFault, match="part of a warpgroup only, block"):
        launch(source, "k", 1, 128, *given, np.zeros(512, "u4"), arch="sm_90a", shared=2 * AREA)
