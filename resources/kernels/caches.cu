// P = M N for square matrices of n rows and columns, stored row by row; a thread computes one
// element of P. The launch may give each block shared memory that nobody uses: it is taken from L1.
extern "C" __global__ void naive(const float* M, const float* N, float* P, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int k = 0; k < n; ++k)
        sum += M[row * n + k] * N[k * n + column];
    P[row * n + column] = sum;
}

// The same through tiles of 16 x 16, in blocks of as many threads.
extern "C" __global__ void tiled(const float* M, const float* N, float* P, int n)
{
    const int TILE = 16;
    __shared__ float Ms[TILE][TILE];
    __shared__ float Ns[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int column = blockIdx.x * TILE + tx;
    int row = blockIdx.y * TILE + ty;
    float sum = 0.0f;
    for (int first = 0; first < n; first += TILE) {
        Ms[ty][tx] = M[row * n + first + tx];
        Ns[ty][tx] = N[(first + ty) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            sum += Ms[ty][k] * Ns[k][tx];
        __syncthreads();
    }
    P[row * n + column] = sum;
}
