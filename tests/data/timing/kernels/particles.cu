// One step of n particles: eight floats each, in four layouts.
struct Particle { float x, y, z, vx, vy, vz, mass, charge; };

extern "C" __global__ void particles_structs(Particle *p, float dt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  p[i].x += dt * p[i].vx;
  p[i].y += dt * p[i].vy;
  p[i].z += dt * p[i].vz;
}
extern "C" __global__ void particles_arrays(float *x, float *y, float *z, const float *vx,
                                            const float *vy, const float *vz, float dt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  x[i] += dt * vx[i];
  y[i] += dt * vy[i];
  z[i] += dt * vz[i];
}
extern "C" __global__ void particles_vectors(float4 *position, const float4 *velocity, float dt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 p = position[i], v = velocity[i];
  p.x += dt * v.x;
  p.y += dt * v.y;
  p.z += dt * v.z;
  position[i] = p;
}
extern "C" __global__ void particles_chunks(float *p, float dt, int n) {  // 32 of a field side by side
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float *mine = p + (i / 32) * 256 + i % 32;
#pragma unroll
  for (int k = 0; k < 3; ++k) mine[32 * k] += dt * mine[32 * (k + 3)];
}
