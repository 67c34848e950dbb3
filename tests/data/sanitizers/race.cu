// Kernels whose threads touch the same bytes in no order, one of them writing.
// The lines at fault are marked `fault: KERNEL`. Their launches are in launches.toml.

extern "C" __global__ void no_barrier(const float* in, float* out)
{
    __shared__ float tile[128];
    int t = threadIdx.x;
    tile[t] = in[t];  // fault: no_barrier
    out[t] = tile[127 - t];  // fault: no_barrier
}

extern "C" __global__ void one_barrier(const float* in, float* out, int turns)
{
    __shared__ float tile[128];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int turn = 0; turn < turns; ++turn) {
        tile[t] = in[turn * 128 + t];  // fault: one_barrier
        __syncthreads();
        sum += tile[127 - t];  // fault: one_barrier
    }
    out[t] = sum;
}

extern "C" __global__ void no_warp_sync(const float* in, float* out)
{
    __shared__ float part[32];
    int lane = threadIdx.x;
    part[lane] = in[lane];
    __syncwarp();
    for (int half = 16; half > 0; half /= 2)
        if (lane < half) part[lane] += part[lane + half];  // fault: no_warp_sync
    if (lane == 0) *out = part[0];
}

extern "C" __global__ void half_mask(const float* in, float* out)
{
    __shared__ float part[32];
    int lane = threadIdx.x;
    part[lane] = in[lane];  // fault: half_mask
    __syncwarp(lane < 16 ? 0x0000ffffu : 0xffff0000u);
    out[lane] = part[31 - lane];  // fault: half_mask
}

extern "C" __global__ void two_lanes_one_word(const int* in, int* out)
{
    __shared__ int last[16];
    int lane = threadIdx.x;
    last[lane / 2] = in[lane];  // fault: two_lanes_one_word
    __syncthreads();
    out[lane] = last[lane / 2];
}

extern "C" __global__ void in_place(float* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) {
        float mean = (x[i - 1] + x[i + 1]) / 2.0f;  // fault: in_place
        x[i] = mean;  // fault: in_place
    }
}

extern "C" __global__ void no_fence(const float* in, float* part, unsigned* done, float* out)
{
    __shared__ bool last;
    __shared__ float sums[64];
    int t = threadIdx.x;
    sums[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    if (t == 0) {
        float sum = 0.0f;
        for (int i = 0; i < 64; ++i) sum += sums[i];
        part[blockIdx.x] = sum;  // fault: no_fence
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        float sum = 0.0f;
        for (int b = 0; b < gridDim.x; ++b) sum += part[b];  // fault: no_fence
        *out = sum;
    }
}

extern "C" __global__ void copy_not_awaited(const float* in, float* out)
{
    __shared__ __align__(16) float tile[256];
    int t = threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(tile + 4 * t);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + 4 * t) : "memory");  // fault: copy_not_awaited
    asm volatile("cp.async.commit_group;" ::: "memory");
    __syncthreads();
    out[t] = tile[255 - t];  // fault: copy_not_awaited
    asm volatile("cp.async.wait_all;" ::: "memory");
}

extern "C" __global__ void atomic_of_each_block(int* sum)
{
    atomicAdd_block(sum, 1);  // fault: atomic_of_each_block
}

extern "C" __global__ void atomic_and_load(int* sum, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(sum, 1);  // fault: atomic_and_load
    out[i] = sum[0];    // fault: atomic_and_load
}

extern "C" __global__ void plain_histogram(const int* in, int* bins)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bins[in[i]] += 1;  // fault: plain_histogram
}

extern "C" __global__ void neighbour_block(const int* in, int* out, int* sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];  // fault: neighbour_block
    __syncthreads();
    int next = (i + blockDim.x) % (gridDim.x * blockDim.x);
    sums[i] = out[i] + out[next];  // fault: neighbour_block
}

extern "C" __global__ void half_of_the_block(const float* in, float* out)
{
    __shared__ float tile[128];
    int t = threadIdx.x;
    tile[t] = in[t];  // fault: half_of_the_block
    if (t < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    out[t] = tile[127 - t];  // fault: half_of_the_block
}

extern "C" __global__ void one_buffer(const float* in, float* out, int turns)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < turns; ++k) {
        __syncthreads();
        tile[t] = in[k * 64 + t];  // fault: one_buffer
        sum += tile[63 - t];       // fault: one_buffer
    }
    out[t] = sum;
}

extern "C" __global__ void reduced_without_barrier(const float* in, float* out)
{
    __shared__ float part[128];
    int t = threadIdx.x;
    part[t] = in[t];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2)
        if (t < half) part[t] += part[t + half];  // fault: reduced_without_barrier
    if (t == 0) out[0] = part[0];
}

__device__ __forceinline__ void bulk_store(float* to, const float* from, int bytes)
{
    unsigned s = (unsigned)__cvta_generic_to_shared(from);
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 :: "l"(to), "r"(s), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

extern "C" __global__ void source_overwritten(const float* in, float* out)
{
    __shared__ alignas(128) float tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) bulk_store(out, tile, 256);
    __syncthreads();
    tile[t] = 0.0f;  // fault: source_overwritten
    if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

extern "C" __global__ void no_proxy_fence(const float* in, float* out)
{
    __shared__ alignas(128) float tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
    __syncthreads();
    if (t == 0) {
        unsigned s = (unsigned)__cvta_generic_to_shared(tile);
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" :: "l"(out), "r"(s) : "memory");  // fault: no_proxy_fence
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

extern "C" __global__ void __cluster_dims__(2) arrived_relaxed(const float* in, float* out)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    unsigned rank, own = (unsigned)__cvta_generic_to_shared(&tile[63 - t]), other;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    tile[t] = in[64 * rank + t];  // fault: arrived_relaxed
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    float value;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(own), "r"(rank ^ 1));
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(other) : "memory");  // fault: arrived_relaxed
    out[64 * rank + t] = value;
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}
