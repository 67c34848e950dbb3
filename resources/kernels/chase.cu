// Every element of `next` says how far away the next one is: nobody knows where to look before the
// element has come. Each thread follows CHAINS such chains, which do not wait for each other.
#ifndef CHAINS
#define CHAINS 1
#endif

extern "C" __global__ void chase(const int* next, int* out, int hops)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    int at[CHAINS];
#pragma unroll
    for (int c = 0; c < CHAINS; ++c)
        at[c] = i + c * threads;
#pragma unroll 1
    for (int hop = 0; hop < hops; ++hop) {
#pragma unroll
        for (int c = 0; c < CHAINS; ++c)
            at[c] += next[at[c]];
    }
    int sum = 0;
#pragma unroll
    for (int c = 0; c < CHAINS; ++c)
        sum += at[c];
    out[i] = sum;
}
