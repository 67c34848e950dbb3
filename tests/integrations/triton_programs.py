"""Triton kernels that the tests trace."""

import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, x + y, mask=mask)


@triton.jit
def softmax(out_ptr, in_ptr, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(in_ptr + row * stride + at, mask=at < columns, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * stride + at, e / tl.sum(e, axis=0), mask=at < columns)


@triton.jit
def transpose(in_ptr, out_ptr, n, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tile = tl.load(in_ptr + rows[:, None] * n + columns[None, :])
    tl.store(out_ptr + columns[:, None] * n + rows[None, :], tl.trans(tile))


@triton.autotune([triton.Config({"BLOCK": 256}, num_warps=2), triton.Config({"BLOCK": 512})], ["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % 256 == 0})
@triton.jit
def scale(x_ptr, factor, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(x_ptr + offs, tl.load(x_ptr + offs) * factor)
    else:
        tl.store(x_ptr + offs, tl.load(x_ptr + offs, mask=offs < n) * factor, mask=offs < n)


@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    rn = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm * K + (k + rk)[None, :])
        y = tl.load(b + (k + rk)[:, None] * N + rn)
        acc = tl.dot(x, y, acc)
    tl.store(c + rm * N + rn, acc.to(tl.float16))


@triton.jit
def attention(q, k, v, o, n, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """The loop of flash attention: a softmax that goes on while keys come."""
    head = tl.program_id(1) * n * D
    d = tl.arange(0, D)[None, :]
    rows = head + (tl.program_id(0) * BM + tl.arange(0, BM))[:, None] * D + d
    x = tl.load(q + rows)
    most = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, n, BN):
        keys = head + (start + tl.arange(0, BN))[:, None] * D + d
        s = tl.dot(x, tl.trans(tl.load(k + keys))) * scale
        more = tl.maximum(most, tl.max(s, 1))
        p, less = tl.exp2(s - more[:, None]), tl.exp2(most - more)
        total = total * less + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.float16), tl.load(v + keys), acc * less[:, None])
        most = more
    tl.store(o + rows, (acc / total[:, None]).to(tl.float16))


@triton.jit
def boxes(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Tensor maps that the kernel makes itself: TMA on Hopper."""
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    x = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    y = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    z = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(x.load([m, k]), y.load([n, k]).T, acc)
    z.store([m, n], acc.to(tl.float16))
