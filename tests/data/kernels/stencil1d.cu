#define R 3
extern "C" __global__ void stencil1d(const float* in,float* out,int n){ __shared__ float s[256+2*R]; int t=threadIdx.x,i=blockIdx.x*256+t; s[t+R]=in[i];
  if(t<R){ s[t]=i>=R?in[i-R]:0; s[t+256+R]=i+256<n?in[i+256]:0; } __syncthreads(); float v=0; for(int j=-R;j<=R;j++) v+=s[t+R+j]; out[i]=v; }