// What mma.sync can reach: fragments stay in registers, 64 sums a lane; n times 16 products a warp.
typedef unsigned u32;

__device__ void mma(float (&c)[4], const u32 (&a)[4], const u32 (&b)[2])
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

extern "C" __global__ void __launch_bounds__(256, 1) peak(const u32* given, float* out, int n)
{
    u32 a[4][4], b[4][2];
    float sum[16][4] = {}, all = 0;
    for (int i = 0; i < 16; ++i)
        a[i / 4][i % 4] = given[i * 256 + threadIdx.x];
    for (int i = 0; i < 8; ++i)
        b[i / 2][i % 2] = given[(16 + i) * 256 + threadIdx.x];
#pragma unroll 4
    for (int k = 0; k < n; ++k)
#pragma unroll
        for (int i = 0; i < 16; ++i)
            mma(sum[i], a[i / 4], b[i % 4]);
    for (int i = 0; i < 64; ++i)
        all += sum[i / 4][i % 4];
    out[blockIdx.x * 256 + threadIdx.x] = all;
}
