// One cause a kernel.
#include <mma.h>
extern "C" __global__ void fill(float4 *b, int n) {  // stores only
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = make_float4(i, i, i, i);
}
extern "C" __global__ void read_much(const float4 *a, float *out, int n) {  // loads only
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 p = i < n ? a[i] : make_float4(0, 0, 0, 0);
  if (p.x + p.y + p.z + p.w == -1.0f) out[0] = 1.0f;
}
extern "C" __global__ void one_float(float *out, int turns) {  // every warp, one address
  for (int i = 0; i < turns; ++i)
    if (threadIdx.x % 32 == 0) atomicAdd(out, 1.0f);
}
extern "C" __global__ void one_float_lanes(float *out, int turns) {  // every lane, one address
  for (int i = 0; i < turns; ++i) atomicAdd(out, (float)threadIdx.x);
}
extern "C" __global__ void one_float_shared(float *out, int turns) {
  __shared__ float s;
  if (threadIdx.x == 0) s = 0.0f;
  __syncthreads();
  for (int i = 0; i < turns; ++i) atomicAdd(&s, (float)threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = s;
}
extern "C" __global__ void one_int(int *out, int turns) {
  for (int i = 0; i < turns; ++i)
    if (threadIdx.x % 32 == 0) atomicAdd(out, 1 + (int)threadIdx.x);
}
extern "C" __global__ void broadcast(const float *a, float *out, int n) {  // all warps, line after line
  float s = 0.0f;
  for (int i = 0; i < n; ++i) s += a[32 * i];
  out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
extern "C" __global__ void rows_shared(const float *a, float *out, int cols, int turns) {  // beyond L1
  float s = 0.0f;
  for (int t = 0; t < turns; ++t)
    for (int c = threadIdx.x; c < cols; c += blockDim.x) s += a[(size_t)blockIdx.x * cols + c];
  out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
extern "C" __global__ void collatz(int *out, int most) {  // divergent integers
  unsigned x = 27u + blockIdx.x * blockDim.x + threadIdx.x;
  int steps = 0;
  while (x != 1u && steps < most) {
    x = x & 1u ? 3u * x + 1u : x / 2u;
    ++steps;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = steps;
}
extern "C" __global__ void hashes(unsigned *out, int turns) {  // integers that do not diverge
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < turns; ++i) {
    x ^= x >> 16; x *= 0x85ebca6bu; x ^= x >> 13; x *= 0xc2b2ae35u; x ^= x >> 16;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
extern "C" __global__ void mandelbrot(int *out, int n, int most) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  float cx = -2.0f + 3.0f * px / n, cy = -1.5f + 3.0f * py / n, x = 0.0f, y = 0.0f;
  int i = 0;
  while (i < most && x * x + y * y < 4.0f) {
    float u = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = u;
    ++i;
  }
  out[py * n + px] = i;
}
extern "C" __global__ void branches(const int *v, float *out, int turns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, kind = v[i] & 3;
  float s = i;
  for (int t = 0; t < turns; ++t) {
    if (kind == 0) s = s * 1.01f + 1.0f;
    else if (kind == 1) s = sqrtf(s + 2.0f);
    else if (kind == 2) s = s / 3.0f;
    else s = __sinf(s);
    kind = (kind + t) & 3;
  }
  out[i] = s;
}
extern "C" __global__ void registers64(const float *a, float *out, int turns) {  // 64 sums a thread
  float s[64];
#pragma unroll
  for (int k = 0; k < 64; ++k) s[k] = a[threadIdx.x] + k;
  for (int t = 0; t < turns; ++t) {
#pragma unroll
    for (int k = 0; k < 64; ++k) s[k] = s[k] * 0.999f + s[(k + 1) % 64];
  }
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < 64; ++k) sum += s[k];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
using namespace nvcuda;
extern "C" __global__ void tensor_product(const half *a, const half *b, float *c, int n) {
  __shared__ __align__(32) half s[64][40], t[32][72];  // 64 x 64 cells, four warps
  int warp = threadIdx.x / 32, x = blockIdx.x * 64, y = blockIdx.y * 64;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) wmma::fill_fragment(sum[i][j], 0.0f);
  for (int k = 0; k < n; k += 32) {
    for (int e = threadIdx.x; e < 256; e += 128) {
      *(uint4 *)&s[e / 4][e % 4 * 8] = *(const uint4 *)&a[(size_t)(y + e / 4) * n + k + e % 4 * 8];
      *(uint4 *)&t[e / 8][e % 8 * 8] = *(const uint4 *)&b[(size_t)(k + e / 8) * n + x + e % 8 * 8];
    }
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < 32; kk += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> p[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> q[2];
      for (int i = 0; i < 2; ++i) wmma::load_matrix_sync(p[i], &s[warp / 2 * 32 + 16 * i][kk], 40);
      for (int j = 0; j < 2; ++j) wmma::load_matrix_sync(q[j], &t[kk][warp % 2 * 32 + 16 * j], 72);
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) wmma::mma_sync(sum[i][j], p[i], q[j], sum[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      wmma::store_matrix_sync(c + (size_t)(y + warp / 2 * 32 + 16 * i) * n + x + warp % 2 * 32 + 16 * j,
                              sum[i][j], n, wmma::mem_row_major);
}
