"""The compiled engine does what the NumPy engine does, to the bit and to the count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpuviz.ptx.emulator import Options
from gpuviz.ptx.text.parser import parse
from tests.ptx.compiled.engines import same
from tests.ptx.launching import compiled

SLOW = pytest.mark.slow
RNG = np.random.default_rng(3)


def floats(count: int) -> np.ndarray:
    return RNG.random(count, dtype=np.float32)


def run(source: str, grid: Any, block: Any, *arguments: Any, arch: str = "sm_90", **more: Any):
    module = compiled(source, arch)
    given = [
        np.int32(a) if isinstance(a, int) else np.float32(a) if isinstance(a, float) else a
        for a in arguments
    ]
    (kernel,) = module.kernels
    triple = [(*((s,) if isinstance(s, int) else s), 1, 1)[:3] for s in (grid, block)]
    return same(module, kernel, *triple, given, **more)


TILED = """
extern "C" __global__ void k(const float* a, const float* b, float* c, int n) {
  __shared__ float s[16][16], t[16][17];
  int x = threadIdx.x, y = threadIdx.y, r = blockIdx.y * 16 + y, q = blockIdx.x * 16 + x;
  float sum = 0;
  for (int p = 0; p < n; p += 16) {
    s[y][x] = a[r * n + p + x]; t[y][x] = b[(p + y) * n + q];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += s[y][k] * t[k][x];
    __syncthreads();
  }
  c[r * n + q] = sum;
}
"""


@pytest.mark.parametrize("arch", ["sm_80", pytest.param("sm_100", marks=pytest.mark.slow)])
def test_tiles_between_barriers(arch):
    run(TILED, (3, 3), (16, 16), floats(48 * 48), floats(48 * 48), floats(48 * 48), 48, arch=arch)


def test_lanes_that_part_and_meet():
    run(
        """extern "C" __global__ void k(const int* a, int* o, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        int v = a[i], s = 0;
        for (int j = 0; j < v % 7; ++j) { if (j & 1) s += j * v; else s -= v; }
        switch (v & 3) { case 0: s += 5; break; case 1: s *= 3; break; case 2: s ^= 77; }
        o[i] = s; }""",
        5,
        100,
        RNG.integers(0, 1000, 500).astype(np.int32),
        np.zeros(500, np.int32),
        444,
    )


@pytest.mark.parametrize("left", [64, 50])
def test_warps_that_end_before_a_barrier_are_not_run_again(left):
    run(
        """extern "C" __global__ void k(const int* a, int* o, int n) {
        __shared__ int s[128];
        int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
        if (t >= n) return;
        s[t] = a[i]; __syncthreads();
        o[i] = s[n - 1 - t]; }""",
        3,
        128,
        RNG.integers(0, 1000, 400).astype(np.int32),
        np.zeros(400, np.int32),
        left,
    )


def test_blocks_whose_warps_are_not_full():
    """Odd shapes: rows end within a warp, lanes leave at the edges and inside of a loop."""
    run(
        """extern "C" __global__ void k(const float* a, const float* b, float* c, int n) {
        int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
        if (x >= n || y >= n) return;
        float sum = 0;
        for (int k = 0; k < n; ++k) {
          if (k == 20 + (threadIdx.x & 3)) { c[y * n + x] = sum; return; }
          sum += a[y * n + k] * b[k * n + x]; }
        c[y * n + x] = sum; }""",
        (3, 6),
        (13, 7),
        floats(37 * 37),
        floats(37 * 37),
        floats(37 * 37),
        37,
    )


def test_few_lanes_that_load_several_words():
    run(
        """extern "C" __global__ void k(const float4* a, float4* o, int n) {
        int t = threadIdx.x;
        if (t % 5 == n) { float4 v = a[(t * 7) & 31]; v.x += v.w; o[t] = v; } }""",
        1,
        32,
        floats(128),
        floats(128),
        3,
    )


@pytest.mark.slow
def test_lanes_of_a_warp_exchange_values():
    run(
        """extern "C" __global__ void k(const int* a, int* o) {
        int i = threadIdx.x, v = a[i], s = v;
        for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
        s += __shfl_sync(~0u, v, v & 31) + __shfl_up_sync(~0u, v, 3, 16);
        unsigned b = __ballot_sync(~0u, v > 50), m = __match_any_sync(~0u, v & 3);
        if (v & 1) s += __popc(__activemask()) + __reduce_add_sync(__activemask(), v);
        o[i] = s + b + m + __all_sync(~0u, v >= 0) + __any_sync(~0u, v == 3); }""",
        1,
        96,
        RNG.integers(0, 100, 96).astype(np.int32),
        np.zeros(96, np.int32),
    )


@pytest.mark.slow
def test_atomics_that_commute():
    run(
        """extern "C" __global__ void k(const int* a, int* h, int n) {
        __shared__ int s[16];
        if (threadIdx.x < 16) s[threadIdx.x] = 0;
        __syncthreads();
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
          atomicAdd(&s[a[i] & 15], 1);
        __syncthreads();
        if (threadIdx.x < 16) atomicAdd(&h[threadIdx.x], s[threadIdx.x]); }""",
        4,
        128,
        RNG.integers(0, 99, 3000).astype(np.int32),
        np.zeros(16, np.int32),
        3000,
    )


@pytest.mark.slow
def test_generic_addresses():
    run(
        """__constant__ int table[4] = {7, 8, 9, 10};
        __noinline__ __device__ int any(const int* p, int k) { return p[k]; }
        __noinline__ __device__ void put(int* p, int v) { *p = v; }
        extern "C" __global__ void k(const int* a, int* o, int n) {
        __shared__ int s[96]; int l[4], t = threadIdx.x, i = blockIdx.x * 96 + t;
        for (int j = 0; j < 4; ++j) l[j] = a[i] * j;
        s[t] = t * 3; __syncthreads();
        const int* p = t % 4 == 0 ? a + i : t % 4 == 1 ? s + t : t % 4 == 2 ? l : table;
        int v = any(p, n * (t % 4 > 1));
        put(t & 1 ? o + i : s + t, v);
        o[i + 192] = v + s[t]; }""",
        2,
        96,
        RNG.integers(0, 99, 300).astype(np.int32),
        np.zeros(500, np.int32),
        2,
    )


@pytest.mark.slow
def test_workers_lose_no_atomic():
    run(
        """extern "C" __global__ void k(const int* a, int* h, int n) {
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
          atomicAdd(&h[a[i] & 7], 1); }""",
        64,
        256,
        RNG.integers(0, 99, 400_000).astype(np.int32),
        np.zeros(8, np.int32),
        400_000,
        options=Options(record=(), threads=4),
    )


@pytest.mark.slow
def test_calls_local_memory_and_constants():
    run(
        """__constant__ float weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};
        __noinline__ __device__ float two(float x, int k) { return x * weights[k & 7] + k; }
        extern "C" __global__ void k(const float* a, float* o, int n) {
        int i = threadIdx.x; float l[8];
        for (int j = 0; j < 8; ++j) l[j] = two(a[i], j + i);
        if (i & 1) l[i & 7] = two(l[(i * 5) & 7], n);
        o[i] = l[n & 7] + l[i & 7]; }""",
        1,
        64,
        floats(64),
        floats(64),
        3,
    )


@pytest.mark.slow
@pytest.mark.parametrize("block", [(10, 10), (1, 1), (5, 7, 3), (64, 2)])
def test_blocks_of_any_shape(block):
    run(
        """extern "C" __global__ void k(float* o, int w) {
        int x = blockIdx.x * blockDim.x + threadIdx.x, y = threadIdx.y + blockDim.y * threadIdx.z;
        o[y * w + x] = x + 2 * y; }""",
        3,
        block,
        np.zeros(30 * 200, np.float32),
        200,
    )


@pytest.mark.slow
def test_chosen_blocks_are_recorded_and_few_emulated():
    result = run(
        TILED,
        (4, 4),
        (16, 16),
        *(floats(64 * 64) for _ in range(3)),
        64,
        options=Options(record=(0, 5), max_blocks=4, path=True),
    )
    assert result.trace.blocks_emulated == 4
    assert len(result.trace.requests)


@pytest.mark.slow
def test_unwritten_memory_and_threads_that_have_ended():
    run(
        """extern "C" __global__ void k(int* o) { int i = threadIdx.x;
        __shared__ int s[96]; if (i > 40) return;
        if (i & 1) s[i] = i; __syncthreads(); o[i] = s[i] + s[95]; }""",
        2,
        96,
        np.zeros(96, np.int32),
        runs_on="",
    )


FAULTS = {
    "outside": "o[i * 3] = 1;",
    "misaligned": "*(int2*)(o + i + 1) = make_int2(1, 2);",
    "misaligned later": "if (i == 70) *(int2*)(o + i + 1) = make_int2(1, 2); else o[i] = 1;",
    "trap": "if (i == 65) __trap();",
    "shared": "__shared__ int s[32]; s[i] = 1; o[i] = s[i];",
}


@pytest.mark.parametrize("name", ["outside", *(pytest.param(n, marks=SLOW) for n in FAULTS)])
def test_faults_are_told_in_the_same_words(name):
    source = f'extern "C" __global__ void k(int* o) {{ int i = threadIdx.x; {FAULTS[name]} }}\n'
    assert isinstance(run(source, 1, 96, np.zeros(96, np.int32)), str)


LEFT = {
    "a race": "__shared__ int s[96]; s[i] = i; o[i] = s[95 - i];",
    "one word": "o[0] = i;",
    "two barriers": "__shared__ int s[96]; s[i] = i; if (i < 32) { __syncthreads(); s[i] += 3; } "
    "else { __syncthreads(); s[i] *= 2; } o[i] = s[i];",
    "a word that is handed out": "o[atomicAdd(&o[95], 1) % 95] = i;",
    "floats in one word": "atomicAdd((float*)o, 0.1f * i);",
    "words": 'if (i == 5) printf("%d\\n", i); o[i] = i;',
}


@pytest.mark.parametrize("name", ["one word", *(pytest.param(n, marks=SLOW) for n in LEFT)])
def test_what_depends_on_an_order_is_left_to_the_other_engine(name):
    source = f"""#include <cstdio>
    extern "C" __global__ void k(int* o) {{ int i = threadIdx.x; {LEFT[name]} }}"""
    result = run(source, 1, 96, np.zeros(96, np.int32), runs_on="numpy")
    assert not isinstance(result, str)
    assert "left this launch" in result.engine_note


UNUSUAL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
.reg .b32 %%r<4>; .reg .b64 %%d<4>; .reg .f32 %%f<3>;
mov.u32 %%r0, %%tid.x; mul.wide.u32 %%d0, %%r0, 8; mov.u32 %%r1, %%ctaid.x;
%s
ret; }
"""
STORE = "ld.param.u64 %d1, [out]; add.u64 %d1, %d1, %d0; st.global.u64 [%d1], %d2;"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("", id="no access"),
        pytest.param("shl.b64 %d2, %d0, -1;" + STORE, id="a shift by -1"),
        pytest.param("shl.b64 %d2, %d0, 64;" + STORE, id="a shift by 64"),
        pytest.param(
            "cvt.rn.f32.u32 %f0, %r1; sin.approx.f32 %f1, %f0; mov.b32 %r2, %f1;"
            "cvt.u64.u32 %d2, %r2;" + STORE,
            id="the sine of what all lanes have",
        ),
    ],
)
def test_what_no_compiler_writes_is_no_mistake(body):
    out = np.ones(64, np.uint64)
    assert not isinstance(same(parse(UNUSUAL % body), "k", (1, 1, 1), (64, 1, 1), [out]), str)
