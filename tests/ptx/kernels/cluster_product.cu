// The ladder's last rung in clusters of two: one of the tiles of a stage is the same for both
// blocks, each fetches half of it for both. SHARE 1: N, of blocks one below the other; 2: M, of
// blocks side by side; 0: nothing. Boxes of M and N have 64 rows.
#include "ladder_wgmma.cu"
typedef unsigned u32;
// Nothing but the stage itself is handed over: the scope of a cluster would empty L1 and wait for
// all of memory.
#ifdef PLAIN
#define SCOPE_IN ""
#define SCOPE_OUT ""
#else
#define SCOPE_IN ".acquire.cluster"
#define SCOPE_OUT ".release.cluster"
#endif

#ifndef SHARE
#define SHARE 1
#endif
#ifndef DELAY
#define DELAY 0
#endif

__device__ u32 rank() { u32 r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
__device__ u32 mapped(u32 a, u32 r) { u32 m; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(m) : "r"(a), "r"(r)); return m; }
__device__ void arrive(u32 b) { asm volatile("mbarrier.arrive" SCOPE_OUT ".shared::cluster.b64 _, [%0];" :: "r"(b) : "memory"); }
__device__ void everybody() { asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory"); }
__device__ void until(const unsigned long long& b, int parity)
{
    u32 done;
#ifdef BOUNDED
    long long begin = clock64();
#endif
    do {
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity" SCOPE_IN ".shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                     : "=r"(done) : "r"(at(&b)), "r"(parity) : "memory");
#ifdef BOUNDED
        if (!done && clock64() - begin > 2000000000ll) __trap();
#endif
    } while (!done);
}
__device__ void fetch_for_both(half* to, const Map& from, int x, int y, const unsigned long long& b)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%2, %3}], [%4], %5;" :: "r"(at(to)), "l"(&from), "r"(x), "r"(y),
                 "r"(at(&b)), "h"((short)3) : "memory");
}
// A descriptor has 18 bits of the address: in a cluster those above are the block's rank.
__device__ unsigned long long of_block(const half* from, int apart)
{
#ifdef UNMASKED
    return described(from, apart);
#else
    return (at(from) & 0x3ffff) >> 4 | (unsigned long long)(apart >> 4) << 16 | 64ull << 32 | 1ull << 62;
#endif
}
__device__ void multiply_in(float (&c)[128], const half* Ms, const half* Ns)
{
    HOPPER(asm volatile("wgmma.fence.sync.aligned;" ::: "memory");)
#pragma unroll
    for (int k = 0; k < 64; k += 16)
        wgmma(c, of_block(Ms + k, 16), of_block(Ns + k * 64, PANEL * 2));
    HOPPER(asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");)
}

#if SHARE == 1 && GROUP  // blocks in a row are one below the other
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(288, 1)
#elif SHARE == 1
extern "C" __global__ void __cluster_dims__(1, 2, 1) __launch_bounds__(288, 1)
#elif SHARE == 2
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(288, 1)
#elif SHARE == 3  // as 1, nothing is shared, only the cluster is there
extern "C" __global__ void __cluster_dims__(1, 2, 1) __launch_bounds__(288, 1)
#else
extern "C" __global__ void __launch_bounds__(288, 1)
#endif
both(const __grid_constant__ Map M, const __grid_constant__ Map N, float* P, int n)
{
    extern __shared__ half room[];
    __shared__ unsigned long long full[STAGES], empty[STAGES];
    half* tiles = aligned(room);
    int t = threadIdx.x, me = SHARE ? rank() : 0;
    constexpr bool pair = SHARE == 1 || SHARE == 2;
    int2 first = place();
#ifdef NO_SYNC
    if (DELAY && me == 1) __nanosleep(DELAY);
#endif
    if (t == 0) {
        for (int i = 0; i < STAGES; ++i) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(at(&full[i])) : "memory");
#ifdef OWN_ONLY
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" :: "r"(at(&empty[i])) : "memory");
#else
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(at(&empty[i])), "r"(pair ? 4 : 2) : "memory");
#endif
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
#ifdef NO_SYNC
    __syncthreads();
#else
    everybody();
#endif
    if (t >= 256) {
        if (t == 256)
            for (int k = 0, i = 0, parity = 1; k < n; k += 64) {
                until(empty[i], parity);
#ifdef HALF_EXPECTED
                int bytes = SHARE == 1 ? (128 * 64 + 2 * PANEL) * 2 : (64 * 64 + 4 * PANEL) * 2;
#else
                int bytes = STAGE * 2;
#endif
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                             :: "r"(at(&full[i])), "r"(bytes) : "memory");
                half *Ms = tiles + i * STAGE, *Ns = Ms + 128 * 64;
                if (SHARE == 2)
                    fetch_for_both(Ms + me * 64 * 64, M, k, first.y + me * 64, full[i]);
                else
                    for (int part = 0; part < 2; ++part)
                        fetch(Ms + part * 64 * 64, M, k, first.y + part * 64, full[i]);
                if (SHARE == 1)
                    for (int part = me * 2; part < me * 2 + 2; ++part)
                        fetch_for_both(Ns + part * PANEL, N, first.x + part * 64, k, full[i]);
                else
                    for (int part = 0; part < 4; ++part)
                        fetch(Ns + part * PANEL, N, first.x + part * 64, k, full[i]);
                if (++i == STAGES)
                    i = 0, parity ^= 1;
            }
#ifdef PARTED  // lanes of a warp come to an aligned barrier one after the other
        if (SHARE) asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
        return;
#endif
    } else {
        float sum[128] = {};
        int last = -1;
        for (int k = 0, i = 0, parity = 0; k < n; k += 64) {
            until(full[i], parity);
            if (DELAY && me == 1) __nanosleep(DELAY);
            half* stage = tiles + i * STAGE;
            multiply_in(sum, stage + t / 128 * PANEL, stage + 128 * 64);
            multiplied<1>();
            if (last >= 0 && t % 128 == 0) {
#ifdef OWN_ONLY
                arrive(at(&empty[last]));
#else
                if (pair)
                    arrive(mapped(at(&empty[last]), 0)), arrive(mapped(at(&empty[last]), 1));
                else
                    arrive(at(&empty[last]));
#endif
            }
            last = i;
            if (++i == STAGES)
                i = 0, parity ^= 1;
        }
        multiplied<0>();
        store(P + (first.y + t / 32 * 16) * n + first.x, sum, n);
    }
#ifndef EARLY_EXIT
#ifdef PARTED
    if (SHARE) asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
    if (SHARE) everybody();
#endif
#endif
}
