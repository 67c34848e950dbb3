// The warps of a block multiply two small matrices on tensor cores, `times` over. Rows of A lie
// `pitch` bytes apart in shared memory, the columns of B as rows behind them; each warp loads both
// as fragments: ldmatrix hands every lane the part that mma wants it to hold.
// FORM is what follows mma.sync.aligned., NEEDS the first architecture that has it; A has ROWS rows
// of BYTES bytes, and ELEMENT_BITS is the size of its elements.
#ifndef FORM
#define FORM m16n8k16.row.col.f32.f16.f16.f32
#define NEEDS 800
#define ROWS 16
#define BYTES 32
#define ELEMENT_BITS 16
#endif
#define TEXT_OF(form) #form
#define TEXT(form) TEXT_OF(form)
#define MMA "mma.sync.aligned." TEXT(FORM)

#if ELEMENT_BITS == 64
typedef double Part;  // a register of A or B
typedef double Sum;   // one of C and D
typedef double2 Pair;
#define PART "d"
#define SUM "+d"
#elif ELEMENT_BITS < 16 && !defined(FLOAT)
typedef unsigned Part;
typedef int Sum;
typedef int2 Pair;
#define PART "r"
#define SUM "+r"
#else
typedef unsigned Part;
typedef float Sum;
typedef float2 Pair;
#define PART "r"
#define SUM "+f"
#endif

#define DOWN (ROWS / 8)
#if ELEMENT_BITS == 64
#define ALONG (BYTES / 32)
#else
#define ALONG (BYTES / 16)  // registers from the left to the right of a row
#endif
#define A_REGISTERS (DOWN * ALONG)
#define B_REGISTERS ALONG
#define SUMS (2 * DOWN)

extern __shared__ __align__(16) unsigned char tile[];

__device__ void fill(const uint4* rows, int count, unsigned char* to, int pitch)
{
    const int pieces = BYTES / 16;
    for (int i = threadIdx.x; i < count * pieces; i += blockDim.x)
        *(uint4*)(to + i / pieces * pitch + i % pieces * 16) = rows[i];
}

// `count` registers of matrices of 8 rows of 16 bytes: `down` below each other, then to the right.
template <int count, int down>
__device__ void load(Part (&to)[count], const unsigned char* from, int pitch)
{
#if ELEMENT_BITS == 64  // ldmatrix moves no elements of 8 bytes: every lane loads its own
    int lane = threadIdx.x % 32;
    #pragma unroll
    for (int r = 0; r < count; ++r) {
        const unsigned char* at = from + (lane / 4 + r % down * 8) * pitch +
                                  (r / down * 4 + lane % 4) * 8;
        asm volatile("ld.shared.f64 %0, [%1];"
                     : "=d"(to[r]) : "r"((unsigned)__cvta_generic_to_shared(at)));
    }
#else
    int lane = threadIdx.x % 32, matrix = lane / 8 % count;
    const unsigned char* row = from + (lane % 8 + matrix % down * 8) * pitch + matrix / down * 16;
    unsigned at = (unsigned)__cvta_generic_to_shared(row);
    if constexpr (count == 4)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at));
    else if constexpr (count == 2)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                     : "=r"(to[0]), "=r"(to[1]) : "r"(at));
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                     : "=r"(to[0]) : "r"(at));
#endif
}

__device__ void multiply(Sum (&c)[SUMS], const Part (&a)[A_REGISTERS], const Part (&b)[B_REGISTERS])
{
#if __CUDA_ARCH__ >= NEEDS
    #if DOWN == 1
    asm volatile(MMA " {%0, %1}, {%2}, {%3}, {%0, %1};" : SUM(c[0]), SUM(c[1])
                 : PART(a[0]), PART(b[0]));
    #elif ALONG == 1
    asm volatile(MMA " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : SUM(c[0]), SUM(c[1]), SUM(c[2]), SUM(c[3]) : PART(a[0]), PART(a[1]), PART(b[0]));
    #elif ALONG == 2
    asm volatile(MMA " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : SUM(c[0]), SUM(c[1]), SUM(c[2]), SUM(c[3])
                 : PART(a[0]), PART(a[1]), PART(a[2]), PART(a[3]), PART(b[0]), PART(b[1]));
    #else
    asm volatile(MMA " {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15},"
                 " {%0, %1, %2, %3};"
                 : SUM(c[0]), SUM(c[1]), SUM(c[2]), SUM(c[3])
                 : PART(a[0]), PART(a[1]), PART(a[2]), PART(a[3]), PART(a[4]), PART(a[5]),
                   PART(a[6]), PART(a[7]), PART(b[0]), PART(b[1]), PART(b[2]), PART(b[3]));
    #endif
#elif defined(HALVES)  // what 7.5 has instead: the two halves of k, one after the other
    #pragma unroll
    for (int half = 0; half < 2; ++half)
        asm volatile("mma.sync.aligned." TEXT(HALVES) " {%0, %1, %2, %3}, {%4, %5}, {%6}, "
                     "{%0, %1, %2, %3};"
                     : SUM(c[0]), SUM(c[1]), SUM(c[2]), SUM(c[3])
                     : PART(a[2 * half]), PART(a[2 * half + 1]), PART(b[half]));
#endif
}

__device__ void run(const uint4* A, const uint4* B, Pair* D, int pitch, int times)
{
    int lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    unsigned char* columns = tile + ROWS * pitch;
    fill(A, ROWS, tile, pitch);
    fill(B, 8, columns, pitch);
    __syncthreads();
    Sum c[SUMS] = {};
    #pragma unroll 1
    for (int k = 0; k < times; ++k) {
        Part a[A_REGISTERS], b[B_REGISTERS];
        load<A_REGISTERS, DOWN>(a, tile, pitch);
        load<B_REGISTERS, 1>(b, columns, pitch);
        multiply(c, a, b);
    }
    #pragma unroll
    for (int r = 0; r < DOWN; ++r) {
        Pair two = {c[2 * r], c[2 * r + 1]};
        D[(warp * ROWS + lane / 4 + 8 * r) * 4 + lane % 4] = two;
    }
}

extern "C" __global__ void product(const uint4* A, const uint4* B, Pair* D, int pitch, int times)
{
    run(A, B, D, pitch, times);
}

// Block b has rows 16 * (first + b) bytes apart: every pitch of a table in one launch.
extern "C" __global__ void pitches(const uint4* A, const uint4* B, Pair* D, int first)
{
    run(A, B, D, 16 * (first + blockIdx.x), 1);
}
