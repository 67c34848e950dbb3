// One variable in each memory space. The two kernels differ in one line: how they index `kept`,
// an array of KEPT elements: 4, 8, 16 or 32.
#ifndef KEPT
#define KEPT 16
#endif

__constant__ float scale[8] = {1.0f, 0.5f, 2.0f, 0.25f, 4.0f, 0.125f, 8.0f, 0.0625f};

extern "C" __global__ void indexed(const float* in, const float* table, float* out, int turn,
                                   int spread)
{
    __shared__ float row[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    row[threadIdx.x] = in[i];
    __syncthreads();
    float kept[KEPT];
    for (int k = 0; k < KEPT; ++k)
        kept[k] = row[threadIdx.x ^ k] * scale[k % 8];
    float sum = __ldg(table + threadIdx.x);
    for (int k = 0; k < KEPT; ++k)
        sum += kept[(k * turn + threadIdx.x * spread) % KEPT];  // known at run time only
    out[i] = sum;
}

extern "C" __global__ void unrolled(const float* in, const float* table, float* out)
{
    __shared__ float row[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    row[threadIdx.x] = in[i];
    __syncthreads();
    float kept[KEPT];
    for (int k = 0; k < KEPT; ++k)
        kept[k] = row[threadIdx.x ^ k] * scale[k % 8];
    float sum = __ldg(table + threadIdx.x);
    for (int k = 0; k < KEPT; ++k)
        sum += kept[k];  // known when compiled, as the loop is unrolled
    out[i] = sum;
}
