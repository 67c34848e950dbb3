// A matrix M lies in memory row by row: M[row][column] is its element row * columns + column.

// Each thread adds up one row: it walks along it.
extern "C" __global__ void row_sums(const float* M, float* sums, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
#pragma unroll 1
    for (int column = 0; column < columns; ++column)
        sum += M[row * columns + column];
    sums[row] = sum;
}

// Each thread adds up one column: it walks down it.
extern "C" __global__ void column_sums(const float* M, float* sums, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
#pragma unroll 1
    for (int row = 0; row < rows; ++row)
        sum += M[row * columns + column];
    sums[column] = sum;
}
