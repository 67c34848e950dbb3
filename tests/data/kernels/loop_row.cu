extern "C" __global__ void loop_row(const float* in,float* out){ __shared__ float s[32][32]; int x=threadIdx.x,y=threadIdx.y; s[y][x]=in[y*32+x]; __syncthreads(); float v=0;
#pragma unroll 1
 for(int k=0;k<32;k++) v+=s[y][k]; out[y*32+x]=v; }