// Each thread copies an element, with a stride.
extern "C" __global__ void shift(const float* in, float* out, int count, int stride)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * stride % count;
    out[i] = in[i] + 1.0f;
}
