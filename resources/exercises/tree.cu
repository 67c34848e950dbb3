// The sum of 256 floats: halves are added to halves.
extern "C" __global__ void tree(const float* source, float* result)
{
    __shared__ float kept[256];
    int i = threadIdx.x;
    kept[i] = source[i];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (i < half)
            kept[i] += kept[i + half];
    }
    if (i == 0)
        result[0] = kept[0];
}
