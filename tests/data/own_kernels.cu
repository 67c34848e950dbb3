extern "C" __global__ void histogram(const unsigned char* data, unsigned int* bins, int n) {
    __shared__ unsigned int local[64];
    if (threadIdx.x < 64) local[threadIdx.x] = 0;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) local[data[i] & 63] += 1;
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
extern "C" __global__ void sgemm(const float* A, const float* B, float* C, int n) {
    __shared__ float a[16][16];
    __shared__ float b[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float sum = 0.0f;
    for (int p = 0; p < n / 16; ++p) {
        a[ty][tx] = A[row * n + p * 16 + tx];
        b[ty][tx] = B[(p * 16 + ty) * n + col];
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    C[row * n + col] = sum;
}
extern "C" __global__ void stencil(const float* in, float* out, int n) {
    __shared__ float tile[128 + 4];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x + 2;
    tile[t] = in[i];
    if (threadIdx.x < 2) {
        tile[t - 2] = i >= 2 ? in[i - 2] : 0.0f;
        tile[t + 128] = i + 128 < n ? in[i + 128] : 0.0f;
    }
    __syncthreads();
    float sum = 0.0f;
    for (int k = -2; k <= 2; ++k) sum += tile[t + k];
    out[i] = sum;
}
extern "C" __global__ void reduce(const float* in, float* out, int n) {
    __shared__ float part[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float sum = i < n ? in[i] : 0.0f;
    for (int k = 16; k; k /= 2) sum += __shfl_down_sync(0xffffffff, sum, k);
    if (lane == 0) part[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < blockDim.x / 32 ? part[lane] : 0.0f;
        for (int k = 16; k; k /= 2) sum += __shfl_down_sync(0xffffffff, sum, k);
        if (lane == 0) out[blockIdx.x] = sum;
    }
}
extern "C" __global__ void transpose(const float* in, float* out, int n) {
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
    out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}
extern "C" __global__ void shift(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i + 5];
}
extern "C" __global__ void collatz(const int* start, int* steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = start[i] + 1;
    int count = 0;
    while (v != 1) {
        if (v % 2) v = 3 * v + 1;
        else v /= 2;
        ++count;
    }
    steps[i] = count;
}
extern "C" __global__ void misaligned(const char* in, float* out) {
    out[threadIdx.x] = *(const float*)(in + threadIdx.x * 4 + 1);
}
extern "C" __global__ void spill_over(int* out) { out[threadIdx.x] = threadIdx.x; }
extern "C" __global__ void unset(float* out) {
    __shared__ float part[64];
    if (threadIdx.x < 32) part[threadIdx.x] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = part[threadIdx.x];
}
extern "C" __global__ void passes_by(float* out) {
    __shared__ float part[64];
    part[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 32) __syncthreads();
    out[threadIdx.x] = part[63 - threadIdx.x];
}
extern "C" __global__ void one_too_far(const float* in, float* out) {
    __shared__ float part[64];
    part[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = part[threadIdx.x + 1];
}
extern "C" __global__ void far_outside(float* out) {
    __shared__ float part[64];
    part[threadIdx.x] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = part[threadIdx.x - 4096];
}
