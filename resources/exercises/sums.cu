// The sums of all rows and of all columns of a matrix of 64 x 64.
extern "C" __global__ void sums(const float* matrix, float* rows, float* columns)
{
    int i = threadIdx.x;
    float row = 0.0f, column = 0.0f;
    for (int k = 0; k < 64; ++k) {
        column += matrix[k * 64 + i];
        row += matrix[i * 64 + k];
    }
    columns[i] = column;
    rows[i] = row;
}
