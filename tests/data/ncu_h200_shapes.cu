#include <cstdio>
#include <cstdlib>

template <int STRIDE> __global__ void strided(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i * STRIDE % n];
}

extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[32][32];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  out[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] =
      tile[threadIdx.x][threadIdx.y];
}

__global__ void histogram(const int* keys, int* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[keys[i] & 63], 1);
}

int main() {
  const int n = 1 << 20, side = 1024;
  float *x, *y;
  int* k;
  cudaMalloc(&x, n * 4);
  cudaMalloc(&y, n * 4);
  cudaMalloc(&k, n * 4);
  cudaMemset(x, 0, n * 4);
  cudaMemset(y, 0, n * 4);
  cudaMemset(k, 0, n * 4);
  saxpy<<<n / 256, 256>>>(2.0f, x, y, n);
  strided<8><<<n / 256, 256>>>(x, y, n);
  transpose<<<dim3(side / 32, side / 32), dim3(32, 32)>>>(x, y, side);
  histogram<<<64, 256>>>(k, (int*)y, 64 * 256);
  cudaDeviceSynchronize();
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
