#define T 16
extern "C" __global__ void mm_guarded(const float* A,const float* B,float* C,int n){
  __shared__ float As[T][T],Bs[T][T]; int tx=threadIdx.x,ty=threadIdx.y,row=blockIdx.y*T+ty,col=blockIdx.x*T+tx; float acc=0;
  for(int t=0;t<(n+T-1)/T;t++){
    As[ty][tx]=(row<n&&t*T+tx<n)?A[row*n+t*T+tx]:0.f; Bs[ty][tx]=(t*T+ty<n&&col<n)?B[(t*T+ty)*n+col]:0.f; __syncthreads();
    for(int i=0;i<T;i++) acc+=As[ty][i]*Bs[i][tx]; __syncthreads(); }
  if(row<n&&col<n) C[row*n+col]=acc; }