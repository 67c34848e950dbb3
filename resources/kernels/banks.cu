// The threads of a block fill shared memory word by word; then every lane adds up `reads` elements,
// one a load. From one load to the next lanes change places, so that each asks for the same words.
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
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        words[i] = in[i];
    __syncthreads();
}

__device__ void add(Element& sum, Element value)
{
#if BYTES == 8
    sum.x += value.x, sum.y += value.y;
#elif BYTES == 16
    sum.x += value.x, sum.y += value.y, sum.z += value.z, sum.w += value.w;
#else
    sum += value;
#endif
}

__device__ void store(Element* out, Element sum)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void strided(const Element* in, Element* out, int stride, int reads)
{
    int lane = threadIdx.x % 32;
    Element sum = {};
    fill(in, 31 * stride + 1);
    #pragma unroll 4
    for (int k = 0; k < reads; ++k)
        add(sum, words[(lane + k) % 32 * stride]);
    store(out, sum);
}

// Groups of `share` lanes read the same element; the next group reads `stride` elements further on.
extern "C" __global__ void broadcast(const Element* in, Element* out, int stride, int share,
                                     int reads)
{
    int lane = threadIdx.x % 32, last = 32 / share - 1;
    Element sum = {};
    fill(in, last * stride + 1);
    #pragma unroll 4
    for (int k = 0; k < reads; ++k)
        add(sum, words[(lane / share + k & last) * stride]);
    store(out, sum);
}

// Within each half warp, lanes read its 16 elements in any order.
extern "C" __global__ void permuted(const Element* in, Element* out, const int* order, int reads)
{
    int lane = threadIdx.x % 32, first = lane & 16, mine = order[lane % 16];
    Element sum = {};
    fill(in, 32);
    #pragma unroll 4
    for (int k = 0; k < reads; ++k)
        add(sum, words[first + (mine + k) % 16]);
    store(out, sum);
}

// A tile of 32 rows, each 32 elements and `padding` unused ones long: lane i reads from row i.
extern "C" __global__ void column(const Element* in, Element* out, int padding, int which,
                                  int reads)
{
    int lane = threadIdx.x % 32, row = 32 + padding;
    Element sum = {};
    fill(in, 32 * row);
    #pragma unroll 4
    for (int k = 0; k < reads; ++k)
        add(sum, words[lane * row + (which + k) % 32]);
    store(out, sum);
}

// Block b reads with stride first + b: every stride of a table in one launch.
extern "C" __global__ void strides(const Element* in, Element* out, int first)
{
    int lane = threadIdx.x, stride = first + blockIdx.x;
    fill(in, 31 * stride + 1);
    out[blockIdx.x * 32 + lane] = words[lane * stride];
}
