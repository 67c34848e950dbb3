#define T 16
extern "C" __global__ void mmt16(const float* __restrict__ A,const float* __restrict__ B,float* __restrict__ C,int n){
  __shared__ float As[T][T+0],Bs[T][T+0];
  int tx=threadIdx.x,ty=threadIdx.y,row=blockIdx.y*T+ty,col=blockIdx.x*T+tx; float acc=0;
  for(int t=0;t<n/T;t++){
    As[ty][tx]=A[row*n+t*T+tx]; Bs[ty][tx]=B[(t*T+ty)*n+col]; __syncthreads();
    
    for(int i=0;i<T;i++) acc+=As[ty][i]*Bs[i][tx];
    __syncthreads(); }
  C[row*n+col]=acc; }
