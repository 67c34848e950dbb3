// How often each of the bins occurs among n values.
extern "C" __global__ void hist_global(const unsigned *v, unsigned *h, int n, int bins) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&h[v[i] % bins], 1u);
}
extern "C" __global__ void hist_shared(const unsigned *v, unsigned *h, int n, int bins) {
  __shared__ unsigned mine[1024];
  for (int b = threadIdx.x; b < bins; b += blockDim.x) mine[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&mine[v[i] % bins], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += blockDim.x) atomicAdd(&h[b], mine[b]);
}
extern "C" __global__ void hist_warps(const unsigned *v, unsigned *h, int n, int bins) {
  __shared__ unsigned all[8 * 257];
  unsigned *mine = all + threadIdx.x / 32 * 257;
  for (int b = threadIdx.x; b < 8 * 257; b += blockDim.x) all[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&mine[v[i] % bins], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += blockDim.x) {
    unsigned s = 0;
    for (int w = 0; w < 8; ++w) s += all[w * 257 + b];
    atomicAdd(&h[b], s);
  }
}
extern "C" __global__ void hist_match(const unsigned *v, unsigned *h, int n, int bins) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    unsigned b = v[i] % bins, same = __match_any_sync(~0u, b);
    if (threadIdx.x % 32 == __ffs(same) - 1) atomicAdd(&h[b], __popc(same));
  }
}
