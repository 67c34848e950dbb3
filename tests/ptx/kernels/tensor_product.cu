// A product of 16 rows a block with ldmatrix and mma, and a matrix turned and stored.
#include <cuda_fp16.h>

__device__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

extern "C" __global__ void product(const __half* A, const __half* B, float* C, int k) {
    __shared__ __align__(16) __half a[16 * 16], b[16 * 8];
    int lane = threadIdx.x, first = blockIdx.x * 16;
    float c[4] = {0, 0, 0, 0};
    for (int at = 0; at < k; at += 16) {
        for (int i = lane; i < 256; i += 32) a[i] = A[(first + i / 16) * k + at + i % 16];
        for (int i = lane; i < 128; i += 32) b[i] = B[(at + i / 8) * 8 + i % 8];
        __syncthreads();
        unsigned r[4], q[2];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(shared_address(a + lane % 16 * 16 + lane / 16 * 8)));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(q[0]), "=r"(q[1])
                     : "r"(shared_address(b + lane % 16 * 8)));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(q[0]), "r"(q[1]));
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        C[(first + lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = c[i];
}

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void turned(const unsigned* in, unsigned* out) {
    __shared__ __align__(16) unsigned t[32];
    unsigned held = in[threadIdx.x], moved;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(moved) : "r"(held));
    asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};"
                 :
                 : "r"(shared_address(t + threadIdx.x % 8 * 4)), "r"(moved));
    __syncwarp();
    out[threadIdx.x] = moved;
    out[32 + threadIdx.x] = t[threadIdx.x];
}
#endif
