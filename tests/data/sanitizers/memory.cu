// Kernels that access what is not theirs. The lines at fault are marked `fault: KERNEL`.
// Their launches are in launches.toml.

extern "C" __global__ void past_end(const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * 2.0f;  // fault: past_end
}

extern "C" __global__ void before_start(const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] - in[i - 4];  // fault: before_start
}

extern "C" __global__ void misaligned(const float* in, float4* out)
{
    int i = threadIdx.x;
    out[i] = *(const float4*)(in + 4 * i + 1);  // fault: misaligned
}

extern "C" __global__ void shared_past_end(float* out, int shift)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t + shift] = t;  // fault: shared_past_end
    __syncthreads();
    out[t] = tile[63 - t];
}

extern "C" __global__ void local_past_end(const int* index, int* out)
{
    int own[8];
    for (int i = 0; i < 8; ++i) own[i] = i * threadIdx.x;
    out[threadIdx.x] = own[index[threadIdx.x]];  // fault: local_past_end
}

extern "C" __global__ void heap_past_end(int* out, int last)
{
    int* own = (int*)malloc(4 * sizeof(int));
    if (!own) return;
    for (int i = 0; i <= last; ++i) own[i] = i;  // fault: heap_past_end
    out[threadIdx.x] = own[0] + own[3];
    free(own);
}

extern "C" __global__ void into_the_next(const float* in, float* out, int shift)
{
    __shared__ float first[32];
    __shared__ float second[32];
    int t = threadIdx.x;
    first[t] = in[t];
    second[t] = in[t] * 2.0f;
    __syncwarp();
    first[t + shift] = 0.0f;  // fault: into_the_next
    __syncwarp();
    out[t] = first[t] + second[t];
}

extern "C" __global__ void shared_before_start(const float* in, float* out, int shift)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
    __syncthreads();
    out[t] = tile[t - shift];  // fault: shared_before_start
}

extern "C" __global__ void freed_twice(int* out)
{
    int* own = (int*)malloc(4 * sizeof(int));
    if (!own) return;
    own[0] = threadIdx.x;
    out[threadIdx.x] = own[0];
    free(own);
    if (threadIdx.x == 5) free(own);  // fault: freed_twice
}

extern "C" __global__ void free_of_the_middle(int* out)
{
    int* own = (int*)malloc(4 * sizeof(int));
    if (!own) return;
    own[0] = threadIdx.x;
    out[threadIdx.x] = own[0];
    free(own + 1);  // fault: free_of_the_middle
}

extern "C" __global__ void free_of_an_argument(int* out)
{
    out[threadIdx.x] = 1;
    if (threadIdx.x == 0) free(out);  // fault: free_of_an_argument
}

extern "C" __global__ void free_of_the_stack(const int* index, int* out)
{
    int own[8];
    for (int i = 0; i < 8; ++i) own[index[i]] = i;
    out[threadIdx.x] = own[index[threadIdx.x % 8]];
    if (threadIdx.x == 0) free(own);  // fault: free_of_the_stack
}

extern "C" __global__ void used_after_free(int* out)
{
    int* own = (int*)malloc(4 * sizeof(int));
    if (!own) return;
    own[0] = threadIdx.x;
    free(own);
    out[threadIdx.x] = own[0];  // fault: used_after_free
}

extern "C" __global__ void null(const int* offset, int* out)
{
    const int* nobody = (const int*)(long long)offset[0];
    out[threadIdx.x] = nobody[threadIdx.x];  // fault: null
}

extern "C" __global__ void store_misaligned(double* out)
{
    int t = threadIdx.x;
    *(double*)((char*)out + 8 * t + 4) = t;  // fault: store_misaligned
}

extern "C" __global__ void row_too_many(const float* in, float* out, int width)
{
    int x = threadIdx.x, y = blockIdx.x;
    out[y * width + x] = in[(y + 1) * width + x];  // fault: row_too_many
}

extern "C" __global__ void vector_past_end(const float4* in, float* out)
{
    float4 v = in[threadIdx.x];  // fault: vector_past_end
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

__device__ int table[16];

extern "C" __global__ void table_past_end(int* out, int step)
{
    out[threadIdx.x] = table[threadIdx.x * step];  // fault: table_past_end
}

extern "C" __global__ void atomic_past_end(const int* in, int* bins)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&bins[in[i]], 1);  // fault: atomic_past_end
}

__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void mb_init(unsigned long long* b, int n)
{ asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(at(b)), "r"(n) : "memory"); }

__device__ __forceinline__ void mb_wait(unsigned long long* b, int parity)
{
    int done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(at(b)), "r"(parity) : "memory");
}

extern "C" __global__ void dynamic_past_end(const float* in, float* out)
{
    extern __shared__ float arena[];
    int t = threadIdx.x;
    arena[t] = in[t];
    arena[t + 64] = in[t];  // fault: dynamic_past_end
    __syncthreads();
    out[t] = arena[63 - t];
}

extern "C" __global__ void bulk_past_end(const float* in, float* out)
{
    __shared__ alignas(128) float tile[64];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) {
        mb_init(&full, 1);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" :: "r"(at(&full)) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" :: "r"(at(tile)), "l"(in + 32), "r"(at(&full)) : "memory");  // fault: bulk_past_end
    }
    __syncthreads();
    mb_wait(&full, 0);
    out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void async_copy_misaligned(const float* in, float* out)
{
    __shared__ alignas(16) float tile[68];
    int t = threadIdx.x;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(at(tile + 4 * t)), "l"(in + 4 * t + 1) : "memory");  // fault: async_copy_misaligned
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    out[t] = tile[t];
}

extern "C" __global__ void __cluster_dims__(2) peer_past_end(const float* in, float* out)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    unsigned rank, other;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    tile[t] = in[t];
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    float value;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(at(tile + t)), "r"(rank ^ 1));
    asm volatile("ld.shared::cluster.f32 %0, [%1 + 131072];" : "=f"(value) : "r"(other) : "memory");  // fault: peer_past_end
    out[blockIdx.x * 64 + t] = value;
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}

extern "C" __global__ void read_into_the_next(const float* in, float* out, int n)
{
    __shared__ float a[32]; __shared__ float b[32];
    int t = threadIdx.x;
    a[t] = in[t]; b[t] = in[t] + 1;
    __syncwarp();
    float s = 0;
    for (int i = 0; i < n; ++i) s += a[i];  // fault: read_into_the_next
    out[t] = s + b[t];
}

extern "C" __global__ void into_dynamic(const float* in, float* out, int n)
{
    __shared__ float a[32]; extern __shared__ float dyn[];
    int t = threadIdx.x;
    a[t] = in[t]; dyn[t] = in[t] + 1;
    __syncwarp();
    a[t + n] = 3;  // fault: into_dynamic
    __syncwarp();
    out[t] = a[t] + dyn[t];
}

extern "C" __global__ void freed_by_two_blocks(int* out, long long* box)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) { int* p = (int*)malloc(16); free(p); box[0] = (long long)p; __threadfence(); atomicExch(out, 1); }
    if (blockIdx.x == 1 && threadIdx.x == 0) { while (atomicAdd(out, 0) == 0) {} __threadfence(); free((void*)box[0]); }  // fault: freed_by_two_blocks
}
