"""Launches counted from classes of their blocks are counted as if they had been run whole."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.memory.counting import Counter
from gpuviz.ptx import emulator
from gpuviz.ptx.emulator import Options, Result
from gpuviz.traces.observe import Sink
from tests.ptx.launching import launch

ARCHES = ("sm_90", "sm_60")
CLASSES = Options(blocks="classes")


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """To look for classes may take longer than to run these small launches, on a busy machine."""
    monkeypatch.setattr(emulator, "estimated_seconds", lambda launched: 50.0)


def both(source: str, grid: Any, block: Any, *arguments: Any, **more: Any) -> Result:
    """From classes and whole, compared; the first."""
    results, counts = [], []
    for how in ("classes", "all"):
        counters = [Counter(architecture(arch)) for arch in ARCHES]
        given = replace(CLASSES, blocks=how, **more)
        results.append(launch(source, "k", grid, block, *arguments, options=given, sinks=counters))
        counts.append([counter.result() for counter in counters])
    one, two = results
    assert counts[0] == counts[1]
    assert one.executed == two.executed
    for field in ("thread_instructions", "warp_instructions", "branches", "flops", "recorded"):
        assert getattr(one.trace, field) == getattr(two.trace, field)
    assert one.trace.blocks_emulated == two.trace.blocks_emulated == one.coverage.blocks
    return one


def matrix(n: int) -> np.ndarray:
    return np.zeros((n, n), np.float32)


PRODUCT = """
extern "C" __global__ void k(const float *a, const float *b, float *c, int n) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n || col >= n) return;
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += a[row * n + i] * b[i * n + col];
  c[row * n + col] = sum;
}
"""


@pytest.mark.parametrize(("n", "block", "classes"), [(48, (8, 8), 1), (50, (8, 8), 4), (49, 7, 1)])
def test_a_product_has_blocks_inside_and_at_the_edges(n, block, classes):
    """Whatever the size: lines of 200 or 196 bytes start anywhere in one of 128."""
    x, y = block if isinstance(block, tuple) else (block, 1)
    found = both(PRODUCT, (-(-n // x), -(-n // y)), block, *[matrix(n)] * 3, n)
    assert found.coverage.how == "classes" and found.coverage.classes == classes
    assert f"counted exactly from {classes} class" in found.trace.notes[0]
    assert "blocks that provably do the same" in found.trace.notes[0]


STENCIL = """
extern "C" __global__ void k(const float *a, float *b, int w, int h) {
  __shared__ float s[10][10];
  int x = blockIdx.x * 8 + threadIdx.x - 1, y = blockIdx.y * 8 + threadIdx.y - 1;
  s[threadIdx.y][threadIdx.x] = x >= 0 && y >= 0 && x < w && y < h ? a[y * w + x] : 0.f;
  __syncthreads();
  int i = threadIdx.x, j = threadIdx.y;
  if (i > 0 && i < 9 && j > 0 && j < 9 && x < w && y < h)
    b[y * w + x] = s[j][i] + s[j][i - 1] + s[j][i + 1] + s[j - 1][i] + s[j + 1][i];
}
"""


def test_a_stencil_has_nine_classes():
    found = both(STENCIL, (6, 7), (10, 10), np.zeros(48 * 50, np.float32), matrix(50), 48, 50)
    assert found.coverage.classes == 9


STRIDES = """
extern "C" __global__ void k(const float *a, float *b, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    b[i] = a[i];
}
"""


def test_blocks_of_a_grid_stride_loop_differ_by_their_turns():
    found = both(STRIDES, 20, 32, np.zeros(1000, np.float32), np.zeros(1000, np.float32), 1000)
    assert found.coverage.classes == 3  # two turns, one and a half, one


PARTS = """
extern "C" __global__ void k(const float *a, float *b, int w, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int row = i / w, col = i % w;
  b[col * (n / w) + row] = a[i] + a[i / 3] + a[i & ~7] + a[min(i + 16, n - 1)] + a[max(i - 9, 0)];
}
"""


@pytest.mark.parametrize("w", [64, 48])
def test_quotients_and_remainders_move_with_their_blocks(w):
    data = np.zeros(96 * 64, np.float32)
    found = both(PARTS, 192, 32, data, data, w, 96 * 64)
    assert found.coverage.how == "classes" and found.coverage.classes < 30


COPY = """
extern "C" __global__ void k(const %s *a, %s *b, int shift) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i + shift] = a[i * 3 %% 100];
}
"""


@pytest.mark.parametrize("kind", ["char", "short", "double2"])
def test_widths_and_offsets(kind):
    data = np.zeros(48 * 20 * 16, np.uint8)
    both(COPY % (kind, kind), 18, 48, data, data, 3)


SHARED = """
extern "C" __global__ void k(float *a, int by) {
  __shared__ float s[256];
  s[(threadIdx.x * by + blockIdx.x * 2) & 255] = threadIdx.x;
  __syncthreads();
  a[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x] + __shfl_down_sync(~0u, a[threadIdx.x], 1);
  if (__any_sync(~0u, threadIdx.x == blockIdx.x)) a[threadIdx.x] = 1;
  atomicAdd(a + blockIdx.x, 1.0f);
}
"""


def test_shared_addresses_votes_shuffles_and_atomics():
    both(SHARED, 40, 32, np.zeros(40 * 32, np.float32), 3)


COPIES = """
#include <cuda_pipeline.h>
extern "C" __global__ void k(const float *a, float *b, int n) {
  __shared__ float s[64];
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) __pipeline_memcpy_async(s + threadIdx.x, a + i, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  if (i < n) b[i] = s[63 - threadIdx.x];
}
"""


def test_asynchronous_copies():
    data = np.zeros(500, np.float32)
    assert both(COPIES, 8, 64, data, data, 500).coverage.classes == 2


CALLED = """
__device__ __noinline__ int at(int i, int n) { return i < n / 2 ? i : n - 1 - i; }
extern "C" __global__ void k(const float *a, float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[at(i, n)] + a[at(i ^ 1, n)];
}
"""


def test_functions_that_are_called():
    data = np.zeros(640, np.float32)
    assert both(CALLED, 20, 32, data, data, 640).coverage.classes == 2


def unproved(body: str, *arguments: Any, blocks: int = 8) -> Result:
    """A kernel that has to be run whole; it is, and leaves all its outputs."""
    text = f'extern "C" __global__ void k(int *a, int *b, int n) {{\n{body}\n}}'
    data = np.arange(1, 32 * blocks + 1, dtype=np.int32) % (32 * blocks)
    found = both(text, blocks, 32, data, np.zeros_like(data), 5)
    assert found.coverage.how == "all" and found.coverage.whole
    whole = launch(text, "k", blocks, 32, data, np.zeros_like(data), 5)
    assert (found.outputs["arg1"] == whole.outputs["arg1"]).all()
    return found


INDEX = "int i = blockIdx.x * 32 + threadIdx.x;"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (f"{INDEX} b[a[i]] = 1;", "the address at PTX line .* depends on what memory holds"),
        (f"{INDEX} if (a[i] & 1) b[i] = 2;", "depends on what memory"),
        (f"{INDEX} while (a[i] && a[i] < 400) a[i] *= 2; b[i] = a[i];", "depends on what memory"),
        (f"{INDEX} int j = atomicAdd(a, 1); b[j & 255] = i;", "depends on what memory"),
        (f"{INDEX} b[(clock() + i) & 255] = 1;", "depends on what memory"),
    ],
)
def test_what_depends_on_memory_is_run_whole(body, why):
    found = unproved(body)
    assert re.search(why, found.coverage.why)


def test_blocks_that_all_differ_are_run_whole(monkeypatch):
    monkeypatch.setattr("gpuviz.ptx.emulator.estimated_seconds", lambda launched: 1e-6)
    found = unproved(f"{INDEX} for (int j = 0; j < blockIdx.x; ++j) b[i] += j;", blocks=60)
    assert "each of a class of its own" in found.coverage.why


def test_few_blocks_are_simply_run():
    assert "are few" in unproved(f"{INDEX} b[i] = i;", blocks=3).coverage.why


def test_a_block_that_would_leave_its_buffer_is_run_and_found():
    data = np.zeros(32 * 9 + 1, np.float32)
    text = 'extern "C" __global__ void k(float *a) { a[blockIdx.x * 32 + threadIdx.x] = 1; }'
    with pytest.raises(Exception, match=r"past the end of buffer arg0.*block \(9, 0, 0\)"):
        launch(text + "\n", "k", 10, 32, data, options=CLASSES)


def test_blocks_that_are_drawn_are_run_too():
    given = "k", (6, 7), (10, 10), np.zeros(2400, np.float32), matrix(50), 48, 50
    found, whole = (
        launch(STENCIL, *given, options=Options(blocks=how, record=(0, 20), path=True))
        for how in ("classes", "all")
    )
    assert found.trace.recorded == (0, 20)
    for warp in range(4):
        one, two = (result.trace.of(block=20, warp=warp) for result in (found, whole))
        for column in ("instruction", "phase", "active", "address"):
            assert (getattr(one, column) == getattr(two, column)).all()
    assert len(found.trace.path.block) == len(whole.trace.path.block) > 0
    assert found.coverage.run > found.coverage.classes == 9


class Everything(Sink):
    """Hears all there is, in order."""


def test_who_hears_every_event_hears_every_block():
    given = np.zeros(1000, np.float32), np.zeros(1000, np.float32), 1000
    found = launch(STRIDES, "k", 20, 32, *given, options=CLASSES, sinks=[Everything()])
    assert found.coverage.how == "all" and "hear every event" in found.coverage.why


def test_products_of_tensor_cores_have_classes() -> None:
    """One block of a product stands for all, as matrices are loaded at the same places in each."""
    rows = 16 * 256
    a, b = np.ones(rows * 32, np.float16), np.ones(32 * 8, np.float16)
    given = a, b, np.zeros(rows * 8, np.float32), 32
    options = Options(engine="numpy", blocks="classes")
    found = launch("tensor_product", "product", 256, 32, *given, arch="sm_80", options=options)
    assert found.coverage.how == "classes" and found.coverage.run < 9, found.coverage
