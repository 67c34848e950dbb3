// Copies with a stride, an offset, a width, through an index, from an array of structures.
struct Particle { float x, y, z, vx, vy; };
struct __align__(16) Padded { float x, y, z, vx, vy; };

extern "C" __global__ void strided(const float* from, float* to, int stride, int offset)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    to[thread] = from[thread * stride + offset];
}

extern "C" __global__ void scattered(const float* from, float* to, int stride, int offset)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    to[thread * stride + offset] = from[thread];
}

extern "C" __global__ void gathered(const float* from, float* to, const int* index)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    to[thread] = from[index[thread]];
}

template <typename Element>
__device__ void copy(const Element* from, Element* to)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    to[thread] = from[thread];
}

extern "C" __global__ void bytes1(const unsigned char* a, unsigned char* b) { copy(a, b); }
extern "C" __global__ void bytes2(const short* a, short* b) { copy(a, b); }
extern "C" __global__ void bytes8(const float2* a, float2* b) { copy(a, b); }
extern "C" __global__ void bytes16(const float4* a, float4* b) { copy(a, b); }
extern "C" __global__ void doubles(const double* a, double* b) { copy(a, b); }
extern "C" __global__ void triples(const double3* a, double3* b) { copy(a, b); }
extern "C" __global__ void packed(const float3* a, float3* b) { copy(a, b); }

extern "C" __global__ void structures(const Particle* all, float* sums)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    Particle one = all[thread];
    sums[thread] = one.x + one.y + one.z + one.vx + one.vy;
}

extern "C" __global__ void aligned_structures(const Padded* all, float* sums)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    Padded one = all[thread];
    sums[thread] = one.x + one.y + one.z + one.vx + one.vy;
}

extern "C" __global__ void guarded(const float* from, float* to, int count)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < count) to[thread] = from[thread] * 2.0f;
}

extern "C" __global__ void every_third_lane(const float* from, float* to)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x % 3 == 0) to[thread] = from[thread] + 1.0f;
}
