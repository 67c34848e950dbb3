// Producers and consumers, bulk copies, clusters. Inline PTX, as <cuda/barrier> makes it.
typedef unsigned u32;
__device__ u32 at(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__device__ void init(void* b, u32 n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(at(b)), "r"(n) : "memory"); }
__device__ void arrive(void* b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(at(b)) : "memory"); }
__device__ void expect(void* b, u32 n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(at(b)), "r"(n) : "memory"); }
__device__ void wait(void* b, u32 parity)
{
    asm volatile("{.reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@p bra done;\n bra again;\n done: }" :: "r"(at(b)), "r"(parity) : "memory");
}
__device__ void load(void* to, const void* from, u32 size, void* b)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"(at(to)), "l"(from), "r"(size), "r"(at(b)) : "memory");
}

// One warp fetches tiles of 128 numbers, two stages ahead of 128 threads that add them up.
#ifndef EMPTY
#define EMPTY 128
#endif
#ifndef WAIT_FOR_EMPTY
#define WAIT_FOR_EMPTY 1
#endif
extern "C" __global__ void pipeline(const float* in, float* out, int tiles)
{
    __shared__ alignas(128) float tile[2][128];
    __shared__ alignas(128) float sum[128];
    __shared__ alignas(8) unsigned long long full[2], empty[2];
    if (threadIdx.x == 0) {
        for (int s = 0; s < 2; s++) { init(&full[s], 1); init(&empty[s], EMPTY); }
        asm volatile("fence.mbarrier_init.release.cluster;");
    }
    __syncthreads();
    in += blockIdx.x * tiles * 128;
    if (threadIdx.x >= 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 128)
            for (int t = 0; t < tiles; t++) {
                int s = t % 2;
                if (WAIT_FOR_EMPTY) wait(&empty[s], (t / 2 & 1) ^ 1);
                expect(&full[s], 512);
                load(tile[s], in + t * 128, 512, &full[s]);
            }
        return;
    }
    float total = 0;
    for (int t = 0; t < tiles; t++) {
        int s = t % 2;
        wait(&full[s], t / 2 & 1);
        total += tile[s][threadIdx.x];
        arrive(&empty[s]);
    }
    sum[threadIdx.x] = total;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("bar.sync 1, 128;" ::: "memory");
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" :: "l"(out + blockIdx.x * 128), "r"(at(sum)) : "memory");
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 512;" :: "l"(out + gridDim.x * 128), "r"(at(sum)) : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

#ifndef PENDING
#define PENDING 3
#endif
// State of phases: what arrivals give, tests without a loop, parity, drops.
extern "C" __global__ void phases(u32* out)
{
    __shared__ unsigned long long b;
    unsigned long long state, later;
    u32 count, before, after, parity0, parity1;
    init(&b, PENDING);
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1], 2;" : "=l"(state) : "r"(at(&b)));
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(state));
    asm volatile("{.reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(before) : "r"(at(&b)), "l"(state));
    asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(later) : "r"(at(&b)));
    asm volatile("{.reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(after) : "r"(at(&b)), "l"(state));
    asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}" : "=r"(parity0) : "r"(at(&b)));
    asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 1; selp.u32 %0, 1, 0, p;}" : "=r"(parity1) : "r"(at(&b)));
    out[0] = count; out[1] = before; out[2] = after; out[3] = parity0; out[4] = parity1;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(later) : "r"(at(&b)));
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(later));
    out[5] = count;
    asm volatile("mbarrier.inval.shared.b64 [%0];" :: "r"(at(&b)));
    if (out[6]) arrive(&b);
}

// Copies of single threads that an mbarrier waits for.
extern "C" __global__ void copies(const int* in, int* out)
{
    __shared__ int s[64];
    __shared__ unsigned long long b;
    if (threadIdx.x == 0) init(&b, 64);
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at(&s[threadIdx.x])), "l"(in + threadIdx.x));
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(at(&b)));
    wait(&b, 0);
    out[threadIdx.x] = s[63 - threadIdx.x];
}

// Each block of a cluster of four reads the next one's memory, and adds to that of the first.
extern "C" __global__ __cluster_dims__(2, 2, 1) void neighbours(u32* out)
{
    __shared__ u32 mine[32], total;
    u32 rank, size, x, y, next, got, first, generic_rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(x));
    asm("mov.u32 %0, %%clusterid.y;" : "=r"(y));
    u32 block = blockIdx.x + gridDim.x * blockIdx.y;
    mine[threadIdx.x] = block * 100 + threadIdx.x;
    if (threadIdx.x == 0) total = 0;
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(next) : "r"(at(&mine[threadIdx.x])), "r"((rank + 1) % size));
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(got) : "r"(next));
    asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(first) : "r"(at(&total)));
    asm volatile("red.shared::cluster.add.u32 [%0], %1;" :: "r"(first), "r"(got) : "memory");
    u32* pointer;
    asm("mapa.u64 %0, %1, %2;" : "=l"(pointer) : "l"(&mine[0]), "r"((rank + 2) % size));
    asm("getctarank.u64 %0, %1;" : "=r"(generic_rank) : "l"(pointer));
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    u32* o = out + (block * 32 + threadIdx.x) * 4;
    o[0] = got; o[1] = rank * 1000 + x * 100 + y * 10 + generic_rank; o[2] = total; o[3] = pointer[1];
}

// The first block of a cluster fetches for both.
extern "C" __global__ __cluster_dims__(2, 1, 1) void multicast(const int* in, int* out)
{
    __shared__ alignas(128) int s[32];
    __shared__ unsigned long long b;
    u32 rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) { init(&b, 1); expect(&b, 128); }
    asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
    if (rank == 0 && threadIdx.x == 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 128, [%2], %3;"
                     :: "r"(at(s)), "l"(in), "r"(at(&b)), "h"((short)3) : "memory");
    wait(&b, 0);
    out[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x] + rank;
}
