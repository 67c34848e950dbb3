#define BM 64
#define BK 8
extern "C" __global__ void mm_regtile(const float* __restrict__ A,const float* __restrict__ B,float* __restrict__ C,int n){
  __shared__ float As[BK][BM],Bs[BK][BM]; int t=threadIdx.x,tr=t/16,tc=t%16; float acc[4][4]={};
  A+=blockIdx.y*BM*n; B+=blockIdx.x*BM;
  for(int k0=0;k0<n;k0+=BK){
    for(int i=t;i<BM*BK;i+=256){ As[i%BK][i/BK]=A[(i/BK)*n+k0+i%BK]; Bs[i/BM][i%BM]=B[(k0+i/BM)*n+i%BM]; }
    __syncthreads();
    for(int kk=0;kk<BK;kk++){ float a[4],b[4];
      for(int i=0;i<4;i++) a[i]=As[kk][tr*4+i]; for(int i=0;i<4;i++) b[i]=Bs[kk][tc*4+i];
      for(int i=0;i<4;i++) for(int j=0;j<4;j++) acc[i][j]+=a[i]*b[j]; }
    __syncthreads(); }
  for(int i=0;i<4;i++) for(int j=0;j<4;j++) C[(blockIdx.y*BM+tr*4+i)*n+blockIdx.x*BM+tc*4+j]=acc[i][j]; }