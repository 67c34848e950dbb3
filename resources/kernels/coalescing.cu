// One element in, one element out for each thread; only the address it reads from varies.
// BYTES is the size of an element: 1, 2, 4, 8 or 16.
#ifndef BYTES
#define BYTES 4
#endif

#if BYTES == 1
typedef unsigned char Element;
#elif BYTES == 2
typedef unsigned short Element;
#elif BYTES == 4
typedef float Element;
#elif BYTES == 8
typedef float2 Element;
#elif BYTES == 16
typedef float4 Element;
#else
#error "BYTES must be 1, 2, 4, 8 or 16"
#endif

extern "C" __global__ void strided(const Element* in, Element* out, int stride, int offset)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i * stride + offset];
}

extern "C" __global__ void permuted(const Element* in, Element* out, const int* index)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[index[i]];
}

// The patterns that coalescing has been explained with since the first CUDA cards.
extern "C" __global__ void in_order(const Element* in, Element* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}

extern "C" __global__ void with_gap(const Element* in, Element* out, int gap)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[threadIdx.x % 32 < 6 ? i : i + gap];  // from lane 6 on, every lane reads further on
}

extern "C" __global__ void swapped_pair(const Element* in, Element* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    int other = lane == 5 ? i + 1 : lane == 6 ? i - 1 : i;  // lanes 5 and 6 change places
    out[i] = in[other];
}

extern "C" __global__ void misaligned(const Element* in, Element* out, int start)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i + start];
}

extern "C" __global__ void some_lanes(const Element* in, Element* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % 8 != 3 && i % 8 != 4)  // two lanes in eight take no part
        out[i] = in[i];
}
