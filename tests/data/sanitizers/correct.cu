// Kernels that look as if they were at fault and are not. Their launches are in launches.toml.

extern "C" __global__ void early_return(const float* in, float* out, int n)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    if (t >= n) return;
    tile[t] = in[t];
    __syncthreads();
    out[t] = tile[n - 1 - t];
}

extern "C" __global__ void padding_unused(const float* in, float4* points, float* out)
{
    int t = threadIdx.x;
    points[t].x = in[t];
    points[t].y = in[t] + 1.0f;
    points[t].z = in[t] + 2.0f;
    __syncthreads();
    float4 p = points[63 - t];
    out[t] = p.x + p.y + p.z;
}

extern "C" __global__ void last_block(const float* in, float* part, unsigned* done, float* out)
{
    __shared__ bool last;
    __shared__ float sums[64];
    int t = threadIdx.x;
    sums[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    if (t == 0) {
        float sum = 0.0f;
        for (int i = 0; i < 64; ++i) sum += sums[i];
        part[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        __threadfence();
        float sum = 0.0f;
        for (int b = 0; b < gridDim.x; ++b) sum += part[b];
        *out = sum;
    }
}

extern "C" __global__ void warp_syncs(const float* in, float* out)
{
    __shared__ float part[32];
    int lane = threadIdx.x;
    part[lane] = in[lane];
    __syncwarp();
    for (int half = 16; half > 0; half /= 2) {
        float other = lane < half ? part[lane + half] : 0.0f;
        __syncwarp();
        if (lane < half) part[lane] += other;
        __syncwarp();
    }
    if (lane == 0) *out = part[0];
}

extern "C" __global__ void volatile_flag(const float* in, float* box, volatile int* flag, float* out)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        box[t] = in[t] * 2.0f;
        __threadfence();
        __syncthreads();
        if (t == 0) *flag = 1;
    } else {
        if (t == 0)
            while (*flag == 0) {}
        __syncthreads();
        __threadfence();
        out[t] = box[63 - t];
    }
}

extern "C" __global__ void butterfly(const float* in, float* out)
{
    float value = in[threadIdx.x];
    for (int other = 16; other > 0; other /= 2) value += __shfl_xor_sync(0xffffffff, value, other);
    out[threadIdx.x] = value;
}

extern "C" __global__ void copy_pipeline(const float* in, float* out, int turns)
{
    __shared__ __align__(16) float tile[2][256];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int turn = 0; turn <= turns; ++turn) {
        if (turn < turns) {
            unsigned to = (unsigned)__cvta_generic_to_shared(&tile[turn % 2][4 * t]);
            const float* from = in + 256 * turn + 4 * t;
            asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        if (turn > 0) {
            asm volatile("cp.async.wait_group 1;" ::: "memory");
            __syncthreads();
            sum += tile[(turn - 1) % 2][255 - t] + tile[(turn - 1) % 2][t];
            __syncthreads();
        }
    }
    out[t] = sum;
}

extern "C" __global__ void padded_transpose(const float* in, float* out)
{
    __shared__ float tile[16][17];
    int x = threadIdx.x, y = threadIdx.y, bx = blockIdx.x * 16, by = blockIdx.y * 16;
    tile[y][x] = in[(by + y) * 32 + bx + x];
    __syncthreads();
    out[(bx + y) * 32 + by + x] = tile[x][y];
}

extern "C" __global__ void partial_warp(const float* in, float* out)
{
    __shared__ float tile[40];
    int t = threadIdx.x;
    tile[t] = in[t];
    __syncwarp();
    float value = tile[t ^ 1];
    value += __shfl_xor_sync(t < 32 ? 0xffffffffu : 0x000000ffu, value, 1);
    __syncthreads();
    tile[39 - t] = value;
    __syncthreads();
    out[t] = tile[t];
}

extern "C" __global__ void named_barriers(const float* in, float* out, int turns)
{
    __shared__ float tile[128];
    int t = threadIdx.x, half = t / 64, mine = t % 64;
    float value = in[t];
    for (int turn = 0; turn < turns + half; ++turn) {
        tile[t] = value;
        if (half) asm volatile("bar.sync 1, 64;" ::: "memory");
        else asm volatile("bar.sync 2, 64;" ::: "memory");
        value += tile[64 * half + 63 - mine];
        if (half) asm volatile("bar.sync 1, 64;" ::: "memory");
        else asm volatile("bar.sync 2, 64;" ::: "memory");
    }
    out[t] = value;
}

extern "C" __global__ void grid_stride(float* x, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        x[i] = x[i] * 2.0f;
        x[i] += 1.0f;
    }
}

extern "C" __global__ void histogram(const unsigned* in, unsigned* out, int n)
{
    __shared__ unsigned bins[16];
    int t = threadIdx.x;
    if (t < 16) bins[t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 64 + t; i < n; i += gridDim.x * 64) atomicAdd(&bins[in[i] % 16], 1u);
    __syncthreads();
    if (t < 16) atomicAdd(&out[t], bins[t]);
}

extern "C" __global__ void double_buffer(const float* in, float* out, int turns)
{
    __shared__ float tile[2][64];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int turn = 0; turn < turns; ++turn) {
        tile[turn % 2][t] = in[turn * 64 + t];
        __syncthreads();
        sum += tile[turn % 2][63 - t];
    }
    out[t] = sum;
}

extern "C" __global__ void spin_lock(const float* in, int* lock, float* sum)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        *sum += in[blockIdx.x];
        __threadfence();
        atomicExch(lock, 0);
    }
}

extern "C" __global__ void look_back(const int* in, volatile int* state, int* kept, int* out)
{
    __shared__ int before;
    int t = threadIdx.x, b = blockIdx.x;
    if (t == 0) {
        int own = in[b];
        if (b == 0) {
            kept[0] = own;
            __threadfence();
            state[0] = 1;
            before = 0;
        } else {
            while (state[b - 1] == 0) {}
            __threadfence();
            before = kept[b - 1];
            kept[b] = before + own;
            __threadfence();
            state[b] = 1;
        }
    }
    __syncthreads();
    out[b * 32 + t] = before + t;
}

extern "C" __global__ void same_value(const int* in, int* found)
{
    __shared__ int any;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) any = 0;
    __syncthreads();
    if (in[i] > 5) {
        any = 1;
        *found = 1;
    }
    __syncthreads();
    if (any && threadIdx.x == 0) found[1 + blockIdx.x] = any;
}

extern "C" __global__ void producer_consumer(const float* in, float* out, int turns)
{
    __shared__ float box[32];
    int t = threadIdx.x, lane = t % 32;
    for (int turn = 0; turn < turns; ++turn) {
        if (t < 32) {
            if (turn > 0) asm volatile("bar.sync 2, 64;" ::: "memory");
            box[lane] = in[turn * 32 + lane];
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            out[turn * 32 + lane] = box[31 - lane];
            if (turn < turns - 1) asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    }
}

extern "C" __global__ void heap_list(int* out, int n)
{
    int* own = (int*)malloc(n * sizeof(int));
    if (!own) return;
    for (int i = 0; i < n; ++i) own[i] = i * threadIdx.x;
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += own[n - 1 - i];
    free(own);
    out[threadIdx.x] = sum;
}

extern "C" __global__ void bytes(const unsigned char* in, unsigned char* out)
{
    __shared__ unsigned char tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
    __syncthreads();
    out[63 - t] = tile[t ^ 3];
}

extern "C" __global__ void half_warps(const float* in, float* out)
{
    __shared__ float part[32];
    int lane = threadIdx.x, half = lane & 16;
    unsigned mask = half ? 0xffff0000u : 0x0000ffffu;
    part[lane] = in[lane];
    __syncwarp(mask);
    float other = part[half + 15 - lane % 16];
    __syncwarp(mask);
    part[lane] = other;
    __syncwarp(mask);
    out[lane] = part[half + (lane + 1) % 16];
}

extern "C" __global__ void last_warp(const float* in, float* out)
{
    __shared__ float part[128];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 128 + t];
    __syncthreads();
    for (int half = 64; half >= 32; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t < 32) {
        float sum = part[t];
        for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffff, sum, half);
        if (t == 0) out[blockIdx.x] = sum;
    }
}

extern "C" __global__ void atomics_of_a_block(int* sums)
{
    __shared__ int own;
    if (threadIdx.x == 0) own = 0;
    __syncthreads();
    atomicAdd_block(&own, 1);
    atomicAdd_block(&sums[blockIdx.x], 1);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&sums[gridDim.x], own);
}

extern "C" __global__ void two_arrays(const float* in, float* out, int which)
{
    __shared__ float first[64];
    __shared__ float second[64];
    int t = threadIdx.x;
    float* chosen = which ? first : second;
    first[t] = in[t];
    second[t] = -in[t];
    __syncthreads();
    out[t] = chosen[63 - t] + first[t];
}

extern "C" __global__ void one_array_in_parts(const float* in, float* out)
{
    __shared__ float all[128];
    float* second = all + 64;
    int t = threadIdx.x;
    all[t] = in[t];
    second[t] = in[t] * 2.0f;
    __syncthreads();
    out[t] = all[127 - t] + second[t];
}

extern "C" __global__ void structs_of_arrays(const float* in, float* out)
{
    __shared__ struct { float a[32]; float b[32]; } both;
    int t = threadIdx.x;
    both.a[t] = in[t];
    both.b[t] = in[t + 32];
    __syncwarp();
    out[t] = both.a[31 - t] * both.b[31 - t];
}

extern "C" __global__ void frees_once(int* out)
{
    int* first = (int*)malloc(8 * sizeof(int));
    int* second = (int*)malloc(16);
    if (first && second) {
        first[7] = threadIdx.x;
        second[0] = first[7];
        out[threadIdx.x] = second[0];
    }
    free(first);
    free(second);
    free(0);
}

extern "C" __global__ void out_of_memory(int* out, int count)
{
    int got = 0;
    for (int i = 0; i < count; ++i) {
        int* piece = (int*)malloc(1 << 22);
        if (!piece) break;
        piece[0] = i;
        got += piece[0] >= 0;
        free(piece);
    }
    out[threadIdx.x] = got;
}

__device__ __forceinline__ void bulk_out(float* to, const float* from, int bytes)
{
    unsigned s = (unsigned)__cvta_generic_to_shared(from);
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 :: "l"(to), "r"(s), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

extern "C" __global__ void bulk_stores(const float* in, float* out, int turns)
{
    __shared__ alignas(128) float tile[2][64];
    int t = threadIdx.x;
    for (int k = 0; k < turns; ++k) {
        if (t == 0) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
        __syncthreads();
        tile[k % 2][t] = in[64 * k + t];
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (t == 0) bulk_out(out + 64 * k, tile[k % 2], 256);
    }
    if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

extern "C" __global__ void fence_by_who_copies(const float* in, float* out)
{
    __shared__ alignas(128) float tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
    __syncthreads();
    if (t == 0) {
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        bulk_out(out, tile, 256);
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

extern "C" __global__ void __cluster_dims__(2) relaxed_after_a_fence(const float* in, float* out)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    unsigned rank, own = (unsigned)__cvta_generic_to_shared(&tile[63 - t]), other;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    tile[t] = in[64 * rank + t];
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    float value;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(own), "r"(rank ^ 1));
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(other) : "memory");
    out[64 * rank + t] = value;
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}

extern "C" __global__ void counts_in_registers(const float* in, float* out, int count)
{
    __shared__ float tile[128];
    int t = threadIdx.x, half = t / 64;
    tile[t] = in[t];
    asm volatile("bar.sync %0, %1;" :: "r"(1 + half), "r"(count) : "memory");
    out[t] = tile[64 * half + 63 - t % 64];
}

extern "C" __global__ void shuffled_sum(const float* in, float* out)
{
    __shared__ float part[4];
    int t = threadIdx.x;
    float sum = in[t];
    for (int down = 16; down > 0; down /= 2) sum += __shfl_down_sync(0xffffffff, sum, down);
    if (t % 32 == 0) part[t / 32] = sum;
    __syncthreads();
    if (t == 0) out[0] = part[0] + part[1] + part[2] + part[3];
}

extern "C" __global__ void zeroed_bins(const int* in, int* bins)
{
    __shared__ int own[32];
    int t = threadIdx.x;
    if (t < 32) own[t] = 0;
    __syncthreads();
    atomicAdd(&own[in[t] % 32], 1);
    __syncthreads();
    if (t < 32) atomicAdd(&bins[t], own[t]);
}

extern "C" __global__ void halo(const float* in, float* out, int n)
{
    __shared__ float tile[66];
    int t = threadIdx.x;
    tile[t + 1] = in[t];
    if (t == 0) tile[0] = 0.0f;
    if (t == n - 1) tile[n + 1] = 0.0f;
    __syncthreads();
    out[t] = tile[t] + tile[t + 1] + tile[t + 2];
}

extern "C" __global__ void vectors(const float4* in, float4* out)
{
    __shared__ float4 tile[32];
    int t = threadIdx.x;
    tile[t] = in[t];
    __syncwarp();
    float* plain = (float*)tile;
    float4 v = tile[31 - t];
    v.x += plain[4 * (31 - t) + 3];
    out[t] = v;
}

extern "C" __global__ void ballots(const int* in, unsigned* out)
{
    int lane = threadIdx.x;
    unsigned all = __activemask();
    if (lane < 20) {
        unsigned mask = __ballot_sync(0x000fffff, in[lane] > 3);
        all &= mask | 0x000fffff;
    }
    __syncwarp();
    out[lane] = all;
}

extern "C" __global__ void message(const int* in, int* data, int* flag, int* out)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = in[threadIdx.x];
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) atomicExch(flag, 1);
    } else {
        if (threadIdx.x == 0) while (atomicAdd(flag, 0) == 0) { }
        __syncthreads();
        __threadfence();
        out[threadIdx.x] = data[threadIdx.x];
    }
}

#include <cooperative_groups.h>
#include <cuda_pipeline_primitives.h>
#include <cassert>
#include <cstdio>

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

__device__ __forceinline__ void bulk_in(float* to, const float* from, int bytes, unsigned long long* b)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(at(b)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"(at(to)), "l"(from), "r"(bytes), "r"(at(b)) : "memory");
}

extern "C" __global__ void mbarrier_meeting(const float* in, float* out)
{
    __shared__ float tile[64];
    __shared__ unsigned long long met;
    int t = threadIdx.x;
    if (t == 0) mb_init(&met, 64);
    __syncthreads();
    tile[t] = in[t];
    mb_arrive(&met);
    mb_wait(&met, 0);
    out[t] = tile[63 - t];
}

extern "C" __global__ void bulk_ring(const float* in, float* out)
{
    __shared__ alignas(128) float tile[2][64];
    __shared__ unsigned long long full[2], empty[2];
    int t = threadIdx.x;
    if (t == 0)
        for (int s = 0; s < 2; ++s) { mb_init(full + s, 1); mb_init(empty + s, 64); }
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 6; ++k) {
        int s = k % 2;
        if (t == 0) {
            if (k > 1) mb_wait(empty + s, (k / 2 - 1) & 1);
            bulk_in(tile[s], in + 64 * k, 256, full + s);
        }
        mb_wait(full + s, (k / 2) & 1);
        sum += tile[s][63 - t];
        mb_arrive(empty + s);
    }
    out[t] = sum;
}

extern "C" __global__ void tiles(const float* in, float* out)
{
    __shared__ float part[32];
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int t = threadIdx.x;
    part[t] = in[t];
    tile.sync();
    float v = part[t ^ 15] + tile.shfl_xor(in[t], 3);
    out[t] = v;
}

extern "C" __global__ void __cluster_dims__(2) peers(const float* in, float* out)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    auto all = cg::this_cluster();
    tile[t] = in[blockIdx.x * 64 + t];
    all.sync();
    float* other = all.map_shared_rank(tile, all.block_rank() ^ 1);
    out[blockIdx.x * 64 + t] = other[63 - t];
    all.sync();
}

extern "C" __global__ void pipeline_awaited(const float* in, float* out)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[t] = tile[t];
}

extern "C" __global__ void carved_up(const float* in, float* out, int n)
{
    extern __shared__ float arena[];
    float* first = arena;
    float* second = arena + n;
    int* third = (int*)(second + n);
    int t = threadIdx.x;
    first[t] = in[t];
    second[t] = in[t] * 2.0f;
    third[t] = t;
    __syncthreads();
    out[t] = first[n - 1 - t] + second[n - 1 - t] + third[n - 1 - t];
}

extern "C" __global__ void printed(const int* in, int* out)
{
    int t = threadIdx.x;
    if (in[t] == 7) printf("seven is at %d\n", t);
    assert(in[t] >= 0);
    out[t] = in[t];
}

extern "C" __global__ void released_to_all(const int* in, int* data, int* flag, int* out)
{
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            data[0] = in[0];
            asm volatile("st.release.gpu.global.u32 [%0], 1;" :: "l"(flag) : "memory");
        }
    } else if (threadIdx.x == 0) {
        int seen = 0;
        while (!seen) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        out[0] = data[0];
    }
}

extern "C" __global__ void matched(const int* in, int* out)
{
    int key = in[threadIdx.x] % 3;
    unsigned peers = __match_any_sync(0xffffffffu, key);
    int leader = __ffs(peers) - 1;
    if (threadIdx.x == leader) atomicAdd(&out[key], __popc(peers));
    __syncwarp(peers);
}

extern "C" __global__ void shared_lock(const int* in, int* out)
{
    __shared__ int lock, sum;
    int t = threadIdx.x;
    if (t == 0) { lock = 0; sum = 0; }
    __syncthreads();
    if (t % 32 == 0) {
        while (atomicCAS(&lock, 0, 1)) { }
        __threadfence_block();
        sum += in[t];
        __threadfence_block();
        atomicExch(&lock, 0);
    }
    __syncthreads();
    if (t == 0) out[0] = sum;
}

extern "C" __global__ void counted_barrier(const int* in, int* out)
{
    int some = __syncthreads_count(in[threadIdx.x] > 20);
    out[threadIdx.x] = some + __syncthreads_or(in[threadIdx.x] == 3);
}

__device__ __forceinline__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ __forceinline__ void wait0() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

__device__ __forceinline__ void wait_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

__device__ __forceinline__ unsigned rank() { unsigned r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }

__device__ __forceinline__ unsigned peer(const void* p, unsigned r) { unsigned o; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(o) : "r"(at(p)), "r"(r)); return o; }

extern "C" __global__ void fenced_by_another(const float* in, float* out)
{
    __shared__ alignas(128) float tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
    __syncthreads();
    if (t == 32) fence();
    __syncthreads();
    if (t == 0) { bulk_out(out, tile, 256); wait0(); }
}

extern "C" __global__ void copied_through(const float* in, float* out)
{
    __shared__ alignas(128) float tile[64];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) { mb_init(&full, 1); bulk_in(tile, in, 256, &full); mb_wait(&full, 0); bulk_out(out, tile, 256); wait0(); }
}

extern "C" __global__ void copies_of_each_warp(const float* in, float* out)
{
    __shared__ alignas(128) float tile[2][32];
    int t = threadIdx.x, w = t / 32, l = t % 32;
    for (int k = 0; k < 3; ++k) {
        tile[w][l] = in[t] + k;
        fence();
        __syncwarp();
        if (l == 0) { bulk_out(out + 64 * k + 32 * w, tile[w], 128); wait_read(); }
        __syncwarp();
    }
    if (l == 0) wait0();
}

extern "C" __global__ void swapped_arrays(const float* in, float* out)
{
    __shared__ float a[64]; __shared__ float b[64];
    float *cur = a, *nxt = b;
    int t = threadIdx.x;
    cur[t] = in[t];
    __syncthreads();
    for (int i = 1; i < 64; i *= 2) {
        nxt[t] = cur[t] + (t >= i ? cur[t - i] : 0);
        float* s = cur; cur = nxt; nxt = s;
        __syncthreads();
    }
    out[t] = cur[t];
}

extern "C" __global__ void from_one_to_the_other(const float* in, float* out)
{
    __shared__ float a[64]; __shared__ float b[64];
    int t = threadIdx.x;
    a[t] = in[t]; b[t] = in[t] + 1;
    __syncthreads();
    long d = b - a;
    float* p = a + t;
    float s = 0;
    for (int i = 0; i < 2; ++i, p += d) s += *p;
    out[t] = s;
}

extern "C" __global__ void freed_elsewhere(int** box, int* out)
{
    __shared__ int* p;
    if (threadIdx.x == 0) { p = (int*)malloc(256); }
    __syncthreads();
    if (!p) return;
    p[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = p[63 - threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 63) { free(p); int* q = new int; delete q; int* z = 0; delete z; char* e = (char*)malloc(0); free(e); }
}

extern "C" __global__ void __cluster_dims__(2) mbarriers_of_a_cluster(const float* in, float* out)
{
    __shared__ unsigned long long met;
    int t = threadIdx.x;
    unsigned r = rank();
    if (t == 0) { mb_init(&met, 2); asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (t < 2) asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(peer(&met, t)) : "memory");
    mb_wait(&met, 0);
    out[64 * r + t] = in[t];
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}

extern "C" __global__ void blocks_in_turn(int* sum, int* flag, int* out)
{
    if (blockIdx.x == 0) { atomicAdd_block(sum, 1); __threadfence(); __syncthreads(); if (threadIdx.x == 0) atomicExch(flag, 1); }
    else { if (threadIdx.x == 0) while (atomicAdd(flag, 0) == 0) {} __syncthreads(); __threadfence(); atomicAdd_block(sum, 1); }
}
