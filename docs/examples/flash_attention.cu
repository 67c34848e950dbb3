// Flash attention, forward: O = softmax(Q K' / 8) V for heads of n x 64 halves, n a multiple of 64.
// The matrix of n x n weights is never stored: a block has 64 queries, and keys and values come by
// tiles of 64, fetched while the tiles before them are multiplied. For sm_80 and later.
//
//     gpuviz docs/examples/flash_attention.cu
//     gpuviz run docs/examples/flash_attention.cu      (counts beside a GPU's)
//     nvcc -arch=sm_80 docs/examples/flash_attention.cu -o attention && ./attention
#include <cuda_fp16.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int D = 64, TILE = 64;

__device__ unsigned at(const void* to) { return (unsigned)__cvta_generic_to_shared(to); }

// Where element (row, column) of a tile lies: pieces of 16 bytes are swizzled over the banks.
__device__ int place(int row, int column)
{
    return row * D + (column / 8 ^ row % 8) * 8 + column % 8;
}

// Four matrices of 8 x 8 halves; lane i names row i % 8 of matrix i / 8.
__device__ void load(unsigned (&to)[4], const __half* row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at(row)) : "memory");
}

__device__ void load_turned(unsigned (&to)[4], const __half* row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at(row)) : "memory");
}

__device__ void mma(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ unsigned pair(float low, float high)
{
    unsigned both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

// A tile of 64 x 64 halves begins to come; nobody waits for it yet.
__device__ void fetch(__half* tile, const __half* from)
{
#pragma unroll
    for (int i = threadIdx.x; i < TILE * D / 8; i += 128)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                     :: "r"(at(&tile[place(i / 8, i % 8 * 8)])), "l"(from + i * 8) : "memory");
}

__device__ void fetched() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// The largest of, or the sum over, the four lanes that share a row.
template <class F> __device__ float across(float x, F both)
{
    x = both(x, __shfl_xor_sync(~0u, x, 1));
    return both(x, __shfl_xor_sync(~0u, x, 2));
}

__global__ void __launch_bounds__(128)
attention(const __half* __restrict__ Q, const __half* __restrict__ K, const __half* __restrict__ V,
          __half* __restrict__ O, int n, float scale)
{
    __shared__ __align__(128) __half Qs[TILE * D], Ks[2][TILE * D], Vs[2][TILE * D];
    int lane = threadIdx.x % 32, first = threadIdx.x / 32 * 16;
    long long head = (long long)blockIdx.y * n * D, rows = head + (long long)blockIdx.x * TILE * D;
    K += head, V += head;

    fetch(Qs, Q + rows), fetch(Ks[0], K), fetch(Vs[0], V), fetched();
    unsigned q[D / 16][4];
    float sum[D / 8][4] = {}, most[2] = {-INFINITY, -INFINITY}, total[2] = {};
    for (int tile = 0; tile < n / TILE; ++tile) {
        int next = (tile + 1) * TILE;
        if (next < n)
            fetch(Ks[(tile + 1) % 2], K + next * D), fetch(Vs[(tile + 1) % 2], V + next * D);
        fetched();
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        if (tile == 0)
#pragma unroll
            for (int k = 0; k < D / 16; ++k)
                load(q[k], &Qs[place(first + lane % 16, k * 16 + lane / 16 * 8)]);

        // 16 queries of this warp by 64 keys.
        float s[TILE / 8][4] = {};
#pragma unroll
        for (int k = 0; k < D / 16; ++k)
#pragma unroll
            for (int j = 0; j < TILE / 16; ++j) {
                unsigned b[4];
                load(b, &Ks[tile % 2][place(j * 16 + lane / 16 * 8 + lane % 8,
                                            k * 16 + lane / 8 % 2 * 8)]);
                mma(s[j * 2], q[k], b[0], b[1]);
                mma(s[j * 2 + 1], q[k], b[2], b[3]);
            }

        // A softmax that goes on: what was summed so far shrinks when a larger weight comes.
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float m = most[half];
#pragma unroll
            for (int j = 0; j < TILE / 8; ++j)
                m = fmaxf(m, fmaxf(s[j][half * 2], s[j][half * 2 + 1]) * scale);
            m = across(m, [](float a, float b) { return fmaxf(a, b); });
            float less = exp2f(most[half] - m), of_tile = 0;
            most[half] = m;
#pragma unroll
            for (int j = 0; j < TILE / 8; ++j)
#pragma unroll
                for (int i = half * 2; i < half * 2 + 2; ++i) {
                    s[j][i] = exp2f(s[j][i] * scale - m);
                    of_tile += s[j][i];
                    sum[j][i] *= less;
                }
            total[half] = total[half] * less + of_tile;
        }

        // Their weights, which are the fragments of A as they lie, by 64 values.
#pragma unroll
        for (int k = 0; k < TILE / 16; ++k) {
            unsigned a[4] = {pair(s[k * 2][0], s[k * 2][1]), pair(s[k * 2][2], s[k * 2][3]),
                             pair(s[k * 2 + 1][0], s[k * 2 + 1][1]),
                             pair(s[k * 2 + 1][2], s[k * 2 + 1][3])};
#pragma unroll
            for (int j = 0; j < D / 16; ++j) {
                unsigned b[4];
                load_turned(b, &Vs[tile % 2][place(k * 16 + lane % 16, j * 16 + lane / 16 * 8)]);
                mma(sum[j * 2], a, b[0], b[1]);
                mma(sum[j * 2 + 1], a, b[2], b[3]);
            }
        }
        __syncthreads();
    }

    O += rows + (first + lane / 4) * D + lane % 4 * 2;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float whole = 1 / across(total[half], [](float a, float b) { return a + b; });
#pragma unroll
        for (int j = 0; j < D / 8; ++j)
            *(unsigned*)&O[half * 8 * D + j * 8]
                = pair(sum[j][half * 2] * whole, sum[j][half * 2 + 1] * whole);
    }
}

// The largest difference to the same in double precision.
double difference(const std::vector<__half>& q, const std::vector<__half>& k,
                  const std::vector<__half>& v, const std::vector<__half>& o, int heads, int n)
{
    double worst = 0;
    for (int row = 0; row < heads * n; row += 7) {
        int head = row / n * n;
        std::vector<double> weight(n);
        double total = 0;
        for (int key = 0; key < n; ++key) {
            double s = 0;
            for (int d = 0; d < D; ++d)
                s += (double)__half2float(q[row * D + d]) * __half2float(k[(head + key) * D + d]);
            total += weight[key] = std::exp(s / std::sqrt((double)D));
        }
        for (int d = 0; d < D; ++d) {
            double exact = 0;
            for (int key = 0; key < n; ++key)
                exact += weight[key] / total * __half2float(v[(head + key) * D + d]);
            worst = std::fmax(worst, std::fabs(exact - __half2float(o[row * D + d])));
        }
    }
    return worst;
}

std::vector<__half> numbers(int count)
{
    std::vector<__half> made(count);
    for (auto& x : made)
        x = __float2half(std::rand() / (float)RAND_MAX * 2 - 1);
    return made;
}

int main()
{
    const int heads = 8, n = 1024, bytes = heads * n * D * sizeof(__half);
    auto q = numbers(heads * n * D), k = numbers(heads * n * D), v = numbers(heads * n * D), o = q;
    __half *Q, *K, *V, *O;
    cudaMalloc(&Q, heads * n * D * sizeof(__half));
    cudaMalloc(&K, heads * n * D * sizeof(__half));
    cudaMalloc(&V, heads * n * D * sizeof(__half));
    cudaMalloc(&O, heads * n * D * sizeof(__half));
    cudaMemcpy(Q, q.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(K, k.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(V, v.data(), bytes, cudaMemcpyHostToDevice);
    // The scale is 1 / sqrt(D), times log2(e): powers of two are what the hardware has.
    attention<<<dim3(n / TILE, heads), 128>>>(Q, K, V, O, n, 0.18033688f);
    cudaError_t error = cudaDeviceSynchronize();
    cudaMemcpy(o.data(), O, bytes, cudaMemcpyDeviceToHost);
    double worst = difference(q, k, v, o, heads, n);
    std::printf("%s, largest difference %.2e\n", cudaGetErrorString(error), worst);
    return error != cudaSuccess || worst > 2e-3;
}
