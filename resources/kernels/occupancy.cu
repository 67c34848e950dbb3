// P = M N for a block of any shape. M is blockDim.y x inner, and every block computes its own columns
// of P; inner is a multiple of blockDim.x.
extern "C" __global__ void naive(const float* M, const float* N, float* P, int inner, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = threadIdx.y;
    if (column >= columns)
        return;
    float sum = 0.0f;
    for (int k = 0; k < inner; ++k)
        sum += M[row * inner + k] * N[k * columns + column];
    P[row * columns + column] = sum;
}

// The same through tiles in shared memory, whose size is chosen by the launch. The block is square.
extern "C" __global__ void tiled(const float* M, const float* N, float* P, int inner, int columns)
{
    extern __shared__ float tiles[];
    int width = blockDim.x, tx = threadIdx.x, ty = threadIdx.y;
    float* Ms = tiles;
    float* Ns = tiles + width * width;
    int column = blockIdx.x * width + tx;
    float sum = 0.0f;
    for (int first = 0; first < inner; first += width) {
        Ms[ty * width + tx] = M[ty * inner + first + tx];
        Ns[ty * width + tx] = N[(first + ty) * columns + column];
        __syncthreads();
        for (int k = 0; k < width; ++k)
            sum += Ms[ty * width + k] * Ns[k * width + tx];
        __syncthreads();
    }
    P[ty * columns + column] = sum;
}
