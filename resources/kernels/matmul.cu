// P = M N for matrices stored row by row: M is rows x inner, N inner x columns, P rows x columns.
// TILE is the width of a block and of its tiles. Sizes need not be multiples of it.
// ROUND_DOWN makes the tiled kernel wrong on purpose: it then leaves out the last, partial tile.
#ifndef TILE
#define TILE 2
#endif

extern "C" __global__ void naive(const float* M, const float* N, float* P,
                                 int rows, int inner, int columns)
{
    int column = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    if (row >= rows || column >= columns)
        return;
    float sum = 0.0f;
    for (int k = 0; k < inner; ++k)
        sum += M[row * inner + k] * N[k * columns + column];
    P[row * columns + column] = sum;
}

extern "C" __global__ void tiled(const float* M, const float* N, float* P,
                                 int rows, int inner, int columns)
{
    __shared__ float Ms[TILE][TILE];
    __shared__ float Ns[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int column = blockIdx.x * TILE + tx;
    int row = blockIdx.y * TILE + ty;
#ifdef ROUND_DOWN
    int phases = inner / TILE;               // what is left of the rows and columns is dropped
#else
    int phases = (inner + TILE - 1) / TILE;  // rounded up: the last tiles may be partial
#endif
    float sum = 0.0f;
    for (int phase = 0; phase < phases; ++phase) {
        int m = phase * TILE + tx;  // column of M that this thread loads
        int n = phase * TILE + ty;  // row of N that this thread loads
        Ms[ty][tx] = row < rows && m < inner ? M[row * inner + m] : 0.0f;
        Ns[ty][tx] = n < inner && column < columns ? N[n * columns + column] : 0.0f;
        __syncthreads();  // nobody multiplies before all have loaded
        for (int k = 0; k < TILE; ++k)
            sum += Ms[ty][k] * Ns[k][tx];
        __syncthreads();  // nobody loads the next tiles before all have multiplied
    }
    if (row < rows && column < columns)
        P[row * columns + column] = sum;
}
