#include <cuda_fp16.h>
#define T 16
extern "C" __global__ void half_mm(const __half* __restrict__ A,const __half* __restrict__ B,float* __restrict__ C,int n){
  __shared__ __half As[T][T],Bs[T][T]; int tx=threadIdx.x,ty=threadIdx.y,row=blockIdx.y*T+ty,col=blockIdx.x*T+tx; float acc=0;
  for(int t=0;t<n/T;t++){ As[ty][tx]=A[row*n+t*T+tx]; Bs[ty][tx]=B[(t*T+ty)*n+col]; __syncthreads();
    for(int i=0;i<T;i++) acc+=__half2float(As[ty][i])*__half2float(Bs[i][tx]); __syncthreads(); }
  C[row*n+col]=acc; }