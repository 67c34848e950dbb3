// Kernels whose threads touch the same bytes in no order, one of them writing.
// The lines at fault are marked `fault: KERNEL`. Their launches are in launches.toml.

extern "C" __global__ void no_barrier(const float* in, float* out)
{
    __shared__ float tile[128];
    int t = threadIdx.x;
    tile[t] = in[t];  // fault: no_barrier
    out[t] = tile[127 - t];  // fault: no_barrier
}

extern "C" __global__ void one_barrier(const float* in, float* out, int turns)
{
    __shared__ float tile[128];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int turn = 0; turn < turns; ++turn) {
        tile[t] = in[turn * 128 + t];  // fault: one_barrier
        __syncthreads();
        sum += tile[127 - t];  // fault: one_barrier
    }
    out[t] = sum;
}

extern "C" __global__ void no_warp_sync(const float* in, float* out)
{
    __shared__ float part[32];
    int lane = threadIdx.x;
    part[lane] = in[lane];
    __syncwarp();
    for (int half = 16; half > 0; half /= 2)
        if (lane < half) part[lane] += part[lane + half];  // fault: no_warp_sync
    if (lane == 0) *out = part[0];
}

extern "C" __global__ void half_mask(const float* in, float* out)
{
    __shared__ float part[32];
    int lane = threadIdx.x;
    part[lane] = in[lane];  // fault: half_mask
    __syncwarp(lane < 16 ? 0x0000ffffu : 0xffff0000u);
    out[lane] = part[31 - lane];  // fault: half_mask
}

extern "C" __global__ void two_lanes_one_word(const int* in, int* out)
{
    __shared__ int last[16];
    int lane = threadIdx.x;
    last[lane / 2] = in[lane];  // fault: two_lanes_one_word
    __syncthreads();
    out[lane] = last[lane / 2];
}

extern "C" __global__ void in_place(float* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) {
        float mean = (x[i - 1] + x[i + 1]) / 2.0f;  // fault: in_place
        x[i] = mean;  // fault: in_place
    }
}

extern "C" __global__ void no_fence(const float* in, float* part, unsigned* done, float* out)
{
    __shared__ bool last;
    __shared__ float sums[64];
    int t = threadIdx.x;
    sums[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    if (t == 0) {
        float sum = 0.0f;
        for (int i = 0; i < 64; ++i) sum += sums[i];
        part[blockIdx.x] = sum;  // fault: no_fence
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        float sum = 0.0f;
        for (int b = 0; b < gridDim.x; ++b) sum += part[b];  // fault: no_fence
        *out = sum;
    }
}

extern "C" __global__ void copy_not_awaited(const float* in, float* out)
{
    __shared__ __align__(16) float tile[256];
    int t = threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(tile + 4 * t);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + 4 * t) : "memory");  // fault: copy_not_awaited
    asm volatile("cp.async.commit_group;" ::: "memory");
    __syncthreads();
    out[t] = tile[255 - t];  // fault: copy_not_awaited
    asm volatile("cp.async.wait_all;" ::: "memory");
}
