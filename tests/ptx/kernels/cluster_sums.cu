// Sums of tiles that the two blocks of a cluster fetch for each other: each fetches half of every
// tile and has it written into both blocks. Macros make one fault each.
typedef unsigned u32;
typedef unsigned long long u64;
#ifndef DELAY
#define DELAY 0  // rank 1 waits so many nanoseconds before it reads
#endif
constexpr int STAGES = 2, TILE = 256, HALF = TILE / 2;

__device__ u32 at(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__device__ u32 rank() { u32 r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
__device__ u32 mapped(u32 a, u32 r) { u32 m; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(m) : "r"(a), "r"(r)); return m; }
__device__ void init(u32 b, u32 n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(b), "r"(n) : "memory"); }
__device__ void arrive(u32 b) { asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(b) : "memory"); }
__device__ void expect(u32 b, u32 n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(b), "r"(n) : "memory"); }
__device__ void late(u32 ns) { if (ns) __nanosleep(ns); }
__device__ void wait(u32 b, u32 parity)
{
    u32 done;
#ifdef BOUNDED
    long long begin = clock64();
#endif
    do {
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                     : "=r"(done) : "r"(b), "r"(parity) : "memory");
#ifdef BOUNDED
        if (!done && clock64() - begin > 2000000000ll) __trap();
#endif
    } while (!done);
}
__device__ void everybody()
{
    asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
}
__device__ void multicast(u32 to, const void* from, u32 size, u32 b, u32 mask)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;"
                 :: "r"(to), "l"(from), "r"(size), "r"(b), "h"((short)mask) : "memory");
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(160)
sums(const float* in, float* out, int tiles)
{
    __shared__ alignas(128) float tile[STAGES][TILE];
    __shared__ alignas(8) u64 full[STAGES], empty[STAGES];
    u32 me = rank(), t = threadIdx.x;
    in += blockIdx.x / 2 * tiles * TILE;
#ifdef NO_SYNC
    if (me == 1) late(DELAY);
#endif
    if (t == 0) {
        for (int i = 0; i < STAGES; ++i) {
            init(at(&full[i]), 1);
#ifdef OWN_ONLY
            init(at(&empty[i]), 4);
#else
            init(at(&empty[i]), 8);
#endif
        }
#ifndef NO_FENCE
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
    }
#ifdef NO_SYNC
    __syncthreads();
#elif defined(NO_FENCE)
    __syncthreads();
    asm volatile("barrier.cluster.arrive.relaxed; barrier.cluster.wait;" ::: "memory");
#else
    everybody();
#endif
    if (t >= 128) {
        if (t == 128)
            for (int k = 0, i = 0, parity = 1; k < tiles; ++k) {
#ifndef NO_EMPTY
                wait(at(&empty[i]), parity);
#endif
#ifdef HALF_EXPECTED
                expect(at(&full[i]), HALF * 4);
#elif !defined(LATE_EXPECT)
                expect(at(&full[i]), TILE * 4);
#endif
#ifdef OWN_MASK
                u32 mask = 1u << me;
#else
                u32 mask = 3;
#endif
                multicast(at(&tile[i][me * HALF]), in + k * TILE + me * HALF, HALF * 4, at(&full[i]), mask);
#ifdef LATE_EXPECT
                late(5000);
                expect(at(&full[i]), TILE * 4);
#endif
                if (++i == STAGES) i = 0, parity ^= 1;
            }
    } else {
        float sum[2] = {};
        for (int k = 0, i = 0, parity = 0; k < tiles; ++k) {
            wait(at(&full[i]), parity);
#ifdef EARLY
            __syncwarp();
            if (t % 32 == 0) arrive(mapped(at(&empty[i]), 0)), arrive(mapped(at(&empty[i]), 1));
#endif
            if (me == 1) late(DELAY);
            const volatile float* from = tile[i];
            sum[0] += from[t] * (k + 1), sum[1] += from[t + HALF] * (k + 1);
            __syncwarp();
            if (t % 32 == 0) {
#ifdef EARLY
#elif defined(OWN_ONLY)
                arrive(at(&empty[i]));
#elif defined(NO_MAPA)
                arrive(at(&empty[i])), arrive(at(&empty[i]));
#else
                arrive(mapped(at(&empty[i]), 0)), arrive(mapped(at(&empty[i]), 1));
#endif
            }
            if (++i == STAGES) i = 0, parity ^= 1;
        }
        out[blockIdx.x * TILE + t] = sum[0] + me, out[blockIdx.x * TILE + t + HALF] = sum[1] + me;
    }
#ifdef EARLY_EXIT
    if (me == 1) late(DELAY);
#else
    everybody();
#endif
}

// A block that has ended: its peer copies into it, or arrives in it.
extern "C" __global__ void __cluster_dims__(2, 1, 1) gone(const float* in, float* out, int)
{
    __shared__ alignas(128) float tile[32];
    __shared__ alignas(8) u64 full;
    if (threadIdx.x == 0) {
        init(at(&full), 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    everybody();
    if (rank() == 1) return;
    late(20000);
    if (threadIdx.x == 0) {
#ifdef ARRIVES
        arrive(mapped(at(&full), 1));
        expect(at(&full), 128);
        multicast(at(tile), in, 128, at(&full), 1);
#else
        expect(at(&full), 128);
        multicast(at(tile), in, 128, at(&full), 3);
#endif
    }
    wait(at(&full), 0);
    out[blockIdx.x / 2 * 32 + threadIdx.x] = tile[threadIdx.x];
}
