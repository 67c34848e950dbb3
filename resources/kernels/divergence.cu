// Groups of lanes take one of two paths, in turn. Each path repeats a small computation.
extern "C" __global__ void two_paths(const float* in, float* out, int group, int first, int second)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
    if (threadIdx.x / group % 2 == 0) {
#pragma unroll 1
        for (int k = 0; k < first; ++k)  // path A
            x = x * 0.5f + 1.0f;  // path A
    } else {
#pragma unroll 1
        for (int k = 0; k < second; ++k)  // path B
            x = x * 0.25f - 1.0f;  // path B
    }
    out[i] = x;
}
