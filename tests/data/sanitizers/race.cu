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

#include <cooperative_groups.h>
#include <cuda_pipeline_primitives.h>

namespace cg = cooperative_groups;

__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void mb_init(unsigned long long* b, int n)
{ asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(at(b)), "r"(n) : "memory"); }

__device__ __forceinline__ void mb_wait(unsigned long long* b, int parity)
{
    int done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(at(b)), "r"(parity) : "memory");
}

__device__ __forceinline__ void mb_arrive(unsigned long long* b)
{ asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(at(b)) : "memory"); }

extern "C" __global__ void fence_of_the_block(const float* in, float* part, unsigned* done, float* out)
{
    __shared__ bool last;
    int t = threadIdx.x;
    if (t == 0) {
        part[blockIdx.x] = in[blockIdx.x * 64];  // fault: fence_of_the_block
        __threadfence_block();
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        float sum = 0.0f;
        for (int b = 0; b < gridDim.x; ++b) sum += part[b];  // fault: fence_of_the_block
        *out = sum;
    }
}

extern "C" __global__ void tile_of_sixteen(const float* in, float* out)
{
    __shared__ float part[32];
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int t = threadIdx.x;
    part[t] = in[t];  // fault: tile_of_sixteen
    tile.sync();
    out[t] = part[31 - t];  // fault: tile_of_sixteen
}

extern "C" __global__ void pipeline_not_awaited(const float* in, float* out)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 4);  // fault: pipeline_not_awaited
    __pipeline_commit();
    out[t] = tile[t];  // fault: pipeline_not_awaited
    __pipeline_wait_prior(0);
}

extern "C" __global__ void released_to_the_block(const int* in, int* data, int* flag, int* out)
{
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            data[0] = in[0];  // fault: released_to_the_block
            asm volatile("st.release.cta.global.u32 [%0], 1;" :: "l"(flag) : "memory");  // fault: released_to_the_block
        }
    } else if (threadIdx.x == 0) {
        int seen = 0;
        while (!seen) asm volatile("ld.acquire.cta.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");  // fault: released_to_the_block
        out[0] = data[0];  // fault: released_to_the_block
    }
}

extern "C" __global__ void given_back_early(const float* in, float* out)
{
    __shared__ alignas(128) float tile[64];
    __shared__ unsigned long long full, free_;
    int t = threadIdx.x;
    if (t == 0) { mb_init(&full, 1); mb_init(&free_, 64); }
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 4; ++k) {
        if (t == 0) {
            if (k > 0) mb_wait(&free_, (k - 1) & 1);
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" :: "r"(at(&full)) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" :: "r"(at(tile)), "l"(in + 64 * k), "r"(at(&full)) : "memory");  // fault: given_back_early
        }
        mb_wait(&full, k & 1);
        mb_arrive(&free_);
        sum += tile[63 - t];  // fault: given_back_early
    }
    out[t] = sum;
}

extern "C" __global__ void bytes_not_awaited(const float* in, float* out)
{
    __shared__ alignas(128) float tile[64];
    __shared__ unsigned long long full;
    int t = threadIdx.x;
    if (t == 0) {
        mb_init(&full, 1);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" :: "r"(at(&full)) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" :: "r"(at(tile)), "l"(in), "r"(at(&full)) : "memory");  // fault: bytes_not_awaited
    }
    __syncthreads();
    out[t] = tile[63 - t];  // fault: bytes_not_awaited
    mb_wait(&full, 0);
}

extern "C" __global__ void mbarrier_not_told(const float* in, float* out)
{
    __shared__ float tile[64];
    __shared__ unsigned long long met;
    int t = threadIdx.x;
    if (t == 0) mb_init(&met, 64);
    __syncthreads();
    tile[t] = in[t];  // fault: mbarrier_not_told
    mb_arrive(&met);
    out[t] = tile[63 - t];  // fault: mbarrier_not_told
    mb_wait(&met, 0);
}

__device__ __forceinline__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ __forceinline__ void wait0() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

__device__ __forceinline__ void wait_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

__device__ __forceinline__ unsigned rank() { unsigned r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }

__device__ __forceinline__ unsigned peer(const void* p, unsigned r) { unsigned o; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(o) : "r"(at(p)), "r"(r)); return o; }

extern "C" __global__ void fence_of_global(const float* in, float* out)
{
    __shared__ alignas(128) float tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
    asm volatile("fence.proxy.async.global;" ::: "memory");
    __syncthreads();
    if (t == 0) { 
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" :: "l"(out), "r"(at(tile)) : "memory");  // fault: fence_of_global
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        wait0();
    }
}

extern "C" __global__ void half_fenced(const float* in, float* out)
{
    __shared__ alignas(128) float tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
    if (t < 32) fence();
    __syncthreads();
    if (t == 0) { 
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" :: "l"(out), "r"(at(tile)) : "memory");  // fault: half_fenced
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        wait0();
    }
}

extern "C" __global__ void waited_elsewhere(const float* in, float* out)
{
    __shared__ alignas(128) float tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
    fence();
    __syncthreads();
    if (t == 0) bulk_store(out, tile, 256);
    if (t == 32) wait_read();
    __syncthreads();
    tile[t] = 0;  // fault: waited_elsewhere
    if (t == 0) wait0();
}

extern "C" __global__ void lock_of_a_block(int* lock, int* out)
{
    if (threadIdx.x == 0) {
        while (atomicCAS_block(lock, 0, 1)) {}  // fault: lock_of_a_block
        __threadfence();
        *out += 1;  // fault: lock_of_a_block
        __threadfence();
        atomicExch_block(lock, 0);  // fault: lock_of_a_block
    }
}

extern "C" __global__ void __cluster_dims__(2) atomic_of_a_block_in_a_cluster(int* out)
{
    __shared__ int n;
    if (threadIdx.x == 0) n = 0;
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    asm volatile("red.relaxed.cta.shared::cluster.add.u32 [%0], 1;" :: "r"(peer(&n, 0)) : "memory");  // fault: atomic_of_a_block_in_a_cluster
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    if (threadIdx.x == 0) out[rank()] = n;
}
