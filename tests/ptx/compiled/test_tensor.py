"""Products of tensor cores on both engines: copied past the registers, multiplied, stored."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ptx.compiled.test_same import run
from tests.ptx.test_wmma import FORMS, launch

# A tile of 16 x 16 of a product a warp, two stages of copies ahead of it.
PIPELINE = """
#include <cuda_fp16.h>
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void k(const __half* a, const __half* b, __half* c, int n) {
  __shared__ __align__(128) __half s[2][2][16][24];
  int lane = threadIdx.x, row = blockIdx.y * 16, column = blockIdx.x * 16;
  auto fetch = [&](int stage, int k) {
    int r = lane / 2, h = lane % 2 * 8;
    asm volatile("cp.async.CACHE.shared.global [%0], [%1], 16;"
                 :: "r"(at(&s[stage][0][r][h])), "l"(a + (row + r) * n + k + h));
    asm volatile("cp.async.CACHE.shared.global [%0], [%1], 16;"
                 :: "r"(at(&s[stage][1][r][h])), "l"(b + (k + r) * n + column + h));
    asm volatile("cp.async.commit_group;");
  };
  unsigned d[2][2] = {};
  fetch(0, 0);
  for (int k = 0; k < n; k += 16) {
    int stage = k / 16 % 2;
    if (k + 16 < n) fetch(stage ^ 1, k + 16);
    asm volatile("cp.async.wait_all;");
    __syncthreads();
    unsigned x[4], y[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(at(&s[stage][0][lane % 16][lane / 16 * 8])));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(y[0]), "=r"(y[1]), "=r"(y[2]), "=r"(y[3])
                 : "r"(at(&s[stage][1][lane % 16][lane / 16 * 8])));
    for (int h = 0; h < 2; h++)
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
                   "{%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                   : "+r"(d[h][0]), "+r"(d[h][1])
                   : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[2 * h]), "r"(y[2 * h + 1]));
    __syncthreads();
  }
  for (int i = 0; i < 4; i++)
    ((unsigned*)c)[((row + lane / 4 + i % 2 * 8) * n + column + i / 2 * 8) / 2 + lane % 4] =
        d[i / 2][i % 2];
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("cache", ["cg", "ca"])
def test_a_product_in_stages(cache: str) -> None:
    random, n = np.random.default_rng(4), 48
    a, b = ((random.random((n, n)) - 0.5).astype(np.float16) for _ in range(2))
    source, c = PIPELINE.replace("CACHE", cache), np.zeros(n * n, np.float16)
    found = run(source, (3, 3), 32, a.ravel(), b.ravel(), c, n)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    assert np.abs(found.outputs["arg2"].reshape(n, n) - exact).max() < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_matrices_moved_and_multiplied_as_a_whole(form: str, shared: bool) -> None:
    """Results and counts; by rows of 16 bytes from shared memory where the type has 16 bits."""
    if shared and FORMS[form][0] != "half":
        pytest.skip("what is copied to shared memory is of 16 bits")
    source, given, wanted = launch(form, shared)
    assert (run(source, 1, 32, *given).outputs["arg3"] == wanted).all()


def test_a_copy_out_of_bounds_is_left_to_the_other_engine() -> None:
    source = """extern "C" __global__ void k(const float* a, float* o, int n) {
      __shared__ float s[64];
      unsigned to = (unsigned)__cvta_generic_to_shared(s) + threadIdx.x * n;
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to), "l"(a + threadIdx.x));
      asm volatile("cp.async.wait_all;");
      __syncthreads();
      o[threadIdx.x] = s[threadIdx.x];
    }"""
    given = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    found = run(source, 1, 32, *given, 4)
    assert (found.outputs["arg1"] == given[0]).all()
    assert "shared" in run(source, 1, 32, *given, 16, runs_on="numpy")
