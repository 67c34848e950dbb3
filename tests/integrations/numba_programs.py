"""Numba kernels that the tests trace."""

from numba import cuda, float32, int32


@cuda.jit
def add(x, y, out, factor):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + factor * y[i]


@cuda.jit
def histogram(values, bins):
    own = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    if t < 64:
        own[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(own, values[i], 1)
    cuda.syncthreads()
    if t < 64:
        cuda.atomic.add(bins, t, own[t])


@cuda.jit
def transpose(source, target):
    tile = cuda.shared.array((32, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = source[cuda.blockIdx.y * 32 + y, cuda.blockIdx.x * 32 + x]
    cuda.syncthreads()
    target[cuda.blockIdx.x * 32 + y, cuda.blockIdx.y * 32 + x] = tile[x, y]
