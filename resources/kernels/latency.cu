// Sums of elements that lie far apart. Of each round's LOADS loads none waits for another: the sum is
// built when all are on their way.
#ifndef LOADS
#define LOADS 4
#endif

template <int COUNT>
__device__ float summed(const float* in, int first, int step, int elements)
{
    float sum = 0.0f;
#pragma unroll 1
    for (int done = 0; done < elements; done += COUNT) {
        float value[COUNT];
#pragma unroll
        for (int k = 0; k < COUNT; ++k)
            value[k] = in[first + (done + k) * step];
#pragma unroll
        for (int k = 0; k < COUNT; ++k)
            sum += value[k];
    }
    return sum;
}

extern "C" __global__ void independent(const float* in, float* out, int elements)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = summed<LOADS>(in, i, gridDim.x * blockDim.x, elements);
}

// Block b keeps 1, 2, 4, 8, 16 or 32 warps (b / 4) and loads 1, 2, 4 or 8 elements at once (b % 4).
extern "C" __global__ void sweep(const float* in, float* out, int elements)
{
    if (threadIdx.x >= 32 << blockIdx.x / 4)
        return;
    int i = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    switch (blockIdx.x % 4) {
    case 0: out[i] = summed<1>(in, i, step, elements); break;
    case 1: out[i] = summed<2>(in, i, step, elements); break;
    case 2: out[i] = summed<4>(in, i, step, elements); break;
    default: out[i] = summed<8>(in, i, step, elements);
    }
}
