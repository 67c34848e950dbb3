extern "C" __global__ void hist_priv(const unsigned* in,unsigned* out,int n){ __shared__ unsigned char h[64][32]; int t=threadIdx.x;
  for(int b=0;b<64;b++) h[b][t]=0; for(int i=t;i<n;i+=32) h[in[i]&63][t]++; __syncthreads();
  for(int b=t;b<64;b+=32){ unsigned s=0; for(int j=0;j<32;j++) s+=h[b][j]; atomicAdd(&out[b],s); } }