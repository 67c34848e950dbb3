// Kernels that do something illegal, each on a line the message must name.
extern "C" __global__ void past_end(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i + n];  // line 4
    out[i] = x;
}
extern "C" __global__ void before_start(float *out) {
    out[(int)threadIdx.x - 3] = 1;  // line 8
}
extern "C" __global__ void misaligned(const char *in, int *out) {
    out[threadIdx.x] = *(const int *)(in + threadIdx.x * 4 + (threadIdx.x == 5));  // line 11
}
extern "C" __global__ void null(int *out) {
    int *none = nullptr;
    if (threadIdx.x == 9) none[1] = 3;  // line 15
    out[threadIdx.x] = 1;
}
extern "C" __global__ void shared_past_end(int *out, int k) {
    __shared__ int part[32];
    part[threadIdx.x + k] = 1;  // line 20
    __syncthreads();
    out[threadIdx.x] = part[threadIdx.x];
}
extern "C" __global__ void local_past_end(int *out, int k) {
    int own[8];
    for (int i = 0; i < 8; i++) own[i] = i * k;
    out[threadIdx.x] = own[k * (threadIdx.x + 1)];  // line 27
}
__constant__ int table[4] = {1, 2, 3, 4};
extern "C" __global__ void constant_past_end(int *out, int k) {
    out[threadIdx.x] = table[threadIdx.x * k];  // line 31
}
extern "C" __global__ void unwritten(int *out) {
    __shared__ int part[64];
    part[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = part[threadIdx.x + 1];  // line 37
}
extern "C" __global__ void half_barrier(int *out) {
    if (threadIdx.x < 40) __syncthreads();  // line 40
    else asm volatile("bar.sync 3;");
    out[threadIdx.x] = 1;
}
extern "C" __global__ void two_barriers(int *out) {
    if (threadIdx.x & 1) { out[0] = 1; __syncthreads(); }
    else { out[1] = 2; __syncthreads(); }
}
extern "C" __global__ void endless(volatile int *out) {
    int i = threadIdx.x;
    while (out[i] == 0) {  // line 50
        i = (i + 1) & 31;
    }
}
extern "C" __global__ void endless_quietly(int *out, int step) {
    unsigned x = threadIdx.x + 1;
    do {
        asm volatile("mad.lo.u32 %0, %0, 1664525, %1;" : "+r"(x) : "r"(step));  // line 57
    } while (x != 0);
    out[threadIdx.x] = x;
}
extern "C" __device__ __noinline__ int deeper(int n) { return n <= -1 ? 0 : deeper(n + 1) * 3 + n; }
extern "C" __global__ void bottomless(int *out) { out[threadIdx.x] = deeper(threadIdx.x); }
extern "C" __global__ void wild_pointer(int *out, unsigned long long p) {
    ((int (*)(int))p)(3);
    out[0] = *(int *)(p + threadIdx.x * 4);
}
extern "C" __global__ void trapped(int *out) {
    if (threadIdx.x == 7) asm("trap;");
    out[threadIdx.x] = 1;
}
extern "C" __global__ void unsafe_copy(const float *in, float *out) {
    __shared__ alignas(16) float part[80];
    unsigned to = (unsigned)__cvta_generic_to_shared(&part[threadIdx.x]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(in + threadIdx.x));
    out[threadIdx.x] = part[threadIdx.x];
}
extern "C" __global__ void waits_for_nobody(volatile int *flag, int *out) {
    while (*flag == 0) {}  // line 78
    out[threadIdx.x] = 1;
}
extern "C" __global__ void never_unlocked(int *lock) {
    while (atomicCAS(lock, 0, 1) != 0) {}  // line 82
}
