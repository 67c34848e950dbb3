// One warp a block fills shared memory word by word, then reads one element a lane.
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

extern __shared__ Element words[];

__device__ void fill(const Element* in, int count)
{
    #pragma unroll 1
    for (int i = threadIdx.x; i < count; i += 32)
        words[i] = in[i];
    __syncthreads();
}

extern "C" __global__ void strided(const Element* in, Element* out, int stride)
{
    int lane = threadIdx.x;
    fill(in, 31 * stride + 1);
    out[blockIdx.x * 32 + lane] = words[lane * stride];
}

// Groups of `share` lanes read the same element; the next group reads `stride` elements further on.
extern "C" __global__ void broadcast(const Element* in, Element* out, int stride, int share)
{
    int lane = threadIdx.x;
    fill(in, 31 / share * stride + 1);
    out[blockIdx.x * 32 + lane] = words[lane / share * stride];
}

extern "C" __global__ void permuted(const Element* in, Element* out, const int* order)
{
    int lane = threadIdx.x;
    fill(in, 32);
    out[blockIdx.x * 32 + lane] = words[order[lane]];
}

// A tile of 32 rows, each 32 elements and `padding` unused ones long: lane i reads from row i.
extern "C" __global__ void column(const Element* in, Element* out, int padding, int which)
{
    int lane = threadIdx.x, row = 32 + padding;
    fill(in, 32 * row);
    out[blockIdx.x * 32 + lane] = words[lane * row + which];
}

// Block b reads with stride first + b: every stride of a table in one launch.
extern "C" __global__ void strides(const Element* in, Element* out, int first)
{
    int lane = threadIdx.x, stride = first + blockIdx.x;
    fill(in, 31 * stride + 1);
    out[blockIdx.x * 32 + lane] = words[lane * stride];
}
