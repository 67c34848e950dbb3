// Reductions, scans, histograms: the classic exercises, in their usual steps.
extern __shared__ float dynamic[];

extern "C" __global__ void reduce0(const float *in, float *out, unsigned n) {
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    dynamic[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if (t % (2 * s) == 0) dynamic[t] += dynamic[t + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = dynamic[0];
}
extern "C" __global__ void reduce1(const float *in, float *out, unsigned n) {
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    dynamic[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        unsigned at = 2 * s * t;
        if (at < blockDim.x) dynamic[at] += dynamic[at + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = dynamic[0];
}
extern "C" __global__ void reduce2(const float *in, float *out, unsigned n) {
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    dynamic[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) dynamic[t] += dynamic[t + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = dynamic[0];
}
extern "C" __global__ void reduce3(const float *in, float *out, unsigned n) {
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
    float sum = i < n ? in[i] : 0.0f;
    if (i + blockDim.x < n) sum += in[i + blockDim.x];
    dynamic[t] = sum;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) dynamic[t] = sum = sum + dynamic[t + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sum;
}
__device__ void last_warp(volatile float *data, unsigned t) {
    data[t] += data[t + 32];
    data[t] += data[t + 16];
    data[t] += data[t + 8];
    data[t] += data[t + 4];
    data[t] += data[t + 2];
    data[t] += data[t + 1];
}
extern "C" __global__ void reduce4(const float *in, float *out, unsigned n) {
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
    float sum = i < n ? in[i] : 0.0f;
    if (i + blockDim.x < n) sum += in[i + blockDim.x];
    dynamic[t] = sum;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 32; s >>= 1) {
        if (t < s) dynamic[t] += dynamic[t + s];
        __syncthreads();
    }
    if (t < 32) last_warp(dynamic, t);
    if (t == 0) out[blockIdx.x] = dynamic[0];
}
template <unsigned SIZE>
__device__ float unrolled(const float *in, unsigned n) {
    __shared__ float part[SIZE];
    unsigned t = threadIdx.x;
    float sum = 0;
    for (unsigned i = blockIdx.x * SIZE * 2 + t; i < n; i += SIZE * 2 * gridDim.x) {
        sum += in[i];
        if (i + SIZE < n) sum += in[i + SIZE];
    }
    part[t] = sum;
    __syncthreads();
    if (SIZE >= 512) { if (t < 256) part[t] += part[t + 256]; __syncthreads(); }
    if (SIZE >= 256) { if (t < 128) part[t] += part[t + 128]; __syncthreads(); }
    if (SIZE >= 128) { if (t < 64) part[t] += part[t + 64]; __syncthreads(); }
    if (t < 32) {
        sum = part[t] + (SIZE >= 64 ? part[t + 32] : 0.0f);
        for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    }
    return sum;
}
extern "C" __global__ void reduce5(const float *in, float *out, unsigned n) {
    float sum = unrolled<256>(in, n);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
extern "C" __global__ void reduce6(const float *in, float *out, unsigned n) {
    float sum = unrolled<512>(in, n);
    if (threadIdx.x == 0) atomicAdd(out, sum);
}

extern "C" __global__ void scan_hillis(const int *in, int *out, int n) {
    __shared__ int part[2][256];
    int t = threadIdx.x, from = 0;
    part[0][t] = t < n ? in[t] : 0;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        part[1 - from][t] = part[from][t] + (t >= d ? part[from][t - d] : 0);
        from = 1 - from;
        __syncthreads();
    }
    if (t < n) out[t] = part[from][t];
}
extern "C" __global__ void scan_blelloch(const int *in, int *out, int n) {
    __shared__ int part[512];
    int t = threadIdx.x, offset = 1;
    part[2 * t] = in[2 * t];
    part[2 * t + 1] = in[2 * t + 1];
    for (int d = n >> 1; d > 0; d >>= 1, offset *= 2) {
        __syncthreads();
        if (t < d) part[offset * (2 * t + 2) - 1] += part[offset * (2 * t + 1) - 1];
    }
    if (t == 0) part[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            int kept = part[a];
            part[a] = part[b];
            part[b] += kept;
        }
    }
    __syncthreads();
    out[2 * t] = part[2 * t];
    out[2 * t + 1] = part[2 * t + 1];
}
extern "C" __global__ void scan_look_back(const int *in, int *out, volatile int *flag,
                                          volatile int *sum, volatile int *prefix, unsigned *ticket,
                                          int n) {
    __shared__ int part[128], before;
    __shared__ unsigned mine;
    int t = threadIdx.x;
    if (t == 0) mine = atomicAdd(ticket, 1u);
    __syncthreads();
    int i = mine * 128 + t;
    part[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        int add = t >= d ? part[t - d] : 0;
        __syncthreads();
        part[t] += add;
        __syncthreads();
    }
    if (t == 0) {
        int total = part[127], running = 0;
        sum[mine] = total;
        __threadfence();
        flag[mine] = 1;
        for (int p = (int)mine - 1; p >= 0; p--) {
            int state;
            while ((state = flag[p]) == 0) { }
            __threadfence();
            if (state == 2) { running += prefix[p]; break; }
            running += sum[p];
        }
        prefix[mine] = running + total;
        __threadfence();
        flag[mine] = 2;
        before = running;
    }
    __syncthreads();
    if (i < n) out[i] = part[t] + before;
}
extern "C" __global__ void histogram_global(const unsigned char *in, unsigned *bins, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&bins[in[i]], 1);
}
extern "C" __global__ void histogram_shared(const unsigned char *in, unsigned *bins, int n) {
    __shared__ unsigned own[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) own[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&own[in[i]], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        if (own[b]) atomicAdd(&bins[b], own[b]);
}
extern "C" __global__ void dot(const float *a, const float *b, float *out, int n) {
    __shared__ float part[8];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        sum += a[i] * b[i];
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
        for (int d = 4; d; d >>= 1) sum += __shfl_down_sync(~0u, sum, d);
        if (threadIdx.x == 0) atomicAdd(out, sum);
    }
}
__device__ double add_double(double *address, double value) {
    unsigned long long *bits = (unsigned long long *)address, old = *bits, seen;
    do {
        seen = old;
        old = atomicCAS(bits, seen, __double_as_longlong(value + __longlong_as_double(seen)));
    } while (seen != old);
    return __longlong_as_double(old);
}
__device__ float max_float(float *address, float value) {
    int *bits = (int *)address, old = *bits, seen;
    do {
        seen = old;
        old = atomicCAS(bits, seen, __float_as_int(fmaxf(value, __int_as_float(seen))));
    } while (seen != old);
    return __int_as_float(old);
}
extern "C" __global__ void loops_of_cas(const double *in, double *sum, const float *values,
                                        float *largest, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    add_double(&sum[i % 3], in[i]);
    max_float(largest, values[i]);
}
__device__ unsigned blocks_done = 0;
extern "C" __global__ void last_block_sums(const float *in, volatile float *part, float *out, int n) {
    __shared__ float own[64];
    __shared__ bool last;
    float sum = 0;
    for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) sum += in[i];
    own[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 32; s; s /= 2) {
        if (threadIdx.x < s) own[threadIdx.x] += own[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        part[blockIdx.x] = own[0];
        __threadfence();
        last = atomicInc(&blocks_done, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float total = 0;
        for (int b = 0; b < gridDim.x; b++) total += part[b];
        *out = total;
    }
}
