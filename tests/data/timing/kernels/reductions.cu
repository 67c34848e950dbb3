// The sum of n floats.
extern "C" __global__ void reduce_modulo(const float *a, float *out, int n) {
  __shared__ float s[1024];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? a[i] : 0.0f;
  for (int d = 1; d < blockDim.x; d *= 2) {
    __syncthreads();
    if (threadIdx.x % (2 * d) == 0) s[threadIdx.x] += s[threadIdx.x + d];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void reduce_halves(const float *a, float *out, int n) {
  __shared__ float s[1024];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? a[i] : 0.0f;
  for (int d = blockDim.x / 2; d; d /= 2) {
    __syncthreads();
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void reduce_shuffle(const float *a, float *out, int n) {
  __shared__ float part[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? a[i] : 0.0f;
  for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0.0f;
  for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x == 0) out[blockIdx.x] = v;
}
extern "C" __global__ void reduce_stride(const float4 *a, float *out, int n) {  // 16 bytes, then a block
  __shared__ float part[32];
  float v = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float4 p = a[i];
    v += p.x + p.y + p.z + p.w;
  }
  for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0.0f;
  for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x == 0) atomicAdd(out, v);
}
extern "C" __global__ void reduce_warps(const float *a, float *out, int n) {  // an atomic a warp
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? a[i] : 0.0f;
  for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
extern "C" __global__ void reduce_atomics(const float *a, float *out, int n) {  // an atomic a thread
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out, a[i]);
}
extern "C" __global__ void reduce_lanes(const float *a, float *out, int n) {  // a place for each lane
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&out[threadIdx.x % 32], a[i]);
}
extern "C" __global__ void reduce_shared(const float *a, float *out, int n) {  // an atomic in shared memory
  __shared__ float s;
  if (threadIdx.x == 0) s = 0.0f;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&s, a[i]);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(out, s);
}
