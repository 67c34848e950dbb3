"""The kernel of emulator.py in Numba's CUDA simulator (import with NUMBA_ENABLE_CUDASIM=1)."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numba import cuda, float32


@cuda.jit
def multiply(m: Any, n: Any, p: Any) -> None:
    """Tiles of 16; the simulator looks for `cuda` among the globals of this module."""
    ms = cuda.shared.array((16, 16), float32)
    ns = cuda.shared.array((16, 16), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = cuda.blockIdx.y * 16 + y, cuda.blockIdx.x * 16 + x
    total = float32(0.0)
    for first in range(0, m.shape[1], 16):
        ms[y, x] = m[row, first + x]
        ns[y, x] = n[first + y, column]
        cuda.syncthreads()
        for k in range(16):
            total += ms[y, k] * ns[k, x]
        cuda.syncthreads()
    p[row, column] = total


def simulate(width: int) -> float:
    """Seconds for square matrices of a width that is a multiple of 16; the result is checked."""
    random = np.random.default_rng(0)
    m, n = (random.random((width, width), np.float32) for _ in range(2))
    p = np.zeros((width, width), np.float32)
    start = time.perf_counter()
    multiply[(width // 16, width // 16), (16, 16)](m, n, p)
    seconds = time.perf_counter() - start
    if not np.allclose(p, m @ n, rtol=1e-4):
        raise SystemExit("Numba's simulator gave a wrong product")
    return seconds
