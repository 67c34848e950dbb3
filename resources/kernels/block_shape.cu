// P = M N for matrices stored row by row, a thread for each cell of P, whatever the shape of the
// block: M is rows x inner, N inner x columns, P rows x columns.
extern "C" __global__ void sgemm(const float* M, const float* N, float* P,
                                 int rows, int inner, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || column >= columns)
        return;
    float sum = 0.0f;
    for (int k = 0; k < inner; ++k)
        sum += M[row * inner + k] * N[k * columns + column];
    P[row * columns + column] = sum;
}
