extern "C" __global__ void red_unrolled(const float* in,float* out,int n){ __shared__ float s[256]; int t=threadIdx.x,i=blockIdx.x*256+t;
  s[t]=i<n?in[i]:0; __syncthreads(); 
#define S(d) if(t<d) s[t]+=s[t+d]; __syncthreads();
  S(128) S(64) S(32) S(16) S(8) S(4) S(2) S(1) if(t==0) out[blockIdx.x]=s[0]; }