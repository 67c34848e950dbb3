// Constant memory, local memory, the read-only path, divergence, groups of a strided walk.
__constant__ float table[1024];

extern "C" __global__ void constants(float* out, int distinct)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    out[thread] = table[(threadIdx.x % 32) % distinct * 16];
}

extern "C" __global__ void automatic(const float* in, float* out, int turn)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    float kept[16];
    for (int i = 0; i < 16; ++i) kept[i] = in[thread + i * 4096];
    float sum = 0.0f;
    for (int i = 0; i < 4; ++i) sum += kept[(i * turn + 1) & 15];
    out[thread] = sum;
}

extern "C" __global__ void read_only(const float* __restrict__ in, float* __restrict__ out, int width)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    out[thread] = __ldg(in + thread * width) + __ldg(in + thread * width + 1);
}

extern "C" __global__ void walk(float* all, int count, int stride, int group)
{
    int each = count / (gridDim.x * blockDim.x);
    int first = each * blockIdx.x * blockDim.x + threadIdx.x / stride * each * stride
                + threadIdx.x % stride;
    int end = min(first + each * stride, count);
    bool doubles = threadIdx.x / group % 2;
    for (int i = first; i < end; i += stride) {
        if (doubles) all[i] = all[i] + all[i];
        else all[i] = all[i] * all[i];
    }
}
