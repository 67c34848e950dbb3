// The sum of each block's THREADS elements, in as many steps as THREADS can be halved.
#ifndef THREADS
#define THREADS 128
#endif
#define WARPS (THREADS / 32)
#define ALL 0xffffffffu

// Neighbours first. Thread t keeps part[t], so fewer and fewer lanes of every warp are left.
extern "C" __global__ void interleaved(const float* in, float* out)
{
    __shared__ float part[THREADS];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * THREADS + t];
    __syncthreads();
#pragma unroll 1
    for (int apart = 1; apart < THREADS; apart *= 2) {
        if (t % (2 * apart) == 0)
            part[t] += part[t + apart];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}

// The same sums, added by the first threads: whole warps, whose words lie ever further apart.
extern "C" __global__ void packed(const float* in, float* out)
{
    __shared__ float part[THREADS];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * THREADS + t];
    __syncthreads();
#pragma unroll 1
    for (int apart = 1; apart < THREADS; apart *= 2) {
        int first = 2 * apart * t;
        if (first < THREADS)
            part[first] += part[first + apart];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}

// The far half is added to the near half: the first threads add words that lie side by side.
extern "C" __global__ void sequential(const float* in, float* out)
{
    __shared__ float part[THREADS];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * THREADS + t];
    __syncthreads();
#pragma unroll 1
    for (int apart = THREADS / 2; apart > 0; apart /= 2) {
        if (t < apart)
            part[t] += part[t + apart];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}

// Lanes hand their registers on: shared memory takes one word of each warp.
extern "C" __global__ void shuffled(const float* in, float* out)
{
    __shared__ float part[WARPS];
    int t = threadIdx.x;
    float sum = in[blockIdx.x * THREADS + t];
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2)
        sum += __shfl_down_sync(ALL, sum, apart);
    if (t % 32 == 0)
        part[t / 32] = sum;
    __syncthreads();
    if (t < 32) {
        sum = t < WARPS ? part[t] : 0.0f;
#pragma unroll
        for (int apart = WARPS / 2; apart > 0; apart /= 2)
            sum += __shfl_down_sync(ALL, sum, apart);
        if (t == 0)
            out[blockIdx.x] = sum;
    }
}
