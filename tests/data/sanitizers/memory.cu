// Kernels that access what is not theirs. The lines at fault are marked `fault: KERNEL`.
// Their launches are in launches.toml.

extern "C" __global__ void past_end(const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * 2.0f;  // fault: past_end
}

extern "C" __global__ void before_start(const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] - in[i - 4];  // fault: before_start
}

extern "C" __global__ void misaligned(const float* in, float4* out)
{
    int i = threadIdx.x;
    out[i] = *(const float4*)(in + 4 * i + 1);  // fault: misaligned
}

extern "C" __global__ void shared_past_end(float* out, int shift)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t + shift] = t;  // fault: shared_past_end
    __syncthreads();
    out[t] = tile[63 - t];
}

extern "C" __global__ void local_past_end(const int* index, int* out)
{
    int own[8];
    for (int i = 0; i < 8; ++i) own[i] = i * threadIdx.x;
    out[threadIdx.x] = own[index[threadIdx.x]];  // fault: local_past_end
}

extern "C" __global__ void heap_past_end(int* out, int last)
{
    int* own = (int*)malloc(4 * sizeof(int));
    if (!own) return;
    for (int i = 0; i <= last; ++i) own[i] = i;  // fault: heap_past_end
    out[threadIdx.x] = own[0] + own[3];
    free(own);
}
