"""Kernels of textbooks, each slow in one way, with the rule that is known to mend it."""

from typing import NamedTuple


class Textbook(NamedTuple):
    """A kernel, how it is launched, and the rule that mends it."""

    mended_by: str
    grid: tuple[int, int]
    block: tuple[int, int]
    arguments: tuple[str, ...]
    text: str


TEXTBOOK = {
    "transpose": Textbook(
        "stage stores",
        (8, 8),
        (32, 32),
        ("f32[65536]=zeros", "f32[65536]=rand", "i32=256"),
        """__global__ void k(float* out, const float* in, int n) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    if (x < n && y < n) out[x * n + y] = in[y * n + x];
}
""",
    ),
    "gather": Textbook(
        "stage loads",
        (8, 8),
        (32, 32),
        ("f32[65536]=zeros", "f32[65536]=rand", "i32=256"),
        """__global__ void k(float* out, const float* in, int n) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    out[y * n + x] = in[x * n + y] * 2.0f;
}
""",
    ),
    "bank conflicts": Textbook(
        "pad",
        (8, 8),
        (32, 32),
        ("f32[65536]=zeros", "f32[65536]=rand", "i32=256"),
        """__global__ void k(float* out, const float* in, int n) {
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
    out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}
""",
    ),
    "naive product": Textbook(
        "swap",
        (8, 8),
        (16, 16),
        ("f32[16384]=zeros", "f32[16384]=rand", "f32[16384]=rand", "i32=128"),
        """__global__ void k(float* c, const float* a, const float* b, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, col = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}
""",
    ),
    "stretch of a thread": Textbook(
        "interleave",
        (256, 1),
        (256, 1),
        ("f32[1048576]=zeros", "f32[1048576]=rand", "i32=16"),
        """__global__ void k(float* y, const float* x, int per) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int begin = t * per;
    for (int j = 0; j < per; j++) y[begin + j] = 2.0f * x[begin + j];
}
""",
    ),
    "histogram": Textbook(
        "privatise",
        (64, 1),
        (256, 1),
        ("u32[16]=zeros", "u8[16384]=rand", "i32=16384"),
        """__global__ void k(unsigned* bins, const unsigned char* data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(&bins[data[i] / 16], 1u);
}
""",
    ),
    "one sum": Textbook(
        "warp sum",
        (64, 1),
        (256, 1),
        ("f32[1]=zeros", "f32[16384]=rand", "i32=16384"),
        """__global__ void k(float* total, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(total, x[i]);
}
""",
    ),
    "sum in memory": Textbook(
        "restrict",
        (8, 1),
        (128, 1),
        ("f32[1024]=zeros", "f32[65536]=rand", "i32=64"),
        """__global__ void k(float* out, const float* m, int n) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    out[r] = 0;
    for (int k = 0; k < n; k++) out[r] += m[k * 1024 + r];
}
""",
    ),
}
