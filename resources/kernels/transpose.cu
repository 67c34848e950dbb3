// out = in transposed, n x n floats stored row by row; a block of 32 x 8 threads moves 32 x 32.
#define TILE 32
#define ROWS 8

extern "C" __global__ void naive(const float* in, float* out, int n)
{
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS)
        out[x * n + y + i] = in[(y + i) * n + x];
}

extern "C" __global__ void shared(const float* in, float* out, int n)
{
    __shared__ float tile[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
    for (int i = 0; i < TILE; i += ROWS)
        tile[ty + i][tx] = in[(y + i) * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + tx, y = blockIdx.x * TILE + ty;
    for (int i = 0; i < TILE; i += ROWS)
        out[(y + i) * n + x] = tile[tx][ty + i];
}

// One unused element at the end of each row shifts the rows against the banks.
extern "C" __global__ void padded(const float* in, float* out, int n)
{
    __shared__ float tile[TILE][TILE + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
    for (int i = 0; i < TILE; i += ROWS)
        tile[ty + i][tx] = in[(y + i) * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + tx, y = blockIdx.x * TILE + ty;
    for (int i = 0; i < TILE; i += ROWS)
        out[(y + i) * n + x] = tile[tx][ty + i];
}

// The column within a row is permuted by the row's number: no element is wasted.
extern "C" __global__ void swizzled(const float* in, float* out, int n)
{
    __shared__ float tile[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
    for (int i = 0; i < TILE; i += ROWS)
        tile[ty + i][tx ^ (ty + i)] = in[(y + i) * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + tx, y = blockIdx.x * TILE + ty;
    for (int i = 0; i < TILE; i += ROWS)
        out[(y + i) * n + x] = tile[tx][(ty + i) ^ tx];
}
