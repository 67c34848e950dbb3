// P = M N for matrices stored row by row. A thread computes MULTI cells of one row of P: cells side
// by side (STEP 1), or a block's width apart (STEP blockDim.x), interleaved with its neighbours'.
// Sizes are multiples of what a block covers.
#ifndef MULTI
#define MULTI 4
#endif

extern "C" __global__ void one_cell(const float* M, const float* N, float* P,
                                    int inner, int columns)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
#pragma unroll 1
    for (int k = 0; k < inner; ++k)
        sum += M[row * inner + k] * N[k * columns + column];
    P[row * columns + column] = sum;
}

// One cell after the other: every cell has a loop of its own.
__device__ void in_turn(const float* M, const float* N, float* P, int inner, int columns,
                        int row, int first, int step)
{
#pragma unroll
    for (int cell = 0; cell < MULTI; ++cell) {
        int column = first + cell * step;
        float sum = 0.0f;
#pragma unroll 1
        for (int k = 0; k < inner; ++k)
            sum += M[row * inner + k] * N[k * columns + column];
        P[row * columns + column] = sum;
    }
}

// All cells in one loop, unrolled: an element of M is loaded once for all of them.
__device__ void together(const float* M, const float* N, float* P, int inner, int columns,
                         int row, int first, int step)
{
    float sum[MULTI] = {};
#pragma unroll 1
    for (int k = 0; k < inner; ++k) {
        float m = M[row * inner + k];
#pragma unroll
        for (int cell = 0; cell < MULTI; ++cell)
            sum[cell] += m * N[k * columns + first + cell * step];
    }
#pragma unroll
    for (int cell = 0; cell < MULTI; ++cell)
        P[row * columns + first + cell * step] = sum[cell];
}

extern "C" __global__ void adjacent(const float* M, const float* N, float* P,
                                    int inner, int columns)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * MULTI;
    in_turn(M, N, P, inner, columns, row, first, 1);
}

extern "C" __global__ void interleaved(const float* M, const float* N, float* P,
                                       int inner, int columns)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int first = blockIdx.x * blockDim.x * MULTI + threadIdx.x;
    in_turn(M, N, P, inner, columns, row, first, blockDim.x);
}

extern "C" __global__ void adjacent_unrolled(const float* M, const float* N, float* P,
                                             int inner, int columns)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * MULTI;
    together(M, N, P, inner, columns, row, first, 1);
}

extern "C" __global__ void interleaved_unrolled(const float* M, const float* N, float* P,
                                                int inner, int columns)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int first = blockIdx.x * blockDim.x * MULTI + threadIdx.x;
    together(M, N, P, inner, columns, row, first, blockDim.x);
}
