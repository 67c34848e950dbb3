extern "C" __global__ void red_grid(const float* in,float* out,int n){ __shared__ float s[256]; int t=threadIdx.x; float v=0;
  for(int i=blockIdx.x*256+t;i<n;i+=gridDim.x*256) v+=in[i]; s[t]=v; __syncthreads();
  for(int d=128;d>0;d>>=1){ if(t<d) s[t]+=s[t+d]; __syncthreads(); } if(t==0) atomicAdd(out,s[0]); }