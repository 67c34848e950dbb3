// P = M N on tensor cores: M and N of halves, sums and P of floats, all n x n and stored row by row;
// n is a multiple of 256. A block has 128 x 256 cells, a warp 64 x 64. Each kernel is one idea
// beyond the one above it. The macros TK and STAGES tune the last two.
#ifndef TK
#define TK 32  // 32 or 64: what is multiplied between two barriers
#endif
#ifndef STAGES
#define STAGES 4
#endif

typedef unsigned short half;
typedef const half* __restrict__ In;

__device__ const uint4& eight(const half& first) { return reinterpret_cast<const uint4&>(first); }
__device__ uint4& eight(half& first) { return reinterpret_cast<uint4&>(first); }
__device__ unsigned two(const half& first) { return reinterpret_cast<const unsigned&>(first); }

// c += a b: 16 x 16 by 16 x 8 elements, in the registers of a warp.
__device__ void mma(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

// Four matrices of 8 x 8 halves; lane i names row i % 8 of matrix i / 8.
__device__ void load(unsigned& a, unsigned& b, unsigned& c, unsigned& d, const half& row)
{
#if __CUDA_ARCH__ >= 800
    unsigned at = (unsigned)__cvta_generic_to_shared(&row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at) : "memory");
#endif
}

// The same, each matrix turned.
__device__ void load_turned(unsigned& a, unsigned& b, unsigned& c, unsigned& d, const half& row)
{
#if __CUDA_ARCH__ >= 800
    unsigned at = (unsigned)__cvta_generic_to_shared(&row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at) : "memory");
#endif
}

// 16 bytes from global to shared memory, which nobody waits for yet.
__device__ void copy(half& to, const half& from)
{
#if __CUDA_ARCH__ >= 800
    unsigned at = (unsigned)__cvta_generic_to_shared(&to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at), "l"(&from) : "memory");
#endif
}

__device__ void commit()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// All groups of copies but the last LEFT have arrived.
template <int LEFT> __device__ void wait()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" :: "n"(LEFT) : "memory");
#endif
}

// The sums of a warp, to its cells, of which P is the first.
__device__ void store(float* P, const float (&sum)[4][8][4], int n)
{
    P += threadIdx.x % 32 / 4 * n + threadIdx.x % 4 * 2;
#pragma unroll
    for (int i = 0; i < 64; ++i) {
        const float* c = &sum[i / 16][i / 2 % 8][i % 2 * 2];
        *(float2*)&P[(i / 16 * 16 + i % 2 * 8) * n + i / 2 % 8 * 8] = make_float2(c[0], c[1]);
    }
}

// 12: a warp multiplies on tensor cores; each lane loads the parts of fragments that it has to hold.
extern "C" __global__ void __launch_bounds__(256, 1) tensor(In M, In N, float* P, int n)
{
    __shared__ __align__(16) half Ms[128][32], Ns[32][256];
    int t = threadIdx.x, lane = t % 32, x = t / 32 % 4 * 64, y = t / 128 * 64;
    M += blockIdx.y * 128 * n, N += blockIdx.x * 256;
    float sum[4][8][4] = {};
    unsigned a[4][4], b[8][2];
    for (int first = 0; first < n; first += 32) {
#pragma unroll
        for (int i = t; i < 512; i += 256)
            eight(Ms[i / 4][i % 4 * 8]) = eight(M[i / 4 * n + first + i % 4 * 8]);
#pragma unroll
        for (int i = t; i < 1024; i += 256)
            eight(Ns[i / 32][i % 32 * 8]) = eight(N[(first + i / 32) * n + i % 32 * 8]);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 32; k += 16) {
#pragma unroll
            for (int i = 0; i < 16; ++i)
                a[i / 4][i % 4] = two(Ms[y + i / 4 * 16 + i % 2 * 8 + lane / 4]
                                        [k + i / 2 % 2 * 8 + lane % 4 * 2]);
#pragma unroll
            for (int i = 0; i < 16; ++i) {
                int row = k + i % 2 * 8 + lane % 4 * 2, column = x + i / 2 * 8 + lane / 4;
                b[i / 2][i % 2] = Ns[row][column] | Ns[row + 1][column] << 16;
            }
#pragma unroll
            for (int i = 0; i < 32; ++i)
                mma(sum[i / 8][i % 8], a[i / 8], b[i % 8]);
        }
        __syncthreads();
    }
    store(P + (blockIdx.y * 128 + y) * n + blockIdx.x * 256 + x, sum, n);
}

// 13: ldmatrix brings four matrices of 8 x 8 at a time to the lanes that have to hold them.
extern "C" __global__ void __launch_bounds__(256, 1) matrices(In M, In N, float* P, int n)
{
    __shared__ __align__(16) half Ms[128][32], Ns[32][256];
    int t = threadIdx.x, lane = t % 32, x = t / 32 % 4 * 64, y = t / 128 * 64;
    M += blockIdx.y * 128 * n, N += blockIdx.x * 256;
    float sum[4][8][4] = {};
    unsigned a[4][4], b[8][2];
    for (int first = 0; first < n; first += 32) {
#pragma unroll
        for (int i = t; i < 512; i += 256)
            eight(Ms[i / 4][i % 4 * 8]) = eight(M[i / 4 * n + first + i % 4 * 8]);
#pragma unroll
        for (int i = t; i < 1024; i += 256)
            eight(Ns[i / 32][i % 32 * 8]) = eight(N[(first + i / 32) * n + i % 32 * 8]);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 32; k += 16) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                int row = lane % 16, part = lane / 16 * 8;
                load(a[i][0], a[i][1], a[i][2], a[i][3], Ms[y + i * 16 + row][k + part]);
                load_turned(b[i * 2][0], b[i * 2][1], b[i * 2 + 1][0], b[i * 2 + 1][1],
                            Ns[k + row][x + i * 16 + part]);
            }
#pragma unroll
            for (int i = 0; i < 32; ++i)
                mma(sum[i / 8][i % 8], a[i / 8], b[i % 8]);
        }
        __syncthreads();
    }
    store(P + (blockIdx.y * 128 + y) * n + blockIdx.x * 256 + x, sum, n);
}

// 14: pieces of 16 bytes change places within a row, by XOR, so that a column has all banks.
extern "C" __global__ void __launch_bounds__(256, 1) swizzled(In M, In N, float* P, int n)
{
    __shared__ __align__(128) half Ms[128][32], Ns[32][256];
    int t = threadIdx.x, lane = t % 32, x = t / 32 % 4 * 64, y = t / 128 * 64;
    M += blockIdx.y * 128 * n, N += blockIdx.x * 256;
    float sum[4][8][4] = {};
    unsigned a[4][4], b[8][2];
    for (int first = 0; first < n; first += 32) {
#pragma unroll
        for (int i = t; i < 512; i += 256)
            eight(Ms[i / 4][(i ^ i / 8) % 4 * 8]) = eight(M[i / 4 * n + first + i % 4 * 8]);
#pragma unroll
        for (int i = t; i < 1024; i += 256)
            eight(Ns[i / 32][(i ^ i / 32 % 8) % 32 * 8]) = eight(N[(first + i / 32) * n + i % 32 * 8]);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 32; k += 16) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                int row = lane % 16, part = lane / 16 * 8;
                load(a[i][0], a[i][1], a[i][2], a[i][3],
                     Ms[y + i * 16 + row][(k + part) ^ row / 2 % 4 * 8]);
                load_turned(b[i * 2][0], b[i * 2][1], b[i * 2 + 1][0], b[i * 2 + 1][1],
                            Ns[k + row][(x + i * 16 + part) ^ row % 8 * 8]);
            }
#pragma unroll
            for (int i = 0; i < 32; ++i)
                mma(sum[i / 8][i % 8], a[i / 8], b[i % 8]);
        }
        __syncthreads();
    }
    store(P + (blockIdx.y * 128 + y) * n + blockIdx.x * 256 + x, sum, n);
}

// 15: a ring of STAGES tiles, copied by cp.async while others are multiplied.
extern "C" __global__ void __launch_bounds__(256, 1) pipelined(In M, In N, float* P, int n)
{
    constexpr int PARTS = TK / 8, STAGE = 128 * TK + TK * 256;
    extern __shared__ __align__(128) half tiles[];
    int t = threadIdx.x, lane = t % 32, x = t / 32 % 4 * 64, y = t / 128 * 64;
    int row = lane % 16, part = lane / 16 * 8, turn = row * PARTS / 8 % PARTS * 8;
    M += (blockIdx.y * 128 + t / PARTS) * n + t % PARTS * 8;
    N += t / 32 * n + blockIdx.x * 256 + t % 32 * 8;
    float sum[4][8][4] = {};
    unsigned a[4][4], b[8][2];
    auto fill = [&](int first, half* stage) {
        if (first < n) {
            half* Ms = stage + t / PARTS * TK + (t ^ t / 8) % PARTS * 8;
            half* Ns = stage + 128 * TK + t / 32 * 256 + (t ^ t / 32 % 8) % 32 * 8;
#pragma unroll
            for (int i = 0; i < TK / 16; ++i)
                copy(Ms[i * 2048], M[i * (256 / PARTS) * n + first]);
#pragma unroll
            for (int i = 0; i < TK / 8; ++i)
                copy(Ns[i * 2048], N[(first + i * 8) * n]);
        }
        commit();
    };
#pragma unroll
    for (int i = 0; i < STAGES - 1; ++i)
        fill(i * TK, tiles + i * STAGE);
    half *now = tiles, *next = tiles + (STAGES - 1) * STAGE, *end = tiles + STAGES * STAGE;
    for (int first = 0; first < n; first += TK) {
        wait<STAGES - 2>();
        __syncthreads();
        fill(first + (STAGES - 1) * TK, next);
        const half *Ms = now + (y + row) * TK, *Ns = now + 128 * TK + row * 256;
#pragma unroll
        for (int k = 0; k < TK; k += 16) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                load(a[i][0], a[i][1], a[i][2], a[i][3], Ms[i * 16 * TK + ((k + part) ^ turn)]);
                load_turned(b[i * 2][0], b[i * 2][1], b[i * 2 + 1][0], b[i * 2 + 1][1],
                            Ns[k * 256 + ((x + i * 16 + part) ^ row % 8 * 8)]);
            }
#pragma unroll
            for (int i = 0; i < 32; ++i)
                mma(sum[i / 8][i % 8], a[i / 8], b[i % 8]);
        }
        next = now;
        now = now + STAGE == end ? tiles : now + STAGE;
    }
    store(P + (blockIdx.y * 128 + y) * n + blockIdx.x * 256 + x, sum, n);
}

// 16: fragments are loaded a step of k ahead, beside the products of this one.
extern "C" __global__ void __launch_bounds__(256, 1) ahead(In M, In N, float* P, int n)
{
    constexpr int PARTS = TK / 8, STAGE = 128 * TK + TK * 256;
    extern __shared__ __align__(128) half tiles[];
    int t = threadIdx.x, lane = t % 32, x = t / 32 % 4 * 64, y = t / 128 * 64;
    int row = lane % 16, part = lane / 16 * 8, turn = row * PARTS / 8 % PARTS * 8;
    int2 at = make_int2(blockIdx.x * 256, blockIdx.y * 128);
    M += (at.y + t / PARTS) * n + t % PARTS * 8;
    N += t / 32 * n + at.x + t % 32 * 8;
    float sum[4][8][4] = {};
    unsigned a[2][4][4], b[2][8][2];
    auto fill = [&](int first, half* stage) {
        if (first < n) {
            half* Ms = stage + t / PARTS * TK + (t ^ t / 8) % PARTS * 8;
            half* Ns = stage + 128 * TK + t / 32 * 256 + (t ^ t / 32 % 8) % 32 * 8;
#pragma unroll
            for (int i = 0; i < TK / 16; ++i)
                copy(Ms[i * 2048], M[i * (256 / PARTS) * n + first]);
#pragma unroll
            for (int i = 0; i < TK / 8; ++i)
                copy(Ns[i * 2048], N[(first + i * 8) * n]);
        }
        commit();
    };
    auto read = [&](const half* stage, int k, int to) {
        const half *Ms = stage + (y + row) * TK, *Ns = stage + 128 * TK + row * 256;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            load(a[to][i][0], a[to][i][1], a[to][i][2], a[to][i][3], Ms[i * 16 * TK + ((k + part) ^ turn)]);
            load_turned(b[to][i * 2][0], b[to][i * 2][1], b[to][i * 2 + 1][0], b[to][i * 2 + 1][1],
                        Ns[k * 256 + ((x + i * 16 + part) ^ row % 8 * 8)]);
        }
    };
#pragma unroll
    for (int i = 0; i < STAGES - 1; ++i)
        fill(i * TK, tiles + i * STAGE);
    half *now = tiles, *next = tiles + (STAGES - 1) * STAGE, *end = tiles + STAGES * STAGE;
    wait<STAGES - 2>();
    __syncthreads();
    read(now, 0, 0);
    for (int first = 0; first < n; first += TK) {
        fill(first + (STAGES - 1) * TK, next);
        next = now;
#pragma unroll
        for (int k = 0; k < TK; k += 16) {
            if (k == TK - 16) {
                now = now + STAGE == end ? tiles : now + STAGE;
                wait<STAGES - 2>();
                __syncthreads();
            }
            read(now, (k + 16) % TK, (k / 16 + 1) % 2);
#pragma unroll
            for (int i = 0; i < 32; ++i)
                mma(sum[i / 8][i / 8 % 2 ? 7 - i % 8 : i % 8], a[k / 16 % 2][i / 8],
                    b[k / 16 % 2][i / 8 % 2 ? 7 - i % 8 : i % 8]);
        }
    }
    P += (at.y + y + lane / 4) * n + at.x + x + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 64; ++i) {
        const float* c = &sum[i / 16][i / 2 % 8][i % 2 * 2];
        *(float2*)&P[(i / 16 * 16 + i % 2 * 8) * n + i / 2 % 8 * 8] = make_float2(c[0], c[1]);
    }
}
