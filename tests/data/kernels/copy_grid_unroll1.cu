extern "C" __global__ void copy_grid_unroll1(const float* __restrict__ in,float* __restrict__ out,int n){ 
#pragma unroll 1
for(int i=blockIdx.x*128+threadIdx.x;i<n;i+=gridDim.x*128) out[i]=in[i]*2; }