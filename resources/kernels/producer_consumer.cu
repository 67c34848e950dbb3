// Warps add up tiles that one more warp, the last of the block, has copied into a ring of STAGES
// parts of shared memory. Of each stage an mbarrier `full` counts what has come, another one,
// `empty`, the warps that have read it. FAULT 1 gives a stage back before it is read; FAULT 2 reads
// it before waiting for it. (Without one of the waits a warp may sleep through a phase: it hangs.)
#ifndef STAGES
#define STAGES 3
#endif
#ifndef FAULT
#define FAULT 0
#endif

typedef unsigned long long mbarrier;

extern __shared__ __align__(128) float4 ring[];

__device__ unsigned at(const void* here)
{
    return (unsigned)__cvta_generic_to_shared(here);
}

__device__ void init(mbarrier* one, int arrivals)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(at(one)), "r"(arrivals) : "memory");
}

__device__ void arrive(mbarrier* one)
{
    asm volatile("{.reg .b64 state;\n mbarrier.arrive.shared.b64 state, [%0]; }"
                 :: "r"(at(one)) : "memory");
}

// Until a phase of this parity is over; the phase before the first one is, and its parity is 1.
__device__ void wait(mbarrier* one, int parity)
{
    asm volatile("{.reg .pred over;\n"
                 "again:\n"
#if __CUDA_ARCH__ >= 900
                 " mbarrier.try_wait.parity.shared.b64 over, [%0], %1;\n"
#else
                 " mbarrier.test_wait.parity.shared.b64 over, [%0], %1;\n"
#endif
                 "@!over bra again; }" :: "r"(at(one)), "r"(parity) : "memory");
}

// The warp that copies: one lane in bulk, or, before 9.0, each lane 16 bytes at a time.
__device__ void fill(float4* stage, const float4* tile, int size, mbarrier* full)
{
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x % 32 == 0) {
        asm volatile("{.reg .b64 state;\n"
                     " mbarrier.arrive.expect_tx.shared.b64 state, [%0], %1; }"
                     :: "r"(at(full)), "r"(size * 16) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1], %2, [%3];"
                     :: "r"(at(stage)), "l"(tile), "r"(size * 16), "r"(at(full)) : "memory");
    }
#else
    for (int i = threadIdx.x % 32; i < size; i += 32)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                     :: "r"(at(stage + i)), "l"(tile + i) : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(at(full)) : "memory");
#endif
}

extern "C" __global__ void sum(const float4* in, float4* out, int tiles)
{
    int thread = threadIdx.x, consumers = blockDim.x / 32 - 1, size = 32 * consumers;
    const float4* mine = in + (size_t)blockIdx.x * tiles * size;
    float4 total = {0, 0, 0, 0};
#if __CUDA_ARCH__ >= 800
    __shared__ mbarrier full[STAGES], empty[STAGES];
    if (thread == 0)
        for (int s = 0; s < STAGES; ++s) {
            init(&full[s], __CUDA_ARCH__ >= 900 ? 1 : 32);
            init(&empty[s], consumers);
        }
    __syncthreads();
    if (thread >= size) {
        #pragma unroll 1
        for (int k = 0; k < tiles; ++k) {
            int s = k % STAGES, round = k / STAGES;
            wait(&empty[s], (round + 1) % 2);
            fill(ring + s * size, mine + k * size, size, &full[s]);
        }
        return;
    }
    #pragma unroll 1
    for (int k = 0; k < tiles; ++k) {
        int s = k % STAGES, round = k / STAGES;
#if FAULT != 2
        wait(&full[s], round % 2);
#endif
#if FAULT == 1
        if (thread % 32 == 0)
            arrive(&empty[s]);
#endif
        float4 part = ring[s * size + thread];
#if FAULT == 2
        wait(&full[s], round % 2);
#endif
        total.x += part.x, total.y += part.y, total.z += part.z, total.w += part.w;
        __syncwarp();
#if FAULT != 1
        if (thread % 32 == 0)
            arrive(&empty[s]);
#endif
    }
#else  // no mbarriers: every thread loads what it adds up
    for (int k = 0; k < tiles && thread < size; ++k) {
        float4 part = mine[k * size + thread];
        total.x += part.x, total.y += part.y, total.z += part.z, total.w += part.w;
    }
    if (thread >= size)
        return;
#endif
    out[blockIdx.x * size + thread] = total;
}
