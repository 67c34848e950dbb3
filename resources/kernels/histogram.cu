// How often each of `count` values occurs. Values go to bins 0 to `last`, one less than a power of
// two; the values of a thread are a whole grid apart.
#ifndef BINS
#define BINS 64
#endif
#ifndef COPIES
#define COPIES 32
#endif

// Every value is one atomic addition in global memory.
extern "C" __global__ void global_atomics(const unsigned* values, unsigned* bins, int last,
                                          int count)
{
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[values[i] & last], 1u);
}

// The block counts in bins of its own, and adds those to the result at the end.
extern "C" __global__ void shared_atomics(const unsigned* values, unsigned* bins, int last,
                                          int count)
{
    __shared__ unsigned own[BINS];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        own[b] = 0;
    __syncthreads();
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        atomicAdd(&own[values[i] & last], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        atomicAdd(&bins[b], own[b]);
}

// The block has COPIES of every bin, side by side: neighbouring lanes count in different ones.
extern "C" __global__ void privatised(const unsigned* values, unsigned* bins, int last, int count)
{
    __shared__ unsigned own[BINS * COPIES];
    for (int b = threadIdx.x; b < BINS * COPIES; b += blockDim.x)
        own[b] = 0;
    __syncthreads();
    int copy = threadIdx.x % COPIES;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        atomicAdd(&own[(values[i] & last) * COPIES + copy], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) {
        unsigned sum = 0;
#pragma unroll 1
        for (int c = 0; c < COPIES; ++c)  // each lane starts at another copy: another bank
            sum += own[b * COPIES + (c + b) % COPIES];
        atomicAdd(&bins[b], sum);
    }
}
