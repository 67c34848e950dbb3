#define T 16
extern "C" __global__ void mm_double(const double* __restrict__ A,const double* __restrict__ B,double* __restrict__ C,int n){
  __shared__ double As[T][T],Bs[T][T]; int tx=threadIdx.x,ty=threadIdx.y,row=blockIdx.y*T+ty,col=blockIdx.x*T+tx; double acc=0;
  for(int t=0;t<n/T;t++){ As[ty][tx]=A[row*n+t*T+tx]; Bs[ty][tx]=B[(t*T+ty)*n+col]; __syncthreads();
    for(int i=0;i<T;i++) acc+=As[ty][i]*Bs[i][tx]; __syncthreads(); }
  C[row*n+col]=acc; }