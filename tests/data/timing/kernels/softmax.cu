// Softmax of each row of a rows x cols matrix: a thread, a warp or a block takes a row.
#include <math_constants.h>

extern "C" __global__ void softmax_thread(const float *in, float *out, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float *x = in + (size_t)row * cols;
  float m = -CUDART_INF_F, s = 0.0f;
  for (int c = 0; c < cols; ++c) m = fmaxf(m, x[c]);
  for (int c = 0; c < cols; ++c) s += __expf(x[c] - m);
  for (int c = 0; c < cols; ++c) out[(size_t)row * cols + c] = __expf(x[c] - m) / s;
}
extern "C" __global__ void softmax_warp(const float *in, float *out, int rows, int cols) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float *x = in + (size_t)row * cols;
  float m = -CUDART_INF_F, s = 0.0f;
  for (int c = lane; c < cols; c += 32) m = fmaxf(m, x[c]);
  for (int d = 16; d; d /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
  for (int c = lane; c < cols; c += 32) s += __expf(x[c] - m);
  for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
  for (int c = lane; c < cols; c += 32) out[(size_t)row * cols + c] = __expf(x[c] - m) / s;
}
extern "C" __global__ void softmax_block(const float *in, float *out, int rows, int cols) {
  __shared__ float part[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const float *x = in + (size_t)blockIdx.x * cols;
  float m = -CUDART_INF_F, s = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) m = fmaxf(m, x[c]);
  for (int d = 16; d; d /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
  if (lane == 0) part[warp] = m;
  __syncthreads();
  m = part[0];
  for (int w = 1; w < warps; ++w) m = fmaxf(m, part[w]);
  __syncthreads();
  for (int c = threadIdx.x; c < cols; c += blockDim.x) s += __expf(x[c] - m);
  for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
  if (lane == 0) part[warp] = s;
  __syncthreads();
  s = 0.0f;
  for (int w = 0; w < warps; ++w) s += part[w];
  for (int c = threadIdx.x; c < cols; c += blockDim.x) out[(size_t)blockIdx.x * cols + c] = __expf(x[c] - m) / s;
}
