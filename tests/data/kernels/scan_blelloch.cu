extern "C" __global__ void scan_blelloch(const float* in,float* out,int n){ __shared__ float s[512]; int t=threadIdx.x,o=1; s[2*t]=in[blockIdx.x*512+2*t]; s[2*t+1]=in[blockIdx.x*512+2*t+1];
  for(int d=256;d>0;d>>=1){ __syncthreads(); if(t<d){ int a=o*(2*t+1)-1,b=o*(2*t+2)-1; s[b]+=s[a]; } o*=2; }
  if(t==0) s[511]=0;
  for(int d=1;d<512;d*=2){ o>>=1; __syncthreads(); if(t<d){ int a=o*(2*t+1)-1,b=o*(2*t+2)-1; float x=s[a]; s[a]=s[b]; s[b]+=x; } }
  __syncthreads(); out[blockIdx.x*512+2*t]=s[2*t]; out[blockIdx.x*512+2*t+1]=s[2*t+1]; }