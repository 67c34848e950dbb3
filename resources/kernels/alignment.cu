// Five floats a particle, laid out in three ways; every thread reads one particle.
struct Packed { float x, y, z, mass, charge; };                // 20 bytes
struct __align__(16) Aligned { float x, y, z, mass, charge; };  // 32 bytes, 12 of them padding

extern "C" __global__ void packed(const Packed* p, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = p[i].x + p[i].y + p[i].z + p[i].mass + p[i].charge;
}

extern "C" __global__ void aligned(const Aligned* p, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = p[i].x + p[i].y + p[i].z + p[i].mass + p[i].charge;
}

extern "C" __global__ void arrays(const float* x, const float* y, const float* z,
                                  const float* mass, const float* charge, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = x[i] + y[i] + z[i] + mass[i] + charge[i];
}
