"""Ten small kernels as people write them, launches of each, and what was done wrong in copies."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import gpuviz

Arrays = Mapping[str, np.ndarray[Any, Any]]
Sizes = tuple[tuple[int, ...], tuple[int, ...], tuple[Any, ...], Arrays]


@dataclass(frozen=True)
class Kernel:
    """`launch(n)` gives grid, block, arguments and what arrays should be afterwards; `defects` by
    name: what is replaced by what in the text, and which demand has to refuse that.
    """

    name: str
    text: str
    launch: Callable[[int], Sizes]
    sizes: tuple[int, ...]
    defects: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    ratio: float = 1.0  # sectors to the ideal, of the right one
    data_decide: tuple[str, ...] = ()  # demands that no kernel of the kind can meet on any data

    def run(self, n: int, defect: str = "") -> gpuviz.Run:
        """The launch of a size, of the text as it is or with a defect."""
        text = self.text
        if defect:
            old, new, _ = self.defects[defect]
            assert old in text, old
            text = text.replace(old, new)
        grid, block, arguments, _ = self.launch(n)
        return gpuviz.trace(text, grid, block, arguments)


def numbers(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Small whole numbers: sums of them are exact."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype("f4")


def demand(kernel: Kernel, n: int, run: gpuviz.Run, what: str, right: gpuviz.Run) -> None:
    """One of the demands that all kernels meet."""
    expected = gpuviz.expect(run)
    if what == "findings":
        expected.no_findings()
    elif what == "races":
        expected.no_races()
    elif what == "conflicts":
        expected.no_bank_conflicts()
    elif what == "sectors":
        expected.sectors(at_most=kernel.ratio, of="ideal")
    elif what == "time":
        expected.no_slower_than(right, within=0.05)
    else:
        for name, values in kernel.launch(n)[3].items():
            expected.array(name, values)


DEMANDS = ("findings", "races", "conflicts", "sectors", "time", "arrays")


def _saxpy(n: int) -> Sizes:
    x, y = numbers(n), numbers(n, seed=1)
    return (-(-n // 128),), (128,), (y, x, 2.0, n), {"y": 2 * x + y}


def _transpose(n: int) -> Sizes:
    a = numbers(n, n)
    return (n // 32, n // 32), (32, 8), (np.zeros((n, n), "f4"), a, n), {"out": a.T.copy()}


def _reduce(n: int) -> Sizes:
    a, blocks = numbers(n), -(-n // 256)
    filled = np.zeros(blocks * 256, "f4")
    filled[:n] = a
    sums = filled.reshape(blocks, 256).sum(axis=1)
    return (blocks,), (256,), (np.zeros(blocks, "f4"), a, n), {"sums": sums}


def _histogram(n: int) -> Sizes:
    a = np.random.default_rng(3).integers(0, 64, n).astype("i4")
    bins = np.bincount(a, minlength=64).astype("i4")
    return (4,), (128,), (np.zeros(64, "i4"), a, n), {"bins": bins}


def _stencil(n: int) -> Sizes:
    a = numbers(n + 2)
    return (n // 128,), (128,), (np.zeros(n, "f4"), a), {"out": a[:-2] + 2 * a[1:-1] + a[2:]}


def _product(n: int) -> Sizes:
    a, b = numbers(n, n), numbers(n, n, seed=1)
    made = (np.zeros((n, n), "f4"), a, b, n)
    return (n // 16, n // 16), (16, 16), made, {"c": (a @ b).astype("f4")}


def _particles(n: int) -> Sizes:
    x, v = numbers(n), numbers(n, seed=1)
    return (n // 128,), (128,), (x, v, n), {"x": x + 0.5 * v}


def _vector(n: int) -> Sizes:
    a, x = numbers(64, n), numbers(n, seed=1)
    return (16,), (128,), (np.zeros(64, "f4"), a, x, n), {"y": (a @ x).astype("f4")}


def _scan(n: int) -> Sizes:
    a = numbers(n * 128)
    sums = a.reshape(n, 128).cumsum(axis=1).ravel()
    return (n,), (128,), (np.zeros(n * 128, "f4"), a), {"out": sums}


def _copy(n: int) -> Sizes:
    a = numbers(n * 512)
    return (n,), (128,), (np.zeros(n * 512, "f4"), a), {"out": a}


SLOW = "for (int k = 0; k < 2000; ++k) w = w * 1.5f + 1.0f; if (w == 7.0f) return;"
KERNELS = (
    Kernel(
        "saxpy",
        """__global__ void saxpy(float *y, const float *x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}""",
        _saxpy,
        tuple(range(128, 128 * 21, 128)),
        {
            "sign": ("+ y[i]", "- y[i]", "arrays"),
            "beyond": ("y[i] =", "y[i + 1] =", "findings"),
            "threads along blocks": (
                "blockIdx.x * blockDim.x + threadIdx.x",
                "threadIdx.x * gridDim.x + blockIdx.x",
                "sectors",
            ),
            "slower": ("if (i < n)", f"float w = i; {SLOW} if (i < n)", "time"),
            "two write one": ("y[i] =", "y[i / 2] =", "races"),
        },
    ),
    Kernel(
        "transpose",
        """__global__ void transpose(float *out, const float *in, int n) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) out[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}""",
        _transpose,
        tuple(range(32, 32 * 21, 32)),
        {
            "no padding": ("[33]", "[32]", "conflicts"),
            "no barrier": ("__syncthreads();", "", "races"),
            "not transposed": ("tile[threadIdx.x][threadIdx.y + k];", "1.0f;", "arrays"),
            "columns read": ("in[(y + k) * n + x]", "in[x * n + y + k]", "sectors"),
            "even padding": ("[33]", "[34]", "conflicts"),
        },
    ),
    Kernel(
        "reduce",
        """__global__ void reduce(float *sums, const float *in, int n) {
    __shared__ float part[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    part[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int s = 128; s; s >>= 1) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = part[0];
}""",
        _reduce,
        tuple(range(256, 256 * 21, 256)),
        {
            "interleaved": (
                "for (int s = 128; s; s >>= 1) {\n        if (t < s) part[t] += part[t + s];",
                "for (int s = 1; s < 256; s *= 2) {\n"
                "        if (2 * s * t < 256) part[2 * s * t] += part[2 * s * t + s];",
                "conflicts",
            ),
            "no barrier in the loop": (
                "part[t + s];\n        __syncthreads();",
                "part[t + s];",
                "races",
            ),
            "no first barrier": (": 0;\n    __syncthreads();", ": 0;", "races"),
            "last left out": ("s; s >>= 1", "s > 1; s >>= 1", "arrays"),
            "not filled": (
                "part[t] = i < n ? in[i] : 0;",
                "if (t < 200) part[t] = in[i];",
                "findings",
            ),
            "unguarded": ("i < n ? in[i] : 0", "in[i + 1]", "findings"),
        },
    ),
    Kernel(
        "histogram",
        """__global__ void histogram(int *bins, const int *in, int n) {
    __shared__ int own[64];
    if (threadIdx.x < 64) own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128)
        atomicAdd(&own[in[i]], 1);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}""",
        _histogram,
        tuple(range(512, 512 * 21, 512)),
        {
            "no atomic": ("atomicAdd(&own[in[i]], 1)", "own[in[i]] += 1", "races"),
            "not zeroed": ("own[threadIdx.x] = 0;", ";", "findings"),
            "no barrier before": ("= 0;\n    __syncthreads();", "= 0;", "races"),
            "no barrier after": ("1);\n    __syncthreads();", "1);", "races"),
            "two a count": ("own[in[i]], 1)", "own[in[i]], 2)", "arrays"),
            "runs of each thread": (
                "for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128)",
                "int each = n / 512, at = (blockIdx.x * 128 + threadIdx.x) * each;\n"
                "    for (int i = at; i < at + each; ++i)",
                "sectors",
            ),
        },
        1.01,
        ("conflicts",),
    ),
    Kernel(
        "stencil",
        """__global__ void stencil(float *out, const float *in) {
    __shared__ float s[130];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = in[i];
    if (t < 2) s[t + 128] = in[i + 128];
    __syncthreads();
    out[i] = s[t] + 2 * s[t + 1] + s[t + 2];
}""",
        _stencil,
        tuple(range(128, 128 * 21, 128)),
        {
            "no barrier": ("__syncthreads();", "", "races"),
            "half a halo": ("t < 2", "t < 1", "findings"),
            "one in place of two": ("2 * s", "1 * s", "arrays"),
            "halo of the block before": ("in[i + 128]", "in[i + 127]", "arrays"),
            "strided writes": ("out[i]", "out[t * gridDim.x + blockIdx.x]", "arrays"),
        },
        1.01,
    ),
    Kernel(
        "product",
        """__global__ void product(float *c, const float *a, const float *b, int n) {
    __shared__ float s[16][16], t[16][16];
    int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * 16 + y, j = blockIdx.x * 16 + x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        s[y][x] = a[i * n + k + x];
        t[y][x] = b[(k + y) * n + j];
        __syncthreads();
        for (int l = 0; l < 16; ++l) sum += s[y][l] * t[l][x];
        __syncthreads();
    }
    c[i * n + j] = sum;
}""",
        _product,
        tuple(range(16, 16 * 9, 16)),
        {
            "second barrier gone": ("t[l][x];\n        __syncthreads();", "t[l][x];", "races"),
            "first barrier gone": ("+ j];\n        __syncthreads();", "+ j];", "races"),
            "columns of b": (
                "b[(k + y) * n + j]",
                "b[(blockIdx.x * 16 + x) * n + k + y]",
                "sectors",
            ),
            "tile turned": ("t[y][x] =", "t[x][y] =", "conflicts"),
            "one step short": ("k < n", "k < n - 16", "arrays"),
        },
    ),
    Kernel(
        "particles",
        """__global__ void particles(float *x, const float *v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 0.5f * v[i];
}""",
        _particles,
        tuple(range(128, 128 * 21, 128)),
        {
            "backwards by blocks": ("v[i]", "v[(i * 33) % n]", "arrays"),
            "step of a thread": (
                "blockIdx.x * blockDim.x + threadIdx.x",
                "(threadIdx.x % 32) * (n / 32) + blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32",
                "sectors",
            ),
            "beyond": ("if (i < n) x[i]", "x[i + 1]", "findings"),
            "slower": ("if (i < n)", f"float w = i; {SLOW} if (i < n)", "time"),
            "step": ("0.5f", "0.25f", "arrays"),
        },
    ),
    Kernel(
        "vector",
        """__global__ void vector(float *y, const float *a, const float *x, int n) {
    int lane = threadIdx.x % 32, row = blockIdx.x * 4 + threadIdx.x / 32;
    float sum = 0;
    for (int k = lane; k < n; k += 32) sum += a[row * n + k] * x[k];
    for (int d = 16; d; d >>= 1) sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0) y[row] = sum;
}""",
        _vector,
        tuple(range(32, 32 * 21, 32)),
        {
            "row of each thread": (
                "for (int k = lane; k < n; k += 32)",
                "int each = n / 32; for (int k = lane * each; k < lane * each + each; ++k)",
                "sectors",
            ),
            "all write": ("if (lane == 0) y[row]", "y[row]", "races"),
            "half a sum": ("d = 16", "d = 8", "arrays"),
            "named are absent": ("for (int d", "if (lane < 31) for (int d", "findings"),
            "twice": ("+= a[row", "+= 2 * a[row", "arrays"),
        },
    ),
    Kernel(
        "scan",
        """__global__ void scan(float *out, const float *in) {
    __shared__ float s[2][128];
    int t = threadIdx.x, from = 0;
    s[0][t] = in[blockIdx.x * 128 + t];
    __syncthreads();
    for (int d = 1; d < 128; d *= 2, from ^= 1) {
        s[from ^ 1][t] = s[from][t] + (t >= d ? s[from][t - d] : 0);
        __syncthreads();
    }
    out[blockIdx.x * 128 + t] = s[from][t];
}""",
        _scan,
        tuple(range(1, 21)),
        {
            "one buffer": ("s[from ^ 1][t] =", "s[from][t] =", "races"),
            "no barrier": (": 0);\n        __syncthreads();", ": 0);", "races"),
            "exclusive": ("t >= d ?", "t > d ?", "arrays"),
            "one step short": ("d < 128", "d < 64", "arrays"),
            "not filled": ("s[0][t] = in", "if (t) s[0][t] = in", "findings"),
        },
    ),
    Kernel(
        "copy",
        """__global__ void copy(float4 *out, const float4 *in) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}""",
        _copy,
        tuple(range(1, 21)),
        {
            "apart": (
                "blockIdx.x * blockDim.x + threadIdx.x",
                "threadIdx.x * gridDim.x + blockIdx.x",
                "sectors",
            ),
            "beyond": ("out[i] =", "out[i + 1] =", "findings"),
            "field by field": (
                "out[i] = in[i];",
                "for (int k = 0; k < 4; ++k) ((float *)out)[4 * i + k] = ((float *)in)[4 * i + k];",
                "sectors",
            ),
            "turned": ("in[i];", "{in[i].y, in[i].x, in[i].z, in[i].w};", "arrays"),
            "all to one": ("out[i] =", "out[i & ~1] =", "races"),
            "misaligned": (
                "in[i];",
                "*(const float4 *)((const float *)in + 4 * i + 1);",
                "findings",
            ),
        },
    ),
)


def defects() -> Iterator[tuple[Kernel, str]]:
    """Each kernel with each of its defects."""
    return ((kernel, defect) for kernel in KERNELS for defect in kernel.defects)


def right() -> Iterator[tuple[Kernel, int]]:
    """Each kernel at each of its sizes."""
    return ((kernel, n) for kernel in KERNELS for n in kernel.sizes)
