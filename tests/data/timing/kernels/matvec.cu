// y = A x with A of rows x cols, by rows: a thread, a warp or a block takes a row; or A by columns.
extern "C" __global__ void matvec_thread(const float *a, const float *x, float *y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float s = 0.0f;
  for (int c = 0; c < cols; ++c) s += a[(size_t)r * cols + c] * x[c];
  y[r] = s;
}
extern "C" __global__ void matvec_column(const float *a, const float *x, float *y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float s = 0.0f;
  for (int c = 0; c < cols; ++c) s += a[(size_t)c * rows + r] * x[c];
  y[r] = s;
}
extern "C" __global__ void matvec_warp(const float *a, const float *x, float *y, int rows, int cols) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float s = 0.0f;
  for (int c = lane; c < cols; c += 32) s += a[(size_t)r * cols + c] * x[c];
  for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (lane == 0) y[r] = s;
}
extern "C" __global__ void matvec_warp4(const float4 *a, const float4 *x, float *y, int rows, int cols) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float s = 0.0f;
  for (int c = lane; c < cols / 4; c += 32) {
    float4 p = a[(size_t)r * (cols / 4) + c], q = x[c];
    s += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
  }
  for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (lane == 0) y[r] = s;
}
extern "C" __global__ void matvec_block(const float *a, const float *x, float *y, int rows, int cols) {
  __shared__ float part[1024];
  float s = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) s += a[(size_t)blockIdx.x * cols + c] * x[c];
  part[threadIdx.x] = s;
  for (int d = blockDim.x / 2; d; d /= 2) {
    __syncthreads();
    if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
