// P = M N on tensor cores, floats that are rounded to tf32; all n x n and stored row by row; n is a
// multiple of 256. A block has 128 x 256 cells, a warp 64 x 64.
#ifndef STAGES
#define STAGES 3
#endif

typedef const float* __restrict__ In;

constexpr int PITCH = 16 + 4, WIDE = 256 + 8, STAGE = 128 * PITCH + 16 * WIDE;  // floats

// 16 bytes from global to shared memory, which nobody waits for yet.
__device__ void copy(float& to, const float& from)
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

// The nearest number that has 10 bits behind the point.
__device__ unsigned rounded(float x)
{
    unsigned y = 0;
#if __CUDA_ARCH__ >= 800
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
#endif
    return y;
}

// c += a b: 16 x 8 by 8 x 8 elements, in the registers of a warp.
__device__ void mma(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

// 11: a warp multiplies floats on tensor cores, 10 bits behind the point.
extern "C" __global__ void __launch_bounds__(256, 1) tf32(In M, In N, float* P, int n)
{
    extern __shared__ __align__(16) float tiles[];
    int t = threadIdx.x, lane = t % 32, x = t / 32 % 4 * 64 + lane / 4, y = t / 128 * 64 + lane / 4;
    M += (blockIdx.y * 128 + t / 4) * n + t % 4 * 4;
    N += t / 64 * n + blockIdx.x * 256 + t % 64 * 4;
    float sum[4][8][4] = {};
    unsigned a[4][4], b[8][2];
    auto fill = [&](int first, float* stage) {
        if (first < n) {
            float *Ms = stage + t / 4 * PITCH + t % 4 * 4, *Ns = stage + 128 * PITCH + t / 64 * WIDE + t % 64 * 4;
#pragma unroll
            for (int i = 0; i < 128; i += 256 / 4)
                copy(Ms[i * PITCH], M[i * n + first]);
#pragma unroll
            for (int i = 0; i < 16; i += 4)
                copy(Ns[i * WIDE], N[(first + i) * n]);
        }
        commit();
    };
#pragma unroll
    for (int i = 0; i < STAGES - 1; ++i)
        fill(i * 16, tiles + i * STAGE);
    float *now = tiles, *next = tiles + (STAGES - 1) * STAGE, *end = tiles + STAGES * STAGE;
    for (int first = 0; first < n; first += 16) {
        wait<STAGES - 2>();
        __syncthreads();
        fill(first + (STAGES - 1) * 16, next);
        const float *Ms = now + y * PITCH + lane % 4, *Ns = now + 128 * PITCH + lane % 4 * WIDE + x;
#pragma unroll
        for (int k = 0; k < 16; k += 8) {
#pragma unroll
            for (int i = 0; i < 16; ++i) {
                a[i / 4][i % 4] = rounded(Ms[(i / 4 * 16 + i % 2 * 8) * PITCH + k + i / 2 % 2 * 4]);
                b[i / 2][i % 2] = rounded(Ns[(k + i % 2 * 4) * WIDE + i / 2 * 8]);
            }
#pragma unroll
            for (int i = 0; i < 32; ++i)
                mma(sum[i / 8][i % 8], a[i / 8], b[i % 8]);
        }
        next = now;
        now = now + STAGE == end ? tiles : now + STAGE;
    }
    P += (blockIdx.y * 128 + y) * n + blockIdx.x * 256 + t / 32 % 4 * 64 + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 64; ++i) {
        const float* c = &sum[i / 16][i / 2 % 8][i % 2 * 2];
        *(float2*)&P[(i / 16 * 16 + i % 2 * 8) * n + i / 2 % 8 * 8] = make_float2(c[0], c[1]);
    }
}
