// The language itself: calls, pointers, classes, aggregates, storage, printf.
extern "C" __device__ __noinline__ int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__device__ __noinline__ int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}
extern "C" __global__ void recursion(int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[2 * i] = fibonacci(i % 11);
    out[2 * i + 1] = ackermann(i % 3, i % 4);
}
__device__ void quicksort(int *data, int low, int high) {
    if (low >= high) return;
    int pivot = data[(low + high) / 2], i = low, j = high;
    while (i <= j) {
        while (data[i] < pivot) i++;
        while (data[j] > pivot) j--;
        if (i <= j) {
            int kept = data[i];
            data[i++] = data[j];
            data[j--] = kept;
        }
    }
    quicksort(data, low, j);
    quicksort(data, i, high);
}
extern "C" __global__ void sort_rows(int *data, int n) {
    quicksort(data + (blockIdx.x * blockDim.x + threadIdx.x) * n, 0, n - 1);
}
typedef float (*Function)(float, float);
__device__ float plus(float a, float b) { return a + b; }
__device__ float minus(float a, float b) { return a - b; }
__device__ float times(float a, float b) { return a * b; }
__device__ Function table[3] = {plus, minus, times};
extern "C" __global__ void pointers(const float *a, const float *b, float *out, int by_warp) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Function f = table[(by_warp ? i / 32 : i) % 3];
    out[i] = f(a[i], b[i]);
}
struct Shape {
    float size;
    __device__ Shape(float s) : size(s) {}
    __device__ virtual float area() const = 0;
    __device__ virtual int corners() const { return 0; }
};
struct Square : Shape {
    __device__ Square(float s) : Shape(s) {}
    __device__ float area() const override { return size * size; }
    __device__ int corners() const override { return 4; }
};
struct Circle : Shape {
    __device__ Circle(float s) : Shape(s) {}
    __device__ float area() const override {
        __shared__ float pi;
        pi = 3.0f;
        return pi * size * size;
    }
};
extern "C" __global__ void virtuals(float *out) {
    int i = threadIdx.x;
    Shape *shape = i % 2 ? (Shape *)new Circle(i) : (Shape *)new Square(i);
    out[2 * i] = shape->area();
    out[2 * i + 1] = shape->corners();
    delete shape;
}
extern "C" __global__ void dense_switch(const int *in, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i];
    switch (x) {
        case 0: out[i] = x + 5; break;
        case 1: out[i] = x * 7; break;
        case 2: out[i] = i ^ 3; break;
        case 3: for (int k = 0; k < i % 5; k++) x += k * x; out[i] = x; break;
        case 4: out[i] = -i; [[fallthrough]];
        case 5: out[i] += 9; break;
        case 6: out[i] = i / 3; break;
        case 7: out[i] = i % 3; break;
        default: out[i] = -1;
    }
}
struct Particle { float x, y, z; int id; double mass; char tag; };
struct Config { int table[8]; float scale; short steps[5]; long long base; };
extern "C" __global__ void by_value(Particle p, Config c, int *out, double *real, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    out[i] = c.table[i % 8] + c.steps[i % 5] + p.id + p.tag + (int)c.base;
    real[i] = p.mass * c.scale + p.x + p.y * p.z;
}
__device__ __noinline__ Particle moved(Particle p, float by) {
    p.x += by;
    p.y -= by;
    p.id++;
    p.tag ^= 1;
    return p;
}
extern "C" __global__ void struct_calls(Particle *data) {
    Particle p = moved(data[threadIdx.x], threadIdx.x * 0.5f);
    if (threadIdx.x % 3 == 0) p = moved(p, 1.0f);
    data[threadIdx.x] = p;
}
union Bits { float f; unsigned u; unsigned char b[4]; unsigned short s[2]; };
struct __attribute__((packed)) Packed { char c; int i; short s; double d; };
extern "C" __global__ void reinterpreted(const float *in, unsigned *out, Packed *packed, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    Bits v;
    v.f = in[i];
    out[i] = (v.u >> 3) + v.b[i % 4] + v.s[i & 1];
    packed[i].c = i;
    packed[i].i = i * 1000;
    packed[i].s = -i;
    packed[i].d = i * 0.25;
}
extern "C" __global__ void local_arrays(const int *in, int *out, int n) {
    int stack[32], top = 0;
    unsigned char seen[40];
    for (int k = 0; k < 40; k++) seen[k] = 0;
    int at = threadIdx.x % n;
    while (!seen[at]) {
        seen[at] = 1;
        stack[top++] = at;
        at = in[at];
    }
    int sum = 0;
    while (top > 0) sum = sum * 3 + stack[--top];
    out[threadIdx.x] = sum;
}
__device__ int counter = 5;
__device__ float filled[6] = {1.5f, 2.5f};
__device__ int *indirect = &counter;
__constant__ double tiny[3] = {1e-300, 0.5, 3.25};
__constant__ const char *const names[3] = {"zero", "one", "two"};
__device__ struct { int a; float b[3]; const char *name; } record = {7, {1, 2, 3}, "rec"};
extern "C" __global__ void globals(double *out) {
    if (threadIdx.x == 0) { *indirect += 2; filled[3] = 9; }
    __syncthreads();
    int i = threadIdx.x;
    out[i] = counter + filled[i % 6] + tiny[i % 3] + names[i % 3][1] + record.b[i % 3] + record.a +
             record.name[2];
}
extern "C" __global__ void generic_spaces(int *out, const int *in) {
    __shared__ int s[64];
    int own[2] = {(int)threadIdx.x * 3, 7};
    s[threadIdx.x] = threadIdx.x * 2;
    __syncthreads();
    const int *p = threadIdx.x % 3 == 0 ? &s[63 - threadIdx.x] : threadIdx.x % 3 == 1 ? &in[threadIdx.x]
                                                                                     : &own[threadIdx.x & 1];
    volatile const int *q = p;
    out[threadIdx.x] = *q;
}
extern "C" __global__ void types(const signed char *a, const unsigned short *b, const long long *c,
                                 const bool *d, short *out8, long long *out64, unsigned char *flags) {
    int i = threadIdx.x;
    out8[i] = a[i] * 3 - b[i];
    out64[i] = c[i] * a[i] + b[i];
    flags[i] = d[i] && a[i] > 0 ? 200 : b[i] >> 3;
}
#include <cstdio>
extern "C" __global__ void prints(float x) {
    if (threadIdx.x < 2)
        printf("%d %5u|%-6x|%c %s %f %.3e %lld %p %% %08.3f %+d %lu\n", -5, threadIdx.x, 255, 'z', "text",
               x, 12345.678, -1LL << 40, (void *)0, 3.14159, 4, 1ul << 33);
    if (blockIdx.x == 1 && threadIdx.x == 3) printf("plain\n");
}
#include <cassert>
extern "C" __global__ void asserts(const int *in) { assert(in[threadIdx.x] < 10); }
extern "C" __global__ void heap(int *out, int n) {
    int *own = (int *)malloc(n * sizeof(int));
    if (!own) { out[threadIdx.x] = -1; return; }
    for (int i = 0; i < n; i++) own[i] = i * threadIdx.x;
    int sum = 0;
    for (int i = 0; i < n; i++) sum += own[i];
    out[threadIdx.x] = sum;
    free(own);
}
template <typename T, int N> __device__ T powered(T x) { return x * powered<T, N - 1>(x); }
template <> __device__ int powered<int, 0>(int) { return 1; }
template <> __device__ double powered<double, 0>(double) { return 1; }
template <typename T> __global__ void templated(T *data) { data[threadIdx.x] = powered<T, 5>(data[threadIdx.x]); }
template __global__ void templated<int>(int *);
template __global__ void templated<double>(double *);
extern "C" __global__ void __launch_bounds__(64, 4) inline_ptx(unsigned *out, unsigned x) {
    unsigned lane, low, r;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("{ .reg .pred p; setp.lt.u32 p, %1, 7; selp.u32 %0, 100, 200, p; }" : "=r"(low) : "r"(lane));
    asm volatile("{\n .reg .u32 t<3>;\n mov.u32 t0, %1;\n add.u32 t1, t0, %2;\n shl.b32 t2, t1, 1;\n"
                 " LOOP_%=: sub.u32 t2, t2, 3;\n .reg .pred q; setp.gt.u32 q, t2, 5; @q bra LOOP_%=;\n"
                 " mov.u32 %0, t2; }" : "=r"(r) : "r"(lane), "r"(x));
    out[threadIdx.x] = low + r * 1000;
}
extern "C" __global__ void clocks(long long *out) {
    long long start = clock64();
    __nanosleep(100);
    unsigned c = clock();
    out[threadIdx.x] = (clock64() >= start) + (c == c);
}
struct Node { int value; Node *next; };
extern "C" __global__ void linked(Node *nodes, int *out, int n) {
    if (threadIdx.x == 0)
        for (int i = 0; i < n; i++) nodes[i] = {i * i, i + 1 < n ? &nodes[i + 1] : nullptr};
    __syncthreads();
    int sum = 0;
    for (Node *p = &nodes[threadIdx.x % n]; p; p = p->next) sum += p->value;
    out[threadIdx.x] = sum;
}
struct Add { int by; __device__ int operator()(int x) const { return x + by; } };
template <typename F> __device__ __noinline__ int twice(F f, int x) { return f(f(x)); }
extern "C" __global__ void functors(int *out) {
    int k = threadIdx.x;
    out[k] = twice(Add{k}, 10) + twice([=](int x) { return x * k; }, 3);
}
__device__ __noinline__ int deep(int n, const int *above, int k) {  // each call has memory of its own
    int own[8];
    for (int i = 0; i < 8; i++) own[i] = n * 8 + i + above[(i + k) & 7];
    int below = n > 0 ? deep(n - 1, own, k + 1) : 0;
    return below + own[k & 7] + above[(k + n) & 7];
}
extern "C" __global__ void deep_stacks(int *out, int n) {
    int own[8];
    for (int i = 0; i < 8; i++) own[i] = i * threadIdx.x;
    volatile int *kept = &own[n & 7];
    int sum = 0;
#pragma unroll 1
    for (int r = 0; r < n - 2; r++) sum += *kept + deep(n + 9 * r, own, r);
    out[threadIdx.x] = sum;
}
extern "C" __global__ void partitioned(double *out) {
    extern __shared__ unsigned char raw[];
    float *f = (float *)raw;
    double *d = (double *)(f + blockDim.x);
    short *s = (short *)(d + blockDim.x);
    int t = threadIdx.x, r = blockDim.x - 1 - t;
    f[t] = t;
    d[t] = t * 2;
    s[t] = t * 3;
    __syncthreads();
    out[t] = f[r] + d[r] + s[r];
}
extern "C" __global__ void jumps(int *out, int n) {  // a loop with two entries
    int x = threadIdx.x, c = 0;
    if (x & 1) goto middle;
top:
    x = x * 3 + 1;
    c++;
middle:
    x ^= c * 5;
    c++;
    if (c < n + (threadIdx.x & 7)) {
        if (x & 2) goto top;
        goto middle;
    }
    out[threadIdx.x] = x;
}
