// P = M N for square matrices of n x n elements, n a multiple of TILE, with barriers as asked for:
// AFTER_LOAD and AFTER_MULTIPLY say whether the two barriers of a phase are there; INSIDE moves the
// second one into the inner loop, and the store into the loop over phases.
#ifndef TILE
#define TILE 8
#define AFTER_LOAD 1
#define AFTER_MULTIPLY 1
#define INSIDE 0
#endif

extern "C" __global__ void product(const float* M, const float* N, float* P, int n)
{
    __shared__ float Ms[TILE][TILE];
    __shared__ float Ns[TILE][TILE];
    int tx = threadIdx.x, x = blockIdx.x * TILE + tx;
    int ty = threadIdx.y, y = blockIdx.y * TILE + ty;
    float sum = 0.0f;
    for (int first = 0; first < n; first += TILE) {
        Ms[ty][tx] = M[y * n + first + tx];
        Ns[ty][tx] = N[(first + ty) * n + x];
#if AFTER_LOAD
        __syncthreads();  // nobody multiplies before all have loaded
#endif
        for (int k = 0; k < TILE; ++k) {
            sum += Ms[ty][k] * Ns[k][tx];
#if INSIDE
            __syncthreads();  // once for every k
#endif
        }
#if AFTER_MULTIPLY
        __syncthreads();  // nobody loads the next tiles before all have multiplied
#endif
#if INSIDE
        P[y * n + x] = sum;  // once for every phase
#endif
    }
#if !INSIDE
    P[y * n + x] = sum;
#endif
}
