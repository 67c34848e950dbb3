// Warps and blocks: shuffles, votes, barriers, locks.

extern "C" __global__ void shuffles(const int *in, int *out) {
    int t = threadIdx.x, lane = t & 31, x = in[t], n = blockDim.x, k = 0;
#define PUT(value) out[n * k++ + t] = (value)
    PUT(__shfl_sync(~0u, x, 5)); PUT(__shfl_sync(~0u, x, lane + 3, 8)); PUT(__shfl_up_sync(~0u, x, 2));
    PUT(__shfl_up_sync(~0u, x, 3, 16)); PUT(__shfl_down_sync(~0u, x, 4)); PUT(__shfl_down_sync(~0u, x, 1, 4));
    PUT(__shfl_xor_sync(~0u, x, 7)); PUT(__shfl_xor_sync(~0u, x, 9, 8)); PUT(__shfl_sync(~0u, x, x));
    PUT(__ballot_sync(~0u, x & 1)); PUT(__any_sync(~0u, x > 95)); PUT(__all_sync(~0u, x > 3));
    PUT(__popc(__activemask()));
    PUT((int)__double_as_longlong(__shfl_xor_sync(~0u, __longlong_as_double((long long)x << 32 | x), 1)));
#if __CUDA_ARCH__ >= 700
    PUT(__match_any_sync(~0u, x % 5));
    int all;
    PUT(__match_all_sync(~0u, x / 32, &all)); PUT(all);
#endif
#if __CUDA_ARCH__ >= 800
    PUT(__reduce_add_sync(~0u, x)); PUT(__reduce_max_sync(~0u, -x)); PUT(__reduce_or_sync(~0u, x & 12));
    PUT(__reduce_min_sync(~0u, (unsigned)x));
#endif
}
extern "C" __global__ void parts_of_warps(const int *in, int *out) {
    int t = threadIdx.x, lane = t & 31, x = in[t], r = 0;
    if (lane < 12) {
        r = __shfl_down_sync(0xfff, x, 1);
        r += __popc(__ballot_sync(0xfff, x & 2)) * 100;
    } else if (x % 2) {
        unsigned mask = __activemask();
        r = __popc(mask) * 7 + __shfl_sync(mask, x, __ffs(mask) - 1);
    }
    __syncwarp();
    r += __shfl_xor_sync(~0u, r, 1);
    out[t] = r;
}
extern "C" __global__ void warp_scan(const int *in, int *out) {
    int x = in[threadIdx.x], lane = threadIdx.x & 31;
    for (int d = 1; d < 32; d *= 2) {
        int y = __shfl_up_sync(~0u, x, d);
        if (lane >= d) x += y;
    }
    out[threadIdx.x] = x;
}
__device__ unsigned arrived = 0;
__device__ volatile unsigned generation = 0;
__device__ void grid_barrier(unsigned blocks) {
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned mine = generation;
        __threadfence();
        if (atomicAdd(&arrived, 1) == blocks - 1) {
            arrived = 0;
            __threadfence();
            generation = mine + 1;
        } else {
            while (generation == mine) { }
        }
        __threadfence();
    }
    __syncthreads();
}
extern "C" __global__ void grid_steps(int *a, int *b, int n, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int s = 0; s < steps; s++) {
        if (i < n) b[i] = a[i] + a[(i + blockDim.x) % n];
        grid_barrier(gridDim.x);
        int *kept = a;
        a = b;
        b = kept;
    }
}
extern "C" __global__ void poll_by_atomics(int *count, int *data, int *out) {
    if (threadIdx.x == 0) {
        data[blockIdx.x] = blockIdx.x * 3;
        __threadfence();
        atomicAdd(count, 1);
        while (atomicAdd(count, 0) < gridDim.x) { }
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(&data[(blockIdx.x + 1) % gridDim.x], 0);
}
__device__ int lock = 0;
extern "C" __global__ void locked(int *sum, int *log) {
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence();
            int at = *(volatile int *)sum;
            log[at] = blockIdx.x * blockDim.x + threadIdx.x;
            *(volatile int *)sum = at + 1;
            __threadfence();
            atomicExch(&lock, 0);
            done = true;
        }
    }
}
extern "C" __global__ void spinning(int *sum) {  // needs independent thread scheduling
    while (atomicCAS(&lock, 0, 1) != 0) { }
    __threadfence();
    *(volatile int *)sum += 1;
    __threadfence();
    atomicExch(&lock, 0);
}
extern "C" __global__ void early_exit(const int *in, int *out, int n) {
    __shared__ int part[100];
    int t = threadIdx.x;
    if (t >= n) return;
    part[t] = in[t];
    __syncthreads();
    out[t] = part[n - 1 - t];
}
extern "C" __global__ void counted(const int *in, int *out) {
    int t = threadIdx.x, x = in[blockIdx.x * blockDim.x + t];
    int a = __syncthreads_count(x > 10), b = __syncthreads_and(x > 2), c = __syncthreads_or(x > 95);
    out[blockIdx.x * blockDim.x + t] = a * 100 + b * 10 + c;
}
extern "C" __global__ void producer_consumer(const int *in, int *out, int rounds) {
    __shared__ int box[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int r = 0; r < rounds; r++) {
        if (warp == 0) {
            box[lane] = in[r * 32 + lane] * 2;
            asm volatile("bar.arrive 1, 64;" ::: "memory");
            asm volatile("bar.sync 2, 64;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            out[r * 32 + lane] = box[31 - lane];
            asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    }
}
extern "C" __global__ void group_barriers(const int *in, int *out) {  // one barrier a pair of warps
    __shared__ int part[256];
    int t = threadIdx.x, group = t / 64;
    int x = in[t];
    for (int k = 0; k <= group; k++) {
        part[t] = x;
        asm volatile("bar.sync %0, 64;" ::"r"(group + 1) : "memory");
        x += part[group * 64 + (t + 1) % 64];
        asm volatile("bar.sync %0, 64;" ::"r"(group + 1) : "memory");
    }
    out[t] = x;
}
extern "C" __global__ void volatile_warp(const int *in, int *out) {
    __shared__ volatile int part[64];
    int t = threadIdx.x;
    part[t] = in[t];
    part[t + 32] = 0;
    part[t] += part[t + 16];
    part[t] += part[t + 8];
    part[t] += part[t + 4];
    part[t] += part[t + 2];
    part[t] += part[t + 1];
    if (t == 0) *out = part[0];
}
extern "C" __global__ void every_atomic(int *signed_, unsigned *plain, unsigned long long *wide, float *real,
                                        double *twice, int *old) {
    int t = threadIdx.x;
    old[t] = atomicAdd(&signed_[0], t); atomicSub(&signed_[1], t); atomicMin(&signed_[2], -t); atomicMax(&signed_[3], t);
    atomicAnd(&plain[0], ~(1u << t % 32)); atomicOr(&plain[1], 1u << t % 20); atomicXor(&plain[2], t);
    atomicInc(&plain[3], 9); atomicDec(&plain[4], 6); atomicExch(&plain[5], 77); atomicCAS(&plain[6], t, t + 1);
    atomicMin(&plain[7], 1000u - t); atomicAdd(&wide[0], 1ull << t % 40); atomicMax(&wide[1], 1ull << t % 50);
    atomicAnd(&wide[2], ~(1ull << t % 60)); atomicAdd(&real[0], t * 0.5f); atomicExch(&real[1], 2.5f);
    atomicAdd(&twice[0], 1.0 / (t + 1));
    __shared__ int s[4];
    __shared__ unsigned u[2];
    if (t < 4) s[t] = t == 2 ? 1000 : 0;
    if (t < 2) u[t] = 0;
    __syncthreads();
    atomicAdd(&s[0], t); atomicMax(&s[1], t); atomicMin(&s[2], t); atomicXor(&s[3], t * 3);
    atomicInc(&u[0], 10); atomicAdd_block(&u[1], 2u);
    __syncthreads();
    if (t < 4) signed_[4 + t] = s[t];
    if (t < 2) plain[8 + t] = u[t];
}
