// P = M N for blocks of any shape: a thread computes one element of P. M has gridDim.y * blockDim.y
// rows of `inner` elements, N has `columns` columns.
extern "C" __global__ void naive(const float* M, const float* N, float* P, int inner, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= columns)
        return;
    float sum = 0.0f;
#pragma unroll 1  // few registers
    for (int k = 0; k < inner; ++k)
        sum += M[row * inner + k] * N[k * columns + column];
    P[row * columns + column] = sum;
}

// The same through square tiles in shared memory, whose size is chosen by the launch. The block is
// as large as a tile, and `inner` and `columns` are multiples of its width.
extern "C" __global__ void tiled(const float* M, const float* N, float* P, int inner, int columns)
{
    extern __shared__ float tiles[];
    int width = blockDim.x, tx = threadIdx.x, ty = threadIdx.y;
    float* Ms = tiles;
    float* Ns = tiles + width * width;
    int column = blockIdx.x * width + tx;
    int row = blockIdx.y * width + ty;
    float sum = 0.0f;
    for (int first = 0; first < inner; first += width) {
        Ms[ty * width + tx] = M[row * inner + first + tx];
        Ns[ty * width + tx] = N[(first + ty) * columns + column];
        __syncthreads();
#pragma unroll 1
        for (int k = 0; k < width; ++k)
            sum += Ms[ty * width + k] * Ns[k * width + tx];
        __syncthreads();
    }
    P[row * columns + column] = sum;
}
