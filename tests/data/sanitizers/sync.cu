// Kernels whose threads do not meet where they say. The lines at fault are marked `fault: KERNEL`.
// Their launches are in launches.toml.

extern "C" __global__ void barrier_for_some(const float* in, float* out)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
    if (t < 40) __syncthreads();  // fault: barrier_for_some
    out[t] = tile[t] * 2.0f;
}

extern "C" __global__ void two_barriers(const float* in, float* out)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    if (t % 2) {
        tile[t] = in[t];
        __syncthreads();  // fault: two_barriers
    } else {
        tile[t] = -in[t];
        __syncthreads();  // fault: two_barriers
    }
    out[t] = tile[63 - t];
}

extern "C" __global__ void wrong_count(const float* in, float* out)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
    asm volatile("bar.sync 1, 96;" ::: "memory");  // fault: wrong_count
    out[t] = tile[63 - t];
}

extern "C" __global__ void not_in_own_mask(const float* in, float* out)
{
    __shared__ float part[32];
    int lane = threadIdx.x;
    part[lane] = in[lane];
    __syncwarp(0x0000ffff);  // fault: not_in_own_mask
    out[lane] = part[lane];
}

extern "C" __global__ void shuffle_from_nobody(const int* in, int* out)
{
    int lane = threadIdx.x;
    int value = in[lane];
    if (lane < 16) value += __shfl_down_sync(0xffffffff, value, 16);  // fault: shuffle_from_nobody
    out[lane] = value;
}

extern "C" __global__ void masks_differ(const int* in, unsigned* out)
{
    int lane = threadIdx.x;
    unsigned mask = lane < 20 ? 0x000fffffu : 0xffffffffu;
    out[lane] = __ballot_sync(mask, in[lane] > 3);  // fault: masks_differ
}

extern "C" __global__ void count_of_48(const float* in, float* out, int count)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
    asm volatile("bar.sync 1, %0;" :: "r"(count) : "memory");  // fault: count_of_48
    __syncthreads();
    out[t] = tile[63 - t];
}

extern "C" __global__ void counts_differ(const float* in, float* out, int count)
{
    __shared__ float tile[64];
    int t = threadIdx.x, mine = t < 32 ? count : count - 32;
    tile[t] = in[t];
    asm volatile("bar.sync 1, %0;" :: "r"(mine) : "memory");  // fault: counts_differ
    __syncthreads();
    out[t] = tile[63 - t];
}

extern "C" __global__ void turns_differ(const float* in, float* out)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < 1 + t / 32; ++k) {
        tile[t] = in[t] * k;
        __syncthreads();  // fault: turns_differ
        sum += tile[t];
    }
    out[t] = sum;
}

extern "C" __global__ void half_calls_all(const int* in, int* out)
{
    int lane = threadIdx.x, value = in[lane];
    if (lane < 16) value = __any_sync(0xffffffff, value > 3);  // fault: half_calls_all
    __syncwarp();  // fault: half_calls_all
    out[lane] = value;
}

extern "C" __global__ void loop_of_lanes(const int* in, int* out)
{
    int lane = threadIdx.x, sum = 0;
    for (int k = 0; k < 1 + lane % 2; ++k) {
        __syncwarp();  // fault: loop_of_lanes
        sum += in[lane];
    }
    out[lane] = __shfl_sync(0xffffffff, sum, 0);  // fault: loop_of_lanes
}

extern "C" __global__ void nobody_comes(const float* in, float* out)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
    if (t < 32) asm volatile("bar.sync 2, 64;" ::: "memory");  // fault: nobody_comes
    out[t] = tile[t];
}

__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void mb_init(unsigned long long* b, int n)
{ asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(at(b)), "r"(n) : "memory"); }

__device__ __forceinline__ void mb_arrive(unsigned long long* b)
{ asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(at(b)) : "memory"); }

extern "C" __global__ void too_few_arrive(const float* in, float* out)
{
    __shared__ unsigned long long met;
    int t = threadIdx.x;
    if (t == 0) mb_init(&met, 64);
    __syncthreads();
    if (t < 63) mb_arrive(&met);
    int done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.s32 %0, 1, 0, p; }" : "=r"(done) : "r"(at(&met)) : "memory");  // fault: too_few_arrive
    out[t] = in[t];
}

extern "C" __global__ void __cluster_dims__(2) one_block_only(const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x == 0) {
        asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
        asm volatile("barrier.cluster.wait.aligned;" ::: "memory");  // fault: one_block_only
    }
    out[i] = in[i];
}
