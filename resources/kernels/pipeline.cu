// A block adds up tiles that come through a ring of STAGES parts of shared memory: cp.async copies
// those to come while the warps work on the one that is there. FAULT 1 fills a stage again before
// all warps have read it; FAULT 2 reads it while its copy may still be under way.
#ifndef STAGES
#define STAGES 3
#endif
#ifndef FAULT
#define FAULT 0
#endif

extern __shared__ __align__(16) float4 ring[];

__device__ void copy(float4* to, const float4* from)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
#else
    *to = *from;  // through a register: the thread waits for it
#endif
}

__device__ void commit()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// All groups but the last `left` have arrived.
template <int left> __device__ void wait()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" :: "n"(left) : "memory");
#endif
}

extern "C" __global__ void sum(const float4* in, float4* out, int tiles)
{
    int thread = threadIdx.x, size = blockDim.x;
    const float4* mine = in + (size_t)blockIdx.x * tiles * size + thread;
    float4 total = {0, 0, 0, 0};
    #pragma unroll
    for (int k = 0; k < STAGES - 1; ++k) {
        if (k < tiles)
            copy(ring + k * size + thread, mine + k * size);
        commit();
    }
    #pragma unroll 1
    for (int k = 0; k < tiles; ++k) {
        int next = k + STAGES - 1;
#if STAGES == 1
        __syncthreads();
        copy(ring + thread, mine + k * size);
        commit();
        wait<0>();
        __syncthreads();
#elif FAULT == 1
        if (next < tiles)
            copy(ring + next % STAGES * size + thread, mine + next * size);
        commit();
        wait<STAGES - 1>();
        __syncthreads();
#else
        wait<FAULT == 2 ? STAGES - 1 : STAGES - 2>();
        __syncthreads();
        if (next < tiles)
            copy(ring + next % STAGES * size + thread, mine + next * size);
        commit();
#endif
        float4 part = ring[k % STAGES * size + (thread + 32) % size];  // another warp copied it
        total.x += part.x, total.y += part.y, total.z += part.z, total.w += part.w;
    }
    out[blockIdx.x * size + thread] = total;
}
