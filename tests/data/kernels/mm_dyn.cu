extern "C" __global__ void mm_dyn(const float* A,const float* B,float* C,int n,int T){
  extern __shared__ float s[]; float* As=s; float* Bs=s+T*T; int tx=threadIdx.x,ty=threadIdx.y,row=blockIdx.y*T+ty,col=blockIdx.x*T+tx; float acc=0;
  for(int t=0;t<n/T;t++){ As[ty*T+tx]=A[row*n+t*T+tx]; Bs[ty*T+tx]=B[(t*T+ty)*n+col]; __syncthreads();
    for(int i=0;i<T;i++) acc+=As[ty*T+i]*Bs[i*T+tx]; __syncthreads(); }
  C[row*n+col]=acc; }