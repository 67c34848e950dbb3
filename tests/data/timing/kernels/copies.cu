// A copy of n floats: 4, 8 or 16 bytes a thread, or a grid that strides.
extern "C" __global__ void copy_float(const float *a, float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i];
}
extern "C" __global__ void copy_float2(const float2 *a, float2 *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i];
}
extern "C" __global__ void copy_float4(const float4 *a, float4 *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i];
}
extern "C" __global__ void copy_stride(const float4 *a, float4 *b, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) b[i] = a[i];
}
extern "C" __global__ void copy_four(const float *a, float *b, int n) {
  int i = blockIdx.x * blockDim.x * 4 + threadIdx.x;
#pragma unroll
  for (int k = 0; k < 4; ++k, i += blockDim.x)
    if (i < n) b[i] = a[i];
}
