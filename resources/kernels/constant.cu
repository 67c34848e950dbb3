// 32 lanes read `distinct` different floats, `step` apart, from a table in each memory space, and
// that `reads` times: from one load to the next each lane takes the float after its own.
#define COUNT 256

struct Table {
    float value[COUNT];
    constexpr Table() : value() { for (int i = 0; i < COUNT; ++i) value[i] = i; }
};
__constant__ constexpr Table table;

extern "C" __global__ void constant_memory(float* out, int distinct, int step, int reads)
{
    int which = threadIdx.x % 32 % distinct;
    float sum = 0.0f;
#pragma unroll 1
    for (int k = 0; k < reads; ++k) {
        sum += table.value[which * step];
        which = which + 1 == distinct ? 0 : which + 1;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void shared_memory(const float* in, float* out, int distinct, int step,
                                         int reads)
{
    __shared__ float words[COUNT];
    for (int i = threadIdx.x; i < COUNT; i += blockDim.x)
        words[i] = in[i];
    __syncthreads();
    int which = threadIdx.x % 32 % distinct;
    float sum = 0.0f;
#pragma unroll 1
    for (int k = 0; k < reads; ++k) {
        sum += words[which * step];
        which = which + 1 == distinct ? 0 : which + 1;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void global_memory(const float* in, float* out, int distinct, int step,
                                         int reads)
{
    int which = threadIdx.x % 32 % distinct;
    float sum = 0.0f;
#pragma unroll 1
    for (int k = 0; k < reads; ++k) {
        sum += in[which * step];
        which = which + 1 == distinct ? 0 : which + 1;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// One load for 1, 2, 3 ... different floats: block b reads b + 1.
extern "C" __global__ void constant_sweep(float* out, int step)
{
    int lane = threadIdx.x, distinct = blockIdx.x + 1;
    out[blockIdx.x * 32 + lane] = table.value[lane % distinct * step];
}

extern "C" __global__ void shared_sweep(const float* in, float* out, int step)
{
    __shared__ float words[COUNT];
    int lane = threadIdx.x, distinct = blockIdx.x + 1;
    for (int i = lane; i < COUNT; i += 32)
        words[i] = in[i];
    __syncthreads();
    out[blockIdx.x * 32 + lane] = words[lane % distinct * step];
}

extern "C" __global__ void global_sweep(const float* in, float* out, int step)
{
    int lane = threadIdx.x, distinct = blockIdx.x + 1;
    out[blockIdx.x * 32 + lane] = in[lane % distinct * step];
}
