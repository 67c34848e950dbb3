// Loads and stores whose cost depends on the type, the path, or the memory space.

struct Three { float x, y, z; };
struct Five { float a, b, c, d, e; };
struct __align__(16) Aligned { float a, b, c, d, e; };
struct Bytes { unsigned char r, g, b; };

#define AT int t = blockIdx.x * blockDim.x + threadIdx.x; int at = (t * stride + offset) % 4096

extern "C" __global__ void three(const Three* in, float* out, int stride, int offset) {
  AT; Three v = in[at]; out[t] = v.x + v.y * v.z;
}
extern "C" __global__ void five(const Five* in, float* out, int stride, int offset) {
  AT; Five v = in[at]; out[t] = v.a + v.b * v.c + v.d * v.e;
}
extern "C" __global__ void aligned(const Aligned* in, float* out, int stride, int offset) {
  AT; Aligned v = in[at]; out[t] = v.a + v.b * v.c + v.d * v.e;
}
extern "C" __global__ void bytes(const Bytes* in, float* out, int stride, int offset) {
  AT; Bytes v = in[at]; out[t] = v.r + v.g * v.b;
}
extern "C" __global__ void pair(const float2* in, float* out, int stride, int offset) {
  AT; float2 v = in[at]; out[t] = v.x + v.y;
}
extern "C" __global__ void quad(const float4* in, float* out, int stride, int offset) {
  AT; float4 v = in[at]; out[t] = v.x + v.y * v.z + v.w;
}
extern "C" __global__ void store_three(Three* to, const float* in, int stride, int offset) {
  AT; float v = in[t]; to[at] = Three{v, v + 1, v + 2};
}
extern "C" __global__ void store_quad(float4* to, const float* in, int stride, int offset) {
  AT; float v = in[t]; to[at] = make_float4(v, v + 1, v + 2, v + 3);
}
extern "C" __global__ void read_only(const float* __restrict__ in, float* __restrict__ out,
                                     int stride, int offset) {
  AT; out[t] = __ldg(in + at);
}
extern "C" __global__ void read_only_quad(const float4* __restrict__ in, float* __restrict__ out,
                                          int stride, int offset) {
  AT; float4 v = __ldg(in + at); out[t] = v.x + v.y * v.z + v.w;
}
extern "C" __global__ void local_int(const int* in, int* out, int stride, int offset) {
  AT;
  int a[32];
  for (int i = 0; i < 32; ++i) a[i] = in[(at + i) % 4096];
  out[t] = a[at & 31] + a[(at >> 5) + (at >> 3) & 31];
}
extern "C" __global__ void local_double(const double* in, double* out, int stride, int offset) {
  AT;
  double a[16];
  for (int i = 0; i < 16; ++i) a[i] = in[(at + i) % 4096];
  out[t] = a[at & 15] + a[at >> 4 & 15];
}
extern "C" __global__ void local_quad(const float4* in, float4* out, int stride, int offset) {
  AT;
  float4 a[8];
  for (int i = 0; i < 8; ++i) a[i] = in[(at + i) % 4096];
  out[t] = a[at & 7];
}
extern "C" __global__ void local_byte(const unsigned char* in, unsigned char* out, int stride,
                                      int offset) {
  AT;
  unsigned char a[64];
  for (int i = 0; i < 64; ++i) a[i] = in[(at + i) % 4096];
  out[t] = a[at & 63];
}

__constant__ float table1[4096];
__constant__ double table2[2048];
__constant__ float4 table4[1024];

extern "C" __global__ void constant_float(float* out, int stride, int modulo) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  out[t] = table1[t * stride % modulo];
}
extern "C" __global__ void constant_double(double* out, int stride, int modulo) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  out[t] = table2[t * stride % modulo];
}
extern "C" __global__ void constant_quad(float4* out, int stride, int modulo) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  out[t] = table4[t * stride % modulo];
}
