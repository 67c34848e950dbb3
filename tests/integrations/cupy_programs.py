"""Kernels of cupyx.jit that the tests trace."""

from cupyx import jit


@jit.rawkernel()
def twice(x, y, n):
    i = jit.blockIdx.x * jit.blockDim.x + jit.threadIdx.x
    if i < n:
        y[jit.blockIdx.y, i] = x[jit.blockIdx.y * n + i] * 2
