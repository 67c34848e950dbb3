__constant__ float c[64];
extern "C" __global__ void const_dyn(float* a){ int t=threadIdx.x; a[t]=c[t%64]+c[blockIdx.x]+c[3]; }