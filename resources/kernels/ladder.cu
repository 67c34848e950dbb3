// P = M N, fp32, all n x n and stored row by row; n is a multiple of 128. Each kernel is one idea
// beyond the one above it. The macro STAGES tunes the last one.
#ifndef WIDTH
#define WIDTH 32  // of the blocks of the first three
#endif
#ifndef STAGES
#define STAGES 3
#endif

typedef const float* __restrict__ In;

__device__ const float4& four(const float& first) { return reinterpret_cast<const float4&>(first); }
__device__ float4& four(float& first) { return reinterpret_cast<float4&>(first); }

// BYTES (4 or 16) from global to shared memory, which nobody waits for yet.
template <int BYTES> __device__ void copy(float& to, const float& from)
{
#if __CUDA_ARCH__ >= 800
    unsigned at = (unsigned)__cvta_generic_to_shared(&to);
    if (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at), "l"(&from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at), "l"(&from) : "memory");
#else
    if (BYTES == 16)
        four(to) = four(from);
    else
        to = from;
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

// 1: a thread a cell; neighbours in a warp are one below the other.
extern "C" __global__ void naive(In M, In N, float* P, int n)
{
    int row = blockIdx.y * WIDTH + threadIdx.x;
    int column = blockIdx.x * WIDTH + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; ++k)
        sum += M[row * n + k] * N[k * n + column];
    P[row * n + column] = sum;
}

// 2: neighbours in a warp are side by side.
extern "C" __global__ void coalesced(In M, In N, float* P, int n)
{
    int row = blockIdx.y * WIDTH + threadIdx.y;
    int column = blockIdx.x * WIDTH + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; ++k)
        sum += M[row * n + k] * N[k * n + column];
    P[row * n + column] = sum;
}

// 3: a block loads tiles of both once, and all its threads read them.
extern "C" __global__ void tiled(In M, In N, float* P, int n)
{
    __shared__ float Ms[WIDTH][WIDTH], Ns[WIDTH][WIDTH];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * WIDTH + y, column = blockIdx.x * WIDTH + x;
    float sum = 0;
    for (int first = 0; first < n; first += WIDTH) {
        Ms[y][x] = M[row * n + first + x];
        Ns[y][x] = N[(first + y) * n + column];
        __syncthreads();
        for (int k = 0; k < WIDTH; ++k)
            sum += Ms[y][k] * Ns[k][x];
        __syncthreads();
    }
    P[row * n + column] = sum;
}

// 4: a thread has 8 cells of a column: what it reads of Ns serves all of them.
extern "C" __global__ void __launch_bounds__(512) strip(In M, In N, float* P, int n)
{
    __shared__ float Ms[64][8], Ns[8][64];
    int t = threadIdx.x, x = t % 64, y = t / 64;
    M += blockIdx.y * 64 * n, N += blockIdx.x * 64;
    float sum[8] = {};
    for (int first = 0; first < n; first += 8) {
        Ms[t / 8][t % 8] = M[t / 8 * n + first + t % 8];
        Ns[y][x] = N[(first + y) * n + x];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            float b = Ns[k][x];
#pragma unroll
            for (int i = 0; i < 8; ++i)
                sum[i] += Ms[y * 8 + i][k] * b;
        }
        __syncthreads();
    }
    P += (blockIdx.y * 64 + y * 8) * n + blockIdx.x * 64 + x;
#pragma unroll
    for (int i = 0; i < 8; ++i)
        P[i * n] = sum[i];
}

// 5: a thread has 8 x 8 cells: 16 numbers read serve 64 products.
extern "C" __global__ void __launch_bounds__(256) square(In M, In N, float* P, int n)
{
    __shared__ float Ms[128][8], Ns[8][128];
    int t = threadIdx.x, x = t % 16, y = t / 16;
    M += blockIdx.y * 128 * n, N += blockIdx.x * 128;
    float sum[8][8] = {}, a[8], b[8];
    for (int first = 0; first < n; first += 8) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            Ms[t / 8 + i * 32][t % 8] = M[(t / 8 + i * 32) * n + first + t % 8];
            Ns[t / 128 + i * 2][t % 128] = N[(first + t / 128 + i * 2) * n + t % 128];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; ++k) {
#pragma unroll
            for (int i = 0; i < 8; ++i)
                a[i] = Ms[y + i * 16][k], b[i] = Ns[k][x + i * 16];
#pragma unroll
            for (int i = 0; i < 64; ++i)
                sum[i / 8][i % 8] += a[i / 8] * b[i % 8];
        }
        __syncthreads();
    }
    P += (blockIdx.y * 128 + y) * n + blockIdx.x * 128 + x;
#pragma unroll
    for (int i = 0; i < 64; ++i)
        P[i / 8 * 16 * n + i % 8 * 16] = sum[i / 8][i % 8];
}

// 6: four numbers an instruction: Ms is stored turned, cells of a thread are side by side.
extern "C" __global__ void __launch_bounds__(256) vectors(In M, In N, float* P, int n)
{
    __shared__ __align__(16) float Ms[8][128], Ns[8][128];
    int t = threadIdx.x, x = t % 16, y = t / 16;
    M += blockIdx.y * 128 * n, N += blockIdx.x * 128;
    float sum[8][8] = {}, a[8], b[8];
    for (int first = 0; first < n; first += 8) {
        float4 m = four(M[t / 2 * n + first + t % 2 * 4]);
        Ms[t % 2 * 4 + 0][t / 2] = m.x, Ms[t % 2 * 4 + 1][t / 2] = m.y;
        Ms[t % 2 * 4 + 2][t / 2] = m.z, Ms[t % 2 * 4 + 3][t / 2] = m.w;
        four(Ns[t / 32][t % 32 * 4]) = four(N[(first + t / 32) * n + t % 32 * 4]);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            four(a[0]) = four(Ms[k][y * 8]), four(a[4]) = four(Ms[k][y * 8 + 4]);
            four(b[0]) = four(Ns[k][x * 8]), four(b[4]) = four(Ns[k][x * 8 + 4]);
#pragma unroll
            for (int i = 0; i < 64; ++i)
                sum[i / 8][i % 8] += a[i / 8] * b[i % 8];
        }
        __syncthreads();
    }
    P += (blockIdx.y * 128 + y * 8) * n + blockIdx.x * 128 + x * 8;
#pragma unroll
    for (int i = 0; i < 16; ++i)
        four(P[i / 2 * n + i % 2 * 4]) = four(sum[i / 2][i % 2 * 4]);
}

// 7: no bank is asked twice: Ms has 4 numbers more a row, cells of a thread are in two halves.
extern "C" __global__ void __launch_bounds__(256) conflict_free(In M, In N, float* P, int n)
{
    __shared__ __align__(16) float Ms[8][128 + 4], Ns[8][128];
    int t = threadIdx.x, x = t % 16, y = t / 16;
    M += blockIdx.y * 128 * n, N += blockIdx.x * 128;
    float sum[8][8] = {}, a[8], b[8];
    for (int first = 0; first < n; first += 8) {
        float4 m = four(M[t / 2 * n + first + t % 2 * 4]);
        Ms[t % 2 * 4 + 0][t / 2] = m.x, Ms[t % 2 * 4 + 1][t / 2] = m.y;
        Ms[t % 2 * 4 + 2][t / 2] = m.z, Ms[t % 2 * 4 + 3][t / 2] = m.w;
        four(Ns[t / 32][t % 32 * 4]) = four(N[(first + t / 32) * n + t % 32 * 4]);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            four(a[0]) = four(Ms[k][y * 4]), four(a[4]) = four(Ms[k][y * 4 + 64]);
            four(b[0]) = four(Ns[k][x * 4]), four(b[4]) = four(Ns[k][x * 4 + 64]);
#pragma unroll
            for (int i = 0; i < 64; ++i)
                sum[i / 8][i % 8] += a[i / 8] * b[i % 8];
        }
        __syncthreads();
    }
    P += (blockIdx.y * 128 + y * 4) * n + blockIdx.x * 128 + x * 4;
#pragma unroll
    for (int i = 0; i < 16; ++i)
        four(P[(i / 8 * 64 + i / 2 % 4) * n + i % 2 * 64]) = four(sum[i / 2][i % 2 * 4]);
}

// 8: two buffers: the next tiles are copied past the registers while these are multiplied.
extern "C" __global__ void __launch_bounds__(256, 2) double_buffer(In M, In N, float* P, int n)
{
    __shared__ __align__(16) float Ms[2][8][128 + 4], Ns[2][8][128];
    int t = threadIdx.x, x = t % 16, y = t / 16;
    M += (blockIdx.y * 128 + t / 8) * n + t % 8;
    N += t / 32 * n + blockIdx.x * 128 + t % 32 * 4;
    float sum[8][8] = {}, a[8], b[8];
    auto load = [&](int first, int stage) {
#pragma unroll
        for (int i = 0; i < 4; ++i)
            copy<4>(Ms[stage][t % 8][t / 8 + i * 32], M[i * 32 * n + first]);
        copy<16>(Ns[stage][t / 32][t % 32 * 4], N[first * n]);
        commit();
    };
    load(0, 0);
    for (int first = 0, stage = 0; first < n; first += 8, stage ^= 1) {
        wait<0>();
        __syncthreads();
        if (first + 8 < n)
            load(first + 8, stage ^ 1);
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            four(a[0]) = four(Ms[stage][k][y * 4]), four(a[4]) = four(Ms[stage][k][y * 4 + 64]);
            four(b[0]) = four(Ns[stage][k][x * 4]), four(b[4]) = four(Ns[stage][k][x * 4 + 64]);
#pragma unroll
            for (int i = 0; i < 64; ++i)
                sum[i / 8][i % 8] += a[i / 8] * b[i % 8];
        }
    }
    P += (blockIdx.y * 128 + y * 4) * n + blockIdx.x * 128 + x * 4;
#pragma unroll
    for (int i = 0; i < 16; ++i)
        four(P[(i / 8 * 64 + i / 2 % 4) * n + i % 2 * 64]) = four(sum[i / 2][i % 2 * 4]);
}

// 9: a warp has 32 x 64 cells, 4 x 8 lanes: it reads fewer different numbers.
extern "C" __global__ void __launch_bounds__(256, 2) warp_tiles(In M, In N, float* P, int n)
{
    __shared__ __align__(16) float Ms[2][8][128 + 4], Ns[2][8][128];
    int t = threadIdx.x, x = t / 32 % 2 * 64 + t / 2 % 8 * 4, y = t / 64 * 32 + (t / 16 % 2 * 2 + t % 2) * 4;
    M += (blockIdx.y * 128 + t / 8) * n + t % 8;
    N += t / 32 * n + blockIdx.x * 128 + t % 32 * 4;
    float sum[8][8] = {}, a[8], b[8];
    auto load = [&](int first, int stage) {
#pragma unroll
        for (int i = 0; i < 4; ++i)
            copy<4>(Ms[stage][t % 8][t / 8 + i * 32], M[i * 32 * n + first]);
        copy<16>(Ns[stage][t / 32][t % 32 * 4], N[first * n]);
        commit();
    };
    load(0, 0);
    for (int first = 0, stage = 0; first < n; first += 8, stage ^= 1) {
        wait<0>();
        __syncthreads();
        if (first + 8 < n)
            load(first + 8, stage ^ 1);
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            four(a[0]) = four(Ms[stage][k][y]), four(a[4]) = four(Ms[stage][k][y + 16]);
            four(b[0]) = four(Ns[stage][k][x]), four(b[4]) = four(Ns[stage][k][x + 32]);
#pragma unroll
            for (int i = 0; i < 64; ++i)
                sum[i / 8][i % 8] += a[i / 8] * b[i % 8];
        }
    }
    P += (blockIdx.y * 128 + y) * n + blockIdx.x * 128 + x;
#pragma unroll
    for (int i = 0; i < 16; ++i)
        four(P[(i / 8 * 16 + i / 2 % 4) * n + i % 2 * 32]) = four(sum[i / 2][i % 2 * 4]);
}

// 10: a thread has 16 x 8 cells, a warp 64 x 64; a ring of STAGES tiles.
extern "C" __global__ void __launch_bounds__(64, 4) wide(In M, In N, float* P, int n)
{
    constexpr int PITCH = 64 + 4, STAGE = 8 * (PITCH + 128);
    extern __shared__ __align__(16) float tiles[];
    int t = threadIdx.x, warp = t / 32, down = t % 2 + t / 16 % 2 * 2, right = t / 2 % 8;
    int y = warp / 2 * 64 + down * 4, x = warp % 2 * 64 + right * 4;
    M += (blockIdx.y * 64 + t / 8) * n + t % 8;
    N += t / 32 * n + blockIdx.x * 128 + t % 32 * 4;
    float sum[16][8] = {}, a[2][16], b[2][8];
    auto load = [&](int first, float* stage) {
        if (first < n) {
            float *Ms = stage + t % 8 * PITCH + t / 8, *Ns = stage + 8 * PITCH + t * 4;
#pragma unroll
            for (int i = 0; i < 64; i += 8)
                copy<4>(Ms[i], M[i * n + first]);
#pragma unroll
            for (int i = 0; i < 8; i += 2)
                copy<16>(Ns[i * 128], N[(first + i) * n]);
        }
        commit();
    };
    auto read = [&](const float* stage, int k, int to) {
#pragma unroll
        for (int i = 0; i < 4; ++i)
            four(a[to][i * 4]) = four(stage[k * PITCH + y + i * 16]);
#pragma unroll
        for (int i = 0; i < 2; ++i)
            four(b[to][i * 4]) = four(stage[8 * PITCH + k * 128 + x + i * 32]);
    };
#pragma unroll
    for (int i = 0; i < STAGES - 1; ++i)
        load(i * 8, tiles + i * STAGE);
    float *now = tiles, *next = tiles + (STAGES - 1) * STAGE, *end = tiles + STAGES * STAGE;
    for (int first = 0; first < n; first += 8) {
        wait<STAGES - 2>();
        __syncthreads();
        load(first + (STAGES - 1) * 8, next);
        next = now;
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            if (k == 7)
                now = now + STAGE == end ? tiles : now + STAGE;
            read(k == 7 ? next : now, k, k % 2);
#pragma unroll
            for (int i = 0; i < 16; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j)
                    sum[i][j] += a[k % 2][i] * b[k % 2][j];
        }
    }
    P += (blockIdx.y * 64 + y) * n + blockIdx.x * 128 + x;
#pragma unroll
    for (int i = 0; i < 16; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j)
            four(P[(i / 4 * 16 + i % 4) * n + j * 32]) = four(sum[i][j * 4]);
}
