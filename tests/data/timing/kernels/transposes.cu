// The transpose of an n x n matrix.
extern "C" __global__ void transpose_read(const float *a, float *b, int n) {  // reads rows
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) b[(size_t)x * n + y] = a[(size_t)y * n + x];
}
extern "C" __global__ void transpose_write(const float *a, float *b, int n) {  // writes rows
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) b[(size_t)y * n + x] = a[(size_t)x * n + y];
}
extern "C" __global__ void transpose_banks(const float *a, float *b, int n) {
  __shared__ float t[32][32];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += blockDim.y) t[threadIdx.y + j][threadIdx.x] = a[(size_t)(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += blockDim.y) b[(size_t)(y + j) * n + x] = t[threadIdx.x][threadIdx.y + j];
}
extern "C" __global__ void transpose_padded(const float *a, float *b, int n) {
  __shared__ float t[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += blockDim.y) t[threadIdx.y + j][threadIdx.x] = a[(size_t)(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += blockDim.y) b[(size_t)(y + j) * n + x] = t[threadIdx.x][threadIdx.y + j];
}
