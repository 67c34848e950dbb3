// Matrix multiplication and transposition, naive and through shared memory.
extern "C" __global__ void naive(const float* m, const float* n, float* p, int width)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int k = 0; k < width; ++k)
        sum += m[row * width + k] * n[k * width + column];
    p[row * width + column] = sum;
}

template <int TILE>
__device__ void tiled(const float* m, const float* n, float* p, int width)
{
    __shared__ float left[TILE][TILE];
    __shared__ float right[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (int first = 0; first < width; first += TILE) {
        left[y][x] = m[row * width + first + x];
        right[y][x] = n[(first + y) * width + column];
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            sum += left[y][k] * right[k][x];
        __syncthreads();
    }
    p[row * width + column] = sum;
}

extern "C" __global__ void tiled4(const float* m, const float* n, float* p, int w) { tiled<4>(m, n, p, w); }
extern "C" __global__ void tiled8(const float* m, const float* n, float* p, int w) { tiled<8>(m, n, p, w); }
extern "C" __global__ void tiled16(const float* m, const float* n, float* p, int w) { tiled<16>(m, n, p, w); }
extern "C" __global__ void tiled32(const float* m, const float* n, float* p, int w) { tiled<32>(m, n, p, w); }

extern "C" __global__ void tiled_guarded(const float* m, const float* n, float* p, int rows,
                                         int inner, int columns)
{
    __shared__ float left[16][16];
    __shared__ float right[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0.0f;
    for (int first = 0; first < inner; first += 16) {
        left[y][x] = row < rows && first + x < inner ? m[row * inner + first + x] : 0.0f;
        right[y][x] = first + y < inner && column < columns ? n[(first + y) * columns + column] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 16; ++k)
            sum += left[y][k] * right[k][x];
        __syncthreads();
    }
    if (row < rows && column < columns) p[row * columns + column] = sum;
}

extern "C" __global__ void transpose_naive(const float* from, float* to, int width)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        to[x * width + y + j] = from[(y + j) * width + x];
}

template <int PAD>
__device__ void transpose(const float* from, float* to, int width)
{
    __shared__ float tile[32][32 + PAD];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        tile[threadIdx.y + j][threadIdx.x] = from[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        to[(y + j) * width + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void transpose_plain(const float* a, float* b, int w) { transpose<0>(a, b, w); }
extern "C" __global__ void transpose_padded(const float* a, float* b, int w) { transpose<1>(a, b, w); }
