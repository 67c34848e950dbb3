#define T 16
#define R 4
extern "C" __global__ void tr16_4_0(const float* __restrict__ in,float* __restrict__ out,int w){
  __shared__ float s[T][T+0]; int x=blockIdx.x*T+threadIdx.x,y=blockIdx.y*T+threadIdx.y;
  for(int j=0;j<T;j+=R) s[threadIdx.y+j][threadIdx.x]=in[(y+j)*w+x];
  __syncthreads(); x=blockIdx.y*T+threadIdx.x; y=blockIdx.x*T+threadIdx.y;
  for(int j=0;j<T;j+=R) out[(y+j)*w+x]=s[threadIdx.x][threadIdx.y+j]; }