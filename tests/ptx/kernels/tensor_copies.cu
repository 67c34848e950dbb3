// Boxes of tensors: in every number of directions, swizzled, strided, beyond the edges; and a
// product of two matrices that are fetched in boxes for wgmma.
typedef unsigned u32;
typedef unsigned long long u64;
struct alignas(64) Map { u64 opaque[16]; };
__device__ u32 at(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__device__ void init(u32 b, u32 n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(b), "r"(n) : "memory"); }
__device__ void expect(u32 b, u32 n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(b), "r"(n) : "memory"); }
__device__ void wait(u32 b, u32 parity)
{
    asm volatile("{.reg .pred p;\n again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@!p bra again; }" :: "r"(b), "r"(parity) : "memory");
}
#define LOAD(N, COORDS) asm volatile("cp.async.bulk.tensor." N "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" COORDS "}], [%2];" \
    :: "r"(at(s)), "l"(&map), "r"(at(&b)), "r"(x), "r"(y), "r"(z) : "memory")

extern "C" __global__ void box(const __grid_constant__ Map map, int rank, int x, int y, int z, int bytes, uint4* out)
{
    extern __shared__ __align__(1024) uint4 s[];
    __shared__ u64 b;
    if (threadIdx.x == 0) {
        init(at(&b), 1);
        asm volatile("prefetch.tensormap [%0];" :: "l"(&map) : "memory");
        expect(at(&b), bytes);
        if (rank == 1) LOAD("1", "%3");
        if (rank == 2) LOAD("2", "%3, %4");
        if (rank == 3) LOAD("3", "%3, %4, %5");
        if (rank == 4) LOAD("4", "%3, %4, %5, %3");
        if (rank == 5) LOAD("5", "%3, %4, %5, %3, %4");
    }
    __syncthreads();
    wait(at(&b), 0);
    for (int i = threadIdx.x; i < bytes / 16; i += blockDim.x) out[i] = s[i];
}

extern "C" __global__ void back(const __grid_constant__ Map to, const __grid_constant__ Map sum, const uint4* in, int x, int y, int bytes)
{
    extern __shared__ __align__(1024) uint4 s[];
    for (int i = threadIdx.x; i < bytes / 16; i += blockDim.x) s[i] = in[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" :: "l"(&to), "r"(x), "r"(y), "r"(at(s)) : "memory");
        asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];" :: "l"(&sum), "r"(x), "r"(y), "r"(at(s)) : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
}

#define RELEASE if (threadIdx.x % 32 == 0) \
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(at(&empty[i])) : "memory");
// C = A B^T: one warp fetches 64 x 64 tiles of both into stages, four warps multiply.
__device__ u64 describe(u32 start) { return (u64)(start >> 4) | (u64)1 << 16 | (u64)64 << 32 | (u64)1 << 62; }
extern "C" __global__ void product(const __grid_constant__ Map A, const __grid_constant__ Map B, float* C, int n, int k, const void* a, const void* b)
{
    const int STAGES = 3, TILE = 64 * 64 * 2;
    extern __shared__ __align__(1024) char tiles_[];
    __shared__ u64 full[STAGES], empty[STAGES];
    int tiles = k / 64, row = blockIdx.y * 64, column = blockIdx.x * 64;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) { init(at(&full[i]), 1); init(at(&empty[i]), 4); }
        asm volatile("fence.mbarrier_init.release.cluster;");
    }
    __syncthreads();
    if (threadIdx.x >= 128) {
        u32 elected;
        asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p;}" : "=r"(elected));
        if (elected)
            for (int t = 0; t < tiles; t++) {
                int i = t % STAGES;
                wait(at(&empty[i]), t / STAGES & 1 ^ 1);
                expect(at(&full[i]), 2 * TILE);
                for (int m = 0; m < 2; m++)
                    asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                        :: "r"(at(tiles_ + (2 * i + m) * TILE)), "l"(m ? &B : &A), "r"(t * 64), "r"(m ? column : row), "r"(at(&full[i])) : "memory");
            }
        return;
    }
    float d[32] = {};
    for (int t = 0; t < tiles; t++) {
        int i = t % STAGES;
        wait(at(&full[i]), t / STAGES & 1);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int part = 0; part < 4; part++)
            asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, 1, 1, 1, 0, 0;"
                : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                  "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                  "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
                  "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                : "l"(describe(at(tiles_ + 2 * i * TILE) + 32 * part)), "l"(describe(at(tiles_ + (2 * i + 1) * TILE) + 32 * part)));
#ifdef TOO_EARLY
        RELEASE
#endif
        asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
#ifndef TOO_EARLY
        RELEASE
#endif
    }
    for (int i = 0; i < 32; i++)
        C[(row + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + i / 2 % 2 * 8) * n + column + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2] = d[i];
}
