#define T 32
extern "C" __global__ void mm_float4(const float4* __restrict__ A,const float4* __restrict__ B,float4* __restrict__ C,int n){
  __shared__ float4 As[T][T/4],Bs[T][T/4]; int tx=threadIdx.x,ty=threadIdx.y,row=blockIdx.y*T+ty,c4=blockIdx.x*T/4+tx; float4 acc={0,0,0,0};
  for(int t=0;t<n/T;t++){ As[ty][tx]=A[row*n/4+t*T/4+tx]; Bs[ty][tx]=B[(t*T+ty)*n/4+c4]; __syncthreads();
    for(int i=0;i<T;i++){ float a=((float*)As[ty])[i]; float4 b=Bs[i][tx]; acc.x+=a*b.x;acc.y+=a*b.y;acc.z+=a*b.z;acc.w+=a*b.w; } __syncthreads(); }
  C[row*n/4+c4]=acc; }