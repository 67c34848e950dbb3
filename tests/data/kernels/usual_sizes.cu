extern "C" __global__ void copy1(const float* a, float* b, int n){ int i=blockIdx.x*blockDim.x+threadIdx.x; if(i<n) b[i]=a[i]; }
extern "C" __global__ void copy4(const float4* a, float4* b, int n){ int i=blockIdx.x*blockDim.x+threadIdx.x; if(i<n) b[i]=a[i]; }
extern "C" __global__ void gridstride(const float* a, float* b, int n){ for(int i=blockIdx.x*blockDim.x+threadIdx.x;i<n;i+=gridDim.x*blockDim.x) b[i]=a[i]*2.0f; }
extern "C" __global__ void strided(const float* a, float* b, int s){ int i=blockIdx.x*blockDim.x+threadIdx.x; b[i]=a[i*s]; }
extern "C" __global__ void tnaive(const float* a, float* b, int n){ int x=blockIdx.x*32+threadIdx.x; for(int j=0;j<32;j+=8){ int y=blockIdx.y*32+threadIdx.y+j; b[x*n+y]=a[y*n+x]; } }
extern "C" __global__ void mmnaive(const float* A, const float* B, float* C, int n){ int c=blockIdx.x*blockDim.x+threadIdx.x, r=blockIdx.y*blockDim.y+threadIdx.y; if(r<n&&c<n){ float s=0; for(int k=0;k<n;++k) s+=A[r*n+k]*B[k*n+c]; C[r*n+c]=s; } }
extern "C" __global__ void mmtile8(const float* A, const float* B, float* C, int n){ __shared__ float a[8][8], b[8][8]; int x=threadIdx.x,y=threadIdx.y,c=blockIdx.x*8+x,r=blockIdx.y*8+y; float s=0;
 for(int p=0;p<n;p+=8){ a[y][x]=A[r*n+p+x]; b[y][x]=B[(p+y)*n+c]; __syncthreads(); for(int k=0;k<8;++k) s+=a[y][k]*b[k][x]; __syncthreads(); } C[r*n+c]=s; }
extern "C" __global__ void mmtile32(const float* A, const float* B, float* C, int n){ __shared__ float a[32][32], b[32][32]; int x=threadIdx.x,y=threadIdx.y,c=blockIdx.x*32+x,r=blockIdx.y*32+y; float s=0;
 for(int p=0;p<n;p+=32){ a[y][x]=A[r*n+p+x]; b[y][x]=B[(p+y)*n+c]; __syncthreads(); for(int k=0;k<32;++k) s+=a[y][k]*b[k][x]; __syncthreads(); } C[r*n+c]=s; }
extern "C" __global__ void stencil(const float* a, float* b, int w, int h){ int x=blockIdx.x*blockDim.x+threadIdx.x, y=blockIdx.y*blockDim.y+threadIdx.y; if(x>0&&y>0&&x<w-1&&y<h-1) b[y*w+x]=0.2f*(a[y*w+x]+a[y*w+x-1]+a[y*w+x+1]+a[(y-1)*w+x]+a[(y+1)*w+x]); }
extern "C" __global__ void redinter(const float* a, float* o, int n){ extern __shared__ float s[]; int t=threadIdx.x,i=blockIdx.x*blockDim.x+t; s[t]=i<n?a[i]:0; __syncthreads(); for(int d=1;d<blockDim.x;d*=2){ if(t%(2*d)==0) s[t]+=s[t+d]; __syncthreads(); } if(t==0) o[blockIdx.x]=s[0]; }
extern "C" __global__ void redseq(const float* a, float* o, int n){ extern __shared__ float s[]; int t=threadIdx.x,i=blockIdx.x*blockDim.x+t; s[t]=i<n?a[i]:0; __syncthreads(); for(int d=blockDim.x/2;d>0;d/=2){ if(t<d) s[t]+=s[t+d]; __syncthreads(); } if(t==0) o[blockIdx.x]=s[0]; }
extern "C" __global__ void histg(const int* v, int* h, int n, int bins){ for(int i=blockIdx.x*blockDim.x+threadIdx.x;i<n;i+=gridDim.x*blockDim.x) atomicAdd(&h[v[i]%bins],1); }
extern "C" __global__ void scan(const float* a, float* b){ __shared__ float s[2][512]; int t=threadIdx.x,i=blockIdx.x*512+t,p=0; s[0][t]=a[i]; __syncthreads(); for(int d=1;d<512;d*=2){ s[1-p][t]=t>=d?s[p][t]+s[p][t-d]:s[p][t]; p=1-p; __syncthreads(); } b[i]=s[p][t]; }
extern "C" __global__ void fmas(const float* a, float* b, int n, int k){ int i=blockIdx.x*blockDim.x+threadIdx.x; if(i<n){ float v=a[i]; for(int j=0;j<k;++j) v=v*1.0001f+0.5f; b[i]=v; } }
extern "C" __global__ void fmas4(const float* a, float* b, int n, int k){ int i=blockIdx.x*blockDim.x+threadIdx.x; if(i<n){ float v=a[i],w=v+1,x=v+2,y=v+3; for(int j=0;j<k;++j){ v=v*1.0001f+0.5f; w=w*1.0002f+0.5f; x=x*1.0003f+0.5f; y=y*1.0004f+0.5f; } b[i]=v+w+x+y; } }
extern "C" __global__ void sines(const float* a, float* b, int n, int k){ int i=blockIdx.x*blockDim.x+threadIdx.x; if(i<n){ float v=a[i]; for(int j=0;j<k;++j) v=__sinf(v)+0.5f; b[i]=v; } }
extern "C" __global__ void chase(const int* p, int* o, int k){ int i=blockIdx.x*blockDim.x+threadIdx.x, v=i; for(int j=0;j<k;++j) v=p[v]; o[i]=v; }
extern "C" __global__ void shloop(float* o, int s, int k){ __shared__ volatile float m[2048]; int t=threadIdx.x; for(int i=t;i<2048;i+=blockDim.x) m[i]=i; __syncthreads(); float v=0; for(int j=0;j<k;++j) v+=m[(t*s+j)&2047]; o[blockIdx.x*blockDim.x+t]=v; }
extern "C" __global__ void diverge(const float* a, float* o, int g, int k){ int i=blockIdx.x*blockDim.x+threadIdx.x; float v=a[i]; if((i/g)&1){ for(int j=0;j<k;++j) v=v*1.1f+0.3f; } else { for(int j=0;j<k;++j) v=v*0.9f-0.2f; } o[i]=v; }
extern "C" __global__ void spmv(const int* col, const float* val, const float* x, float* y, int rows, int per){ int r=blockIdx.x*blockDim.x+threadIdx.x; if(r<rows){ float s=0; for(int k=0;k<per;++k) s+=val[r*per+k]*x[col[r*per+k]]; y[r]=s; } }
__constant__ float c[33];
extern "C" __global__ void conv(const float* a, float* b, int n){ int i=blockIdx.x*blockDim.x+threadIdx.x; if(i<n){ float s=0; for(int k=-16;k<=16;++k){ int j=i+k; if(j>=0&&j<n) s+=a[j]*c[k+16]; } b[i]=s; } }
