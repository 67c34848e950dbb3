// Kernels that read what nobody wrote. The lines at fault are marked `fault: KERNEL`.
// Their launches are in launches.toml.

extern "C" __global__ void shared_tail(const float* in, float* out, int n)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    if (t < n) tile[t] = in[t];
    __syncthreads();
    out[t] = tile[63 - t];  // fault: shared_tail
}

extern "C" __global__ void heap_as_it_comes(int* out)
{
    int* own = (int*)malloc(4 * sizeof(int));
    if (!own) return;
    own[0] = threadIdx.x;
    out[threadIdx.x] = own[0] + own[1];  // fault: heap_as_it_comes
    free(own);
}

extern "C" __global__ void local_gaps(const int* index, int* out)
{
    int own[8];
    for (int i = 0; i < 8; i += 2) own[index[i]] = i;
    out[threadIdx.x] = own[index[threadIdx.x % 8]];  // fault: local_gaps
}

extern "C" __global__ void added_to_nothing(const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] += in[i];  // fault: added_to_nothing
}

extern "C" __global__ void half_written(const float* in, float* scratch, float* out)
{
    int t = threadIdx.x;
    if (t < 32) scratch[t] = in[t];
    __syncthreads();
    out[t] = scratch[63 - t];  // fault: half_written
}

extern "C" __global__ void padding_used(const float* in, float4* points, float* out)
{
    int t = threadIdx.x;
    points[t].x = in[t];
    points[t].y = in[t] + 1.0f;
    points[t].z = in[t] + 2.0f;
    __syncthreads();
    float4 p = points[63 - t];  // fault: padding_used
    out[t] = p.x + p.y + p.z + p.w;
}

extern "C" __global__ void counted_from_nothing(const int* in, int* bins)
{
    __shared__ int own[32];
    atomicAdd(&own[in[threadIdx.x] % 32], 1);  // fault: counted_from_nothing
    __syncthreads();
    if (threadIdx.x < 32) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);  // fault: counted_from_nothing
}

extern "C" __global__ void no_halo(const float* in, float* out)
{
    __shared__ float tile[66];
    int t = threadIdx.x;
    tile[t + 1] = in[t];
    __syncthreads();
    out[t] = tile[t] + tile[t + 1] + tile[t + 2];  // fault: no_halo
}

extern "C" __global__ void odd_lanes(const float* in, float* out)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    if (t % 2 == 0) tile[t] = in[t];
    __syncthreads();
    out[t] = tile[t ^ 1] + tile[t];  // fault: odd_lanes
}

extern "C" __global__ void last_of_the_heap(int* out, int count)
{
    int* own = (int*)malloc(count * sizeof(int));
    if (!own) return;
    for (int i = 0; i < count - 1; ++i) own[i] = i;
    int sum = 0;
    for (int i = 0; i < count; ++i) sum += own[i];  // fault: last_of_the_heap
    out[threadIdx.x] = sum;
    free(own);
}

extern "C" __global__ void largest_of_all(const float* in, float* largest)
{
    float mine = in[threadIdx.x];
    if (mine > largest[0]) largest[threadIdx.x + 1] = mine;  // fault: largest_of_all
}

__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

extern "C" __global__ void dynamic_unset(const float* in, float* out)
{
    extern __shared__ float arena[];
    int t = threadIdx.x;
    if (t > 0) arena[t] = in[t];
    __syncthreads();
    out[t] = arena[63 - t];  // fault: dynamic_unset
}

extern "C" __global__ void bulk_of_nothing(const float* in, float* out)
{
    __shared__ alignas(128) float tile[64];
    int t = threadIdx.x;
    if (t < 32) tile[t] = in[t];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" :: "l"(out), "r"(at(tile)) : "memory");  // fault: bulk_of_nothing
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
