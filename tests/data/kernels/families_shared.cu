// Shared memory: strides, widths, broadcasts, reductions, a histogram, a scan.
template <typename Element>
__device__ void permute(Element* out, int stride)
{
    __shared__ Element cells[1024];
    int thread = threadIdx.x;
    Element mine = out[thread];
    for (int i = thread; i < 1024; i += blockDim.x) cells[i] = mine;
    __syncthreads();
    out[blockIdx.x * blockDim.x + thread] = cells[(thread * stride) & 1023];
}

extern "C" __global__ void stride_short(short* out, int stride) { permute(out, stride); }
extern "C" __global__ void stride_float(float* out, int stride) { permute(out, stride); }
extern "C" __global__ void stride_float2(float2* out, int stride) { permute(out, stride); }
extern "C" __global__ void stride_float4(float4* out, int stride) { permute(out, stride); }

extern "C" __global__ void reduce_interleaved(const float* in, float* out)
{
    __shared__ float partial[256];
    int thread = threadIdx.x;
    partial[thread] = in[blockIdx.x * 256 + thread];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        int left = 2 * step * thread;
        if (left < 256) partial[left] += partial[left + step];
        __syncthreads();
    }
    if (thread == 0) out[blockIdx.x] = partial[0];
}

extern "C" __global__ void reduce_sequential(const float* in, float* out)
{
    __shared__ float partial[256];
    int thread = threadIdx.x;
    partial[thread] = in[blockIdx.x * 256 + thread];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (thread < half) partial[thread] += partial[thread + half];
        __syncthreads();
    }
    if (thread == 0) out[blockIdx.x] = partial[0];
}

extern "C" __global__ void reduce_shuffled(const float* in, float* out)
{
    __shared__ float partial[8];
    int thread = threadIdx.x;
    float sum = in[blockIdx.x * 256 + thread];
    for (int delta = 16; delta > 0; delta /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, delta);
    if (thread % 32 == 0) partial[thread / 32] = sum;
    __syncthreads();
    if (thread == 0) {
        float total = 0.0f;
        for (int warp = 0; warp < 8; ++warp) total += partial[warp];
        out[blockIdx.x] = total;
    }
}

extern "C" __global__ void histogram(const unsigned char* in, unsigned int* bins)
{
    __shared__ unsigned int mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < 4; ++i)
        atomicAdd(&mine[in[(blockIdx.x * 4 + i) * 256 + threadIdx.x]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

extern "C" __global__ void scan(const int* in, int* out)
{
    __shared__ int row[512];
    int thread = threadIdx.x, from = 0;
    row[thread] = in[blockIdx.x * 256 + thread];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        int value = row[from + thread];
        if (thread >= step) value += row[from + thread - step];
        from = 256 - from;
        row[from + thread] = value;
        __syncthreads();
    }
    out[blockIdx.x * 256 + thread] = row[from + thread];
}

extern "C" __global__ void stencil(const float* in, float* out, int count)
{
    __shared__ float cells[256 + 2 * 3];
    int thread = threadIdx.x, at = blockIdx.x * 256 + thread;
    cells[thread + 3] = in[at];
    if (thread < 3) {
        cells[thread] = at >= 3 ? in[at - 3] : 0.0f;
        cells[thread + 259] = at + 256 < count ? in[at + 256] : 0.0f;
    }
    __syncthreads();
    float sum = 0.0f;
    for (int i = 0; i < 7; ++i) sum += cells[thread + i];
    out[at] = sum;
}
