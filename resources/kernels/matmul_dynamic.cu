// P = M N in tiles whose width is chosen when the kernel is launched: the launch says how much
// shared memory a block gets. M is rows x inner, N inner x columns, P rows x columns, row by row.
extern __shared__ float tiles[];

extern "C" __global__ void tiled(const float* M, const float* N, float* P,
                                 int rows, int inner, int columns, int tile)
{
    float* Ms = tiles;                // tile x tile elements each, one after the other
    float* Ns = tiles + tile * tile;
    int tx = threadIdx.x, ty = threadIdx.y;
    int column = blockIdx.x * tile + tx;
    int row = blockIdx.y * tile + ty;
    int phases = (inner + tile - 1) / tile;  // rounded up: the last tiles may be partial
    float sum = 0.0f;
    for (int phase = 0; phase < phases; ++phase) {
        int m = phase * tile + tx;  // column of M that this thread loads
        int n = phase * tile + ty;  // row of N that this thread loads
        Ms[ty * tile + tx] = row < rows && m < inner ? M[row * inner + m] : 0.0f;
        Ns[ty * tile + tx] = n < inner && column < columns ? N[n * columns + column] : 0.0f;
        __syncthreads();  // nobody multiplies before all have loaded
        for (int k = 0; k < tile; ++k)
            sum += Ms[ty * tile + k] * Ns[k * tile + tx];
        __syncthreads();  // nobody loads the next tiles before all have multiplied
    }
    if (row < rows && column < columns)
        P[row * columns + column] = sum;
}
