// A tile in shared memory whose element (row, column) lies where a layout says, and then a swizzle:
// it is filled row by row, and read by 8 rows of 16 bytes at a time (ldmatrix) or down a column.
// BYTES is the size of an element: 1, 2 or 4.
#ifndef BYTES
#define BYTES 2
#endif

#if BYTES == 1
typedef unsigned char Element;
#elif BYTES == 2
typedef unsigned short Element;
#elif BYTES == 4
typedef unsigned Element;
#else
#error "BYTES must be 1, 2 or 4"
#endif

#define PIECE (16 / BYTES)  // elements of the 16 bytes that are moved at once

// Shape and stride of three modes along rows, then of three along columns, in elements.
struct Layout { int mode[12]; };
// The bits from `base` on are exchanged by XOR with those `shift` places further up.
struct Swizzle { int bits, base, shift; };

extern __shared__ __align__(1024) Element tile[];

__device__ int along(const int* mode, int at)
{
    int sum = 0;
    #pragma unroll
    for (int k = 0; k < 3; ++k) {
        sum += at % mode[2 * k] * mode[2 * k + 1];
        at /= mode[2 * k];
    }
    return sum;
}

__device__ Element* place(const Layout& layout, Swizzle swizzle, int row, int column)
{
    int byte = (along(layout.mode, row) + along(layout.mode + 6, column)) * BYTES;
    int mask = ((1 << swizzle.bits) - 1) << (swizzle.base + swizzle.shift);
    return (Element*)((unsigned char*)tile + (byte ^ ((byte & mask) >> swizzle.shift)));
}

// Block b uses swizzle b of `count`, of offsets in bytes.
extern "C" __global__ void matrices(const uint4* in, uint4* out, Layout layout,
                                    const Swizzle* swizzles, int count, int rows, int columns,
                                    int first, int reads)
{
    Swizzle swizzle = swizzles[blockIdx.x % count];
    int lane = threadIdx.x % 32, pieces = columns / PIECE, down = rows < 32 ? rows / 8 : 4;
    for (int i = threadIdx.x; i < rows * pieces; i += blockDim.x)
        *(uint4*)place(layout, swizzle, i / pieces, i % pieces * PIECE) = in[i];
    __syncthreads();
    int row = lane % 8 + lane / 8 % down * 8, piece = (first + lane / 8 / down) % pieces;
    uint4 sum = {0, 0, 0, 0};
    #pragma unroll 1
    for (int k = 0; k < reads; ++k) {
        Element* at = place(layout, swizzle, row, (piece + k) % pieces * PIECE);
        uint4 part;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(part.x), "=r"(part.y), "=r"(part.z), "=r"(part.w)
                     : "r"((unsigned)__cvta_generic_to_shared(at)));
        sum.x += part.x, sum.y += part.y, sum.z += part.z, sum.w += part.w;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void column(const Element* in, unsigned* out, Layout layout,
                                  const Swizzle* swizzles, int count, int rows, int columns,
                                  int first, int reads)
{
    Swizzle swizzle = swizzles[blockIdx.x % count];
    int lane = threadIdx.x % 32;
    for (int i = threadIdx.x; i < rows * columns; i += blockDim.x)
        *place(layout, swizzle, i / columns, i % columns) = in[i];
    __syncthreads();
    unsigned sum = 0;
    #pragma unroll 1
    for (int k = 0; k < reads; ++k)
        sum += *place(layout, swizzle, lane % rows, (first + k) % columns);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
