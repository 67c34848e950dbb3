// Five points of an n x n grid, or seven of n x n x n.
extern "C" __global__ void stencil_cells(const float *a, float *b, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  int i = y * n + x;
  b[i] = 0.2f * (a[i] + a[i - 1] + a[i + 1] + a[i - n] + a[i + n]);
}
extern "C" __global__ void stencil_shared(const float *a, float *b, int n) {  // blocks of 32 x 8
  __shared__ float t[10][34];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  for (int j = threadIdx.y; j < 10; j += 8)
    for (int i = threadIdx.x; i < 34; i += 32) {
      int gx = blockIdx.x * 32 + i - 1, gy = blockIdx.y * 8 + j - 1;
      t[j][i] = gx >= 0 && gy >= 0 && gx < n && gy < n ? a[gy * n + gx] : 0.0f;
    }
  __syncthreads();
  int i = threadIdx.x + 1, j = threadIdx.y + 1;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  b[y * n + x] = 0.2f * (t[j][i] + t[j][i - 1] + t[j][i + 1] + t[j - 1][i] + t[j + 1][i]);
}
extern "C" __global__ void stencil_march(const float *a, float *b, int n, int rows) {  // down a column
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * rows;
  if (x < 1 || x >= n - 1) return;
  float up = y ? a[(y - 1) * n + x] : 0.0f, here = a[y * n + x];
  for (int j = y; j < y + rows && j < n - 1; ++j) {
    float down = a[(j + 1) * n + x];
    if (j) b[j * n + x] = 0.2f * (here + a[j * n + x - 1] + a[j * n + x + 1] + up + down);
    up = here;
    here = down;
  }
}
extern "C" __global__ void stencil_cube(const float *a, float *b, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  int i = (z * n + y) * n + x;
  b[i] = 0.1f * (a[i] + a[i - 1] + a[i + 1] + a[i - n] + a[i + n] + a[i - n * n] + a[i + n * n]);
}
