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
