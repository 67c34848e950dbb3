// 32 x 32 floats are transposed through shared memory: rows are read, rows are written, and what
// turns them is that the tile is filled by rows and read by columns.
extern "C" __global__ void transpose(const float* source, float* result)
{
    __shared__ float tile[32][32];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = source[y * 32 + x];
    __syncthreads();
    result[y * 32 + x] = tile[x][y];
}
