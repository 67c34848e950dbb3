// 256 floats in the opposite order, through shared memory.
extern "C" __global__ void reverse(const float* source, float* result)
{
    __shared__ float kept[256];
    kept[threadIdx.x] = source[threadIdx.x];
    result[threadIdx.x] = kept[255 - threadIdx.x];
}
