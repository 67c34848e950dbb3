extern "C" __global__ void mm_tiled16(const float* __restrict__ M, const float* __restrict__ N, float* P, int W) {
  __shared__ float Ms[16][16]; __shared__ float Ns[16][16];
  int tx=threadIdx.x, ty=threadIdx.y, Row=blockIdx.y*16+ty, Col=blockIdx.x*16+tx; float v=0;
  for(int ph=0; ph<W/16; ++ph){ Ms[ty][tx]=M[Row*W+ph*16+tx]; Ns[ty][tx]=N[(ph*16+ty)*W+Col]; __syncthreads();
    for(int k=0;k<16;++k) v+=Ms[ty][k]*Ns[k][tx]; __syncthreads(); }
  P[Row*W+Col]=v; }
extern "C" __global__ void mm_tiled32(const float* __restrict__ M, const float* __restrict__ N, float* P, int W) {
  __shared__ float Ms[32][32]; __shared__ float Ns[32][32];
  int tx=threadIdx.x, ty=threadIdx.y, Row=blockIdx.y*32+ty, Col=blockIdx.x*32+tx; float v=0;
  for(int ph=0; ph<W/32; ++ph){ Ms[ty][tx]=M[Row*W+ph*32+tx]; Ns[ty][tx]=N[(ph*32+ty)*W+Col]; __syncthreads();
    for(int k=0;k<32;++k) v+=Ms[ty][k]*Ns[k][tx]; __syncthreads(); }
  P[Row*W+Col]=v; }
extern "C" __global__ void mm_naive_16x16(const float* __restrict__ M, const float* __restrict__ N, float* P, int W){
  int Row=blockIdx.y*blockDim.y+threadIdx.y, Col=blockIdx.x*blockDim.x+threadIdx.x;
  if(Row<W&&Col<W){float v=0; for(int k=0;k<W;++k) v+=M[Row*W+k]*N[k*W+Col]; P[Row*W+Col]=v;} }
extern "C" __global__ void mm_naive_32x8(const float* __restrict__ M, const float* __restrict__ N, float* P, int W){
  int Row=blockIdx.y*blockDim.y+threadIdx.y, Col=blockIdx.x*blockDim.x+threadIdx.x;
  if(Row<W&&Col<W){float v=0; for(int k=0;k<W;++k) v+=M[Row*W+k]*N[k*W+Col]; P[Row*W+Col]=v;} }
extern "C" __global__ void mm_naive_1x32(const float* __restrict__ M, const float* __restrict__ N, float* P, int W){
  int Row=blockIdx.y*blockDim.y+threadIdx.y, Col=blockIdx.x*blockDim.x+threadIdx.x;
  if(Row<W&&Col<W){float v=0; for(int k=0;k<W;++k) v+=M[Row*W+k]*N[k*W+Col]; P[Row*W+Col]=v;} }
extern "C" __global__ void mm_naive_32x32(const float* __restrict__ M, const float* __restrict__ N, float* P, int W){
  int Row=blockIdx.y*blockDim.y+threadIdx.y, Col=blockIdx.x*blockDim.x+threadIdx.x;
  if(Row<W&&Col<W){float v=0; for(int k=0;k<W;++k) v+=M[Row*W+k]*N[k*W+Col]; P[Row*W+Col]=v;} }
extern "C" __global__ void stride1(const float* a, float* b, int stride, int offset){
  int i=blockIdx.x*blockDim.x+threadIdx.x; b[i]=a[i*stride+offset]; }
extern "C" __global__ void stride2(const float* a, float* b, int stride, int offset){
  int i=blockIdx.x*blockDim.x+threadIdx.x; b[i]=a[i*stride+offset]; }
extern "C" __global__ void stride4(const float* a, float* b, int stride, int offset){
  int i=blockIdx.x*blockDim.x+threadIdx.x; b[i]=a[i*stride+offset]; }
extern "C" __global__ void stride16(const float* a, float* b, int stride, int offset){
  int i=blockIdx.x*blockDim.x+threadIdx.x; b[i]=a[i*stride+offset]; }
extern "C" __global__ void stride32(const float* a, float* b, int stride, int offset){
  int i=blockIdx.x*blockDim.x+threadIdx.x; b[i]=a[i*stride+offset]; }
extern "C" __global__ void offset1(const float* a, float* b, int stride, int offset){
  int i=blockIdx.x*blockDim.x+threadIdx.x; b[i]=a[i*stride+offset]; }
extern "C" __global__ void offset2(const float* a, float* b, int stride, int offset){
  int i=blockIdx.x*blockDim.x+threadIdx.x; b[i]=a[i*stride+offset]; }
extern "C" __global__ void offset8(const float* a, float* b, int stride, int offset){
  int i=blockIdx.x*blockDim.x+threadIdx.x; b[i]=a[i*stride+offset]; }
extern "C" __global__ void offset16(const float* a, float* b, int stride, int offset){
  int i=blockIdx.x*blockDim.x+threadIdx.x; b[i]=a[i*stride+offset]; }
extern "C" __global__ void vec_char(const char* a, char* b){ int i=blockIdx.x*blockDim.x+threadIdx.x; b[i]=a[i]; }
extern "C" __global__ void vec_float2(const float2* a, float2* b){ int i=blockIdx.x*blockDim.x+threadIdx.x; b[i]=a[i]; }
extern "C" __global__ void vec_float4(const float4* a, float4* b){ int i=blockIdx.x*blockDim.x+threadIdx.x; b[i]=a[i]; }
extern "C" __global__ void vec_double(const double* a, double* b){ int i=blockIdx.x*blockDim.x+threadIdx.x; b[i]=a[i]; }
extern "C" __global__ void shstride1(float* out, int stride){
  __shared__ volatile float s[2048]; int t=threadIdx.x; 
  s[(t*stride)&2047]=t; __syncthreads(); out[blockIdx.x*blockDim.x+t]=s[(t*stride)&2047]; }
extern "C" __global__ void shstride2(float* out, int stride){
  __shared__ volatile float s[2048]; int t=threadIdx.x; 
  s[(t*stride)&2047]=t; __syncthreads(); out[blockIdx.x*blockDim.x+t]=s[(t*stride)&2047]; }
extern "C" __global__ void shstride4(float* out, int stride){
  __shared__ volatile float s[2048]; int t=threadIdx.x; 
  s[(t*stride)&2047]=t; __syncthreads(); out[blockIdx.x*blockDim.x+t]=s[(t*stride)&2047]; }
extern "C" __global__ void shstride5(float* out, int stride){
  __shared__ volatile float s[2048]; int t=threadIdx.x; 
  s[(t*stride)&2047]=t; __syncthreads(); out[blockIdx.x*blockDim.x+t]=s[(t*stride)&2047]; }
extern "C" __global__ void shstride7(float* out, int stride){
  __shared__ volatile float s[2048]; int t=threadIdx.x; 
  s[(t*stride)&2047]=t; __syncthreads(); out[blockIdx.x*blockDim.x+t]=s[(t*stride)&2047]; }
extern "C" __global__ void shstride8(float* out, int stride){
  __shared__ volatile float s[2048]; int t=threadIdx.x; 
  s[(t*stride)&2047]=t; __syncthreads(); out[blockIdx.x*blockDim.x+t]=s[(t*stride)&2047]; }
extern "C" __global__ void shstride16(float* out, int stride){
  __shared__ volatile float s[2048]; int t=threadIdx.x; 
  s[(t*stride)&2047]=t; __syncthreads(); out[blockIdx.x*blockDim.x+t]=s[(t*stride)&2047]; }
extern "C" __global__ void shstride33(float* out, int stride){
  __shared__ volatile float s[2048]; int t=threadIdx.x; 
  s[(t*stride)&2047]=t; __syncthreads(); out[blockIdx.x*blockDim.x+t]=s[(t*stride)&2047]; }
extern "C" __global__ void shstride0(float* out, int stride){
  __shared__ volatile float s[2048]; int t=threadIdx.x; 
  s[(t*stride)&2047]=t; __syncthreads(); out[blockIdx.x*blockDim.x+t]=s[(t*stride)&2047]; }
extern "C" __global__ void shvec_short_1(short* out, int stride){
  __shared__ short s[1024]; int t=threadIdx.x; short z=out[t];
  s[(t*stride)&1023]=z; __syncthreads(); out[blockIdx.x*blockDim.x+t]=s[((t*stride)^1)&1023]; }
extern "C" __global__ void shvec_short_2(short* out, int stride){
  __shared__ short s[1024]; int t=threadIdx.x; short z=out[t];
  s[(t*stride)&1023]=z; __syncthreads(); out[blockIdx.x*blockDim.x+t]=s[((t*stride)^1)&1023]; }
extern "C" __global__ void shvec_short_4(short* out, int stride){
  __shared__ short s[1024]; int t=threadIdx.x; short z=out[t];
  s[(t*stride)&1023]=z; __syncthreads(); out[blockIdx.x*blockDim.x+t]=s[((t*stride)^1)&1023]; }
extern "C" __global__ void shvec_short_16(short* out, int stride){
  __shared__ short s[1024]; int t=threadIdx.x; short z=out[t];
  s[(t*stride)&1023]=z; __syncthreads(); out[blockIdx.x*blockDim.x+t]=s[((t*stride)^1)&1023]; }
extern "C" __global__ void shvec_float2_1(float2* out, int stride){
  __shared__ float2 s[1024]; int t=threadIdx.x; float2 z=out[t];
  s[(t*stride)&1023]=z; __syncthreads(); out[blockIdx.x*blockDim.x+t]=s[((t*stride)^1)&1023]; }
extern "C" __global__ void shvec_float2_2(float2* out, int stride){
  __shared__ float2 s[1024]; int t=threadIdx.x; float2 z=out[t];
  s[(t*stride)&1023]=z; __syncthreads(); out[blockIdx.x*blockDim.x+t]=s[((t*stride)^1)&1023]; }
extern "C" __global__ void shvec_float2_4(float2* out, int stride){
  __shared__ float2 s[1024]; int t=threadIdx.x; float2 z=out[t];
  s[(t*stride)&1023]=z; __syncthreads(); out[blockIdx.x*blockDim.x+t]=s[((t*stride)^1)&1023]; }
extern "C" __global__ void shvec_float2_16(float2* out, int stride){
  __shared__ float2 s[1024]; int t=threadIdx.x; float2 z=out[t];
  s[(t*stride)&1023]=z; __syncthreads(); out[blockIdx.x*blockDim.x+t]=s[((t*stride)^1)&1023]; }
extern "C" __global__ void shvec_float4_1(float4* out, int stride){
  __shared__ float4 s[1024]; int t=threadIdx.x; float4 z=out[t];
  s[(t*stride)&1023]=z; __syncthreads(); out[blockIdx.x*blockDim.x+t]=s[((t*stride)^1)&1023]; }
extern "C" __global__ void shvec_float4_2(float4* out, int stride){
  __shared__ float4 s[1024]; int t=threadIdx.x; float4 z=out[t];
  s[(t*stride)&1023]=z; __syncthreads(); out[blockIdx.x*blockDim.x+t]=s[((t*stride)^1)&1023]; }
extern "C" __global__ void shvec_float4_4(float4* out, int stride){
  __shared__ float4 s[1024]; int t=threadIdx.x; float4 z=out[t];
  s[(t*stride)&1023]=z; __syncthreads(); out[blockIdx.x*blockDim.x+t]=s[((t*stride)^1)&1023]; }
extern "C" __global__ void shvec_float4_16(float4* out, int stride){
  __shared__ float4 s[1024]; int t=threadIdx.x; float4 z=out[t];
  s[(t*stride)&1023]=z; __syncthreads(); out[blockIdx.x*blockDim.x+t]=s[((t*stride)^1)&1023]; }
extern "C" __global__ void transpose_pad0(const float* in, float* out, int W){
  __shared__ float t[32][32+0]; int x=blockIdx.x*32+threadIdx.x, y=blockIdx.y*32+threadIdx.y;
  for(int j=0;j<32;j+=8) t[threadIdx.y+j][threadIdx.x]=in[(y+j)*W+x]; __syncthreads();
  x=blockIdx.y*32+threadIdx.x; y=blockIdx.x*32+threadIdx.y;
  for(int j=0;j<32;j+=8) out[(y+j)*W+x]=t[threadIdx.x][threadIdx.y+j]; }
struct S{float a,b,c,d,e;};
extern "C" __global__ void aos(const S* s, float* o){int i=blockIdx.x*blockDim.x+threadIdx.x; S v=s[i]; o[i]=v.a+v.b+v.c+v.d+v.e;}
#define STRIDE 32
#define OFFSET 0
#define GROUP_SIZE 512
extern "C" __global__ void square_32_0_512(float *a, int N){
  int n_elem_per_thread = N / (gridDim.x * blockDim.x);
  int block_start_idx = n_elem_per_thread * blockIdx.x * blockDim.x;
  int s = block_start_idx + (threadIdx.x / STRIDE) * n_elem_per_thread * STRIDE + ((threadIdx.x + OFFSET) % STRIDE);
  int e = s + n_elem_per_thread * STRIDE; if(e>N) e=N; int group=(threadIdx.x/GROUP_SIZE)&1;
  for(int i=s;i<e;i+=STRIDE){ if(!group) a[i]=a[i]*a[i]; else a[i]=a[i]+a[i]; } }
#define STRIDE 16
#define OFFSET 0
#define GROUP_SIZE 512
extern "C" __global__ void square_16_0_512(float *a, int N){
  int n_elem_per_thread = N / (gridDim.x * blockDim.x);
  int block_start_idx = n_elem_per_thread * blockIdx.x * blockDim.x;
  int s = block_start_idx + (threadIdx.x / STRIDE) * n_elem_per_thread * STRIDE + ((threadIdx.x + OFFSET) % STRIDE);
  int e = s + n_elem_per_thread * STRIDE; if(e>N) e=N; int group=(threadIdx.x/GROUP_SIZE)&1;
  for(int i=s;i<e;i+=STRIDE){ if(!group) a[i]=a[i]*a[i]; else a[i]=a[i]+a[i]; } }
#define STRIDE 32
#define OFFSET 0
#define GROUP_SIZE 16
extern "C" __global__ void square_32_0_16(float *a, int N){
  int n_elem_per_thread = N / (gridDim.x * blockDim.x);
  int block_start_idx = n_elem_per_thread * blockIdx.x * blockDim.x;
  int s = block_start_idx + (threadIdx.x / STRIDE) * n_elem_per_thread * STRIDE + ((threadIdx.x + OFFSET) % STRIDE);
  int e = s + n_elem_per_thread * STRIDE; if(e>N) e=N; int group=(threadIdx.x/GROUP_SIZE)&1;
  for(int i=s;i<e;i+=STRIDE){ if(!group) a[i]=a[i]*a[i]; else a[i]=a[i]+a[i]; } }
#define STRIDE 32
#define OFFSET 0
#define GROUP_SIZE 8
extern "C" __global__ void square_32_0_8(float *a, int N){
  int n_elem_per_thread = N / (gridDim.x * blockDim.x);
  int block_start_idx = n_elem_per_thread * blockIdx.x * blockDim.x;
  int s = block_start_idx + (threadIdx.x / STRIDE) * n_elem_per_thread * STRIDE + ((threadIdx.x + OFFSET) % STRIDE);
  int e = s + n_elem_per_thread * STRIDE; if(e>N) e=N; int group=(threadIdx.x/GROUP_SIZE)&1;
  for(int i=s;i<e;i+=STRIDE){ if(!group) a[i]=a[i]*a[i]; else a[i]=a[i]+a[i]; } }
__constant__ float c[1024];
extern "C" __global__ void const0(float* o, int m){ int i=threadIdx.x; o[blockIdx.x*blockDim.x+i]=c[(i*m)&1023]; }
extern "C" __global__ void const2(float* o, int m){ int i=threadIdx.x; o[blockIdx.x*blockDim.x+i]=c[(i*m)&1023]; }
