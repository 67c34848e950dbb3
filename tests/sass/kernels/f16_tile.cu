#include <cuda_fp16.h>
extern "C" __global__ void f16_tile(const half* a, const half* b, half* c, int n, int k_all) {
    __shared__ half s_a[32][8], s_b[8][32];
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * 8 + tx;
    half sum[4][4] = {__float2half(0.0f)};
    for (int k = 0; k < (k_all + 7) / 8; ++k) {
        *(float2*)&s_a[t / 2][t % 2 * 4] = *(float2*)&a[(blockIdx.y * 32 + t / 2) * k_all + k * 8 + t % 2 * 4];
        *(float2*)&s_b[t / 8][t % 8 * 4] = *(float2*)&b[(k * 8 + t / 8) * n + blockIdx.x * 32 + t % 8 * 4];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 8; i++)
#pragma unroll
            for (int y = 0; y < 4; y++)
#pragma unroll
                for (int x = 0; x < 4; x++)
                    sum[y][x] = __hfma(s_a[ty * 4 + y][i], s_b[i][tx * 4 + x], sum[y][x]);
        __syncthreads();
    }
#pragma unroll
    for (int y = 0; y < 4; ++y)
        *(float2*)&c[(blockIdx.y * 32 + ty * 4 + y) * n + blockIdx.x * 32 + tx * 4] = *(float2*)&sum[y][0];
}
