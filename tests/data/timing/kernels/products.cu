// C = A B of n x n: a thread a cell, tiles in shared memory, tiles of registers.
extern "C" __global__ void product_naive(const float *a, const float *b, float *c, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float s = 0.0f;
  for (int k = 0; k < n; ++k) s += a[y * n + k] * b[k * n + x];
  c[y * n + x] = s;
}
#ifndef TILE
#define TILE 16
#endif
extern "C" __global__ void product_tiled(const float *a, const float *b, float *c, int n) {
  __shared__ float s[TILE][TILE], t[TILE][TILE];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  float sum = 0.0f;
  for (int k = 0; k < n; k += TILE) {
    s[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
    t[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
    __syncthreads();
    for (int j = 0; j < TILE; ++j) sum += s[threadIdx.y][j] * t[j][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}
#ifndef REGS
#define REGS 4
#endif
// 16 x 16 threads, REGS x REGS cells each, slices of 8.
extern "C" __global__ void product_registers(const float *a, const float *b, float *c, int n) {
  const int side = 16 * REGS, deep = 8;
  __shared__ float s[deep][side], t[deep][side];
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16, x = blockIdx.x * side, y = blockIdx.y * side;
  float sum[REGS][REGS] = {};
  for (int k = 0; k < n; k += deep) {
    for (int e = threadIdx.x; e < side * deep; e += 256) {
      s[e % deep][e / deep] = a[(size_t)(y + e / deep) * n + k + e % deep];
      t[e / side][e % side] = b[(size_t)(k + e / side) * n + x + e % side];
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < deep; ++j) {
      float p[REGS], q[REGS];
#pragma unroll
      for (int r = 0; r < REGS; ++r) p[r] = s[j][ty * REGS + r], q[r] = t[j][tx * REGS + r];
#pragma unroll
      for (int r = 0; r < REGS; ++r)
#pragma unroll
        for (int l = 0; l < REGS; ++l) sum[r][l] += p[r] * q[l];
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < REGS; ++r)
#pragma unroll
    for (int l = 0; l < REGS; ++l) c[(size_t)(y + ty * REGS + r) * n + x + tx * REGS + l] = sum[r][l];
}
