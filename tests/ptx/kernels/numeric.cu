// Floating point: functions of the math library, simulations, halves.
#include <cuda_fp16.h>
#include <cuda_bf16.h>

extern "C" __global__ void nbody(const float4 *body, float3 *force, int n, float soft) {
    extern __shared__ float4 near[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = body[i];
    float3 f = make_float3(0, 0, 0);
    for (int tile = 0; tile < n / blockDim.x; tile++) {
        near[threadIdx.x] = body[tile * blockDim.x + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < blockDim.x; j++) {
            float x = near[j].x - me.x, y = near[j].y - me.y, z = near[j].z - me.z;
            float inverse = rsqrtf(x * x + y * y + z * z + soft);
            float s = near[j].w * inverse * inverse * inverse;
            f.x += x * s; f.y += y * s; f.z += z * s;
        }
        __syncthreads();
    }
    force[i] = f;
}
extern "C" __global__ void mandelbrot(int *out, int w, int h, int limit) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    double cr = -2.0 + 3.0 * x / w, ci = -1.5 + 3.0 * y / h, zr = 0, zi = 0;
    int k = 0;
    while (k < limit && __dadd_rn(__dmul_rn(zr, zr), __dmul_rn(zi, zi)) <= 4.0) {
        double t = __dadd_rn(__dsub_rn(__dmul_rn(zr, zr), __dmul_rn(zi, zi)), cr);
        zi = __dadd_rn(__dmul_rn(__dmul_rn(2.0, zr), zi), ci);
        zr = t;
        k++;
    }
    out[y * w + x] = k;
}
__device__ float normal(float d) { return 0.5f * (1.0f + erff(d * 0.70710678f)); }
extern "C" __global__ void black_scholes(const float *price, const float *strike, const float *years,
                                         float *call, float *put, float rate, float vol, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float root = sqrtf(years[i]);
        float d1 = (logf(price[i] / strike[i]) + (rate + 0.5f * vol * vol) * years[i]) / (vol * root);
        float d2 = d1 - vol * root, discount = expf(-rate * years[i]);
        call[i] = price[i] * normal(d1) - strike[i] * discount * normal(d2);
        put[i] = strike[i] * discount * normal(-d2) - price[i] * normal(-d1);
    }
}
struct Xorwow { unsigned d, v[5]; };
__device__ unsigned next(Xorwow *s) {
    unsigned t = s->v[0] ^ (s->v[0] >> 2);
    for (int i = 0; i < 4; i++) s->v[i] = s->v[i + 1];
    s->v[4] = (s->v[4] ^ (s->v[4] << 4)) ^ (t ^ (t << 1));
    s->d += 362437;
    return s->v[4] + s->d;
}
extern "C" __global__ void monte_carlo(unsigned *hits, int rounds) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    Xorwow state = {6615241u + id, {123456789u ^ id, 362436069u, 521288629u, 88675123u, 5783321u}};
    unsigned inside = 0;
    for (int r = 0; r < rounds; r++) {
        unsigned x = next(&state) >> 17, y = next(&state) >> 17;
        if (x * x + y * y < (1u << 30)) inside++;
    }
    hits[id] = inside;
}
extern "C" __global__ void singles(const float *x, const float *y, float *out, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    float a = x[i], b = y[i], *o = out + i;
    int k = 0;
#define PUT(value) o[n * k++] = (value)
    PUT(expf(a)); PUT(exp2f(a)); PUT(exp10f(a)); PUT(expm1f(a)); PUT(logf(b)); PUT(log2f(b));
    PUT(log10f(b)); PUT(log1pf(b)); PUT(sinf(a)); PUT(cosf(a)); PUT(tanf(a)); PUT(asinf(a / 10));
    PUT(acosf(a / 10)); PUT(atanf(a)); PUT(atan2f(a, b)); PUT(sinhf(a)); PUT(coshf(a)); PUT(tanhf(a));
    PUT(powf(b, a)); PUT(sqrtf(b)); PUT(cbrtf(a)); PUT(rsqrtf(b)); PUT(erff(a)); PUT(erfcf(a));
    PUT(lgammaf(b)); PUT(tgammaf(b)); PUT(fmodf(a, b)); PUT(remainderf(a, b)); PUT(hypotf(a, b));
    PUT(floorf(a)); PUT(ceilf(a)); PUT(truncf(a)); PUT(roundf(a)); PUT(rintf(a)); PUT(fabsf(a));
    PUT(copysignf(b, a)); PUT(fdimf(a, b)); PUT(a / b); PUT(1.0f / b); PUT(ldexpf(a, 3));
    PUT(sinf(a * 1e5f)); PUT(__expf(a)); PUT(__logf(b)); PUT(__sinf(a)); PUT(__cosf(a));
    PUT(__powf(b, a)); PUT(__fdividef(a, b)); PUT(__frsqrt_rn(b)); PUT(__fsqrt_rn(b));
    PUT(__saturatef(a)); PUT(normcdff(a)); PUT(sinpif(a)); PUT(fmaxf(a, b)); PUT(fminf(a, b));
}
extern "C" __global__ void doubles(const double *x, const double *y, double *out, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    double a = x[i], b = y[i], *o = out + i;
    int k = 0;
    PUT(exp(a)); PUT(exp2(a)); PUT(expm1(a)); PUT(log(b)); PUT(log2(b)); PUT(log10(b)); PUT(log1p(b));
    PUT(sin(a)); PUT(cos(a)); PUT(tan(a)); PUT(asin(a / 10)); PUT(acos(a / 10)); PUT(atan(a));
    PUT(atan2(a, b)); PUT(sinh(a)); PUT(cosh(a)); PUT(tanh(a)); PUT(pow(b, a)); PUT(sqrt(b));
    PUT(cbrt(a)); PUT(rsqrt(b)); PUT(erf(a)); PUT(erfc(a)); PUT(lgamma(b)); PUT(tgamma(b));
    PUT(fmod(a, b)); PUT(remainder(a, b)); PUT(hypot(a, b)); PUT(floor(a)); PUT(ceil(a)); PUT(trunc(a));
    PUT(round(a)); PUT(rint(a)); PUT(fabs(a)); PUT(copysign(b, a)); PUT(fdim(a, b)); PUT(a / b);
    PUT(1.0 / b); PUT(ldexp(a, 3)); PUT(sin(a * 1e10)); PUT(fma(a, b, 1.0)); PUT(fmax(a, b));
    PUT(j0(b)); PUT(normcdf(a));
}
extern "C" __global__ void rounded(const float *x, const float *y, float *f, int *w, int n) {
    int i = threadIdx.x, k = 0;
    if (i >= n) return;
    float a = x[i], b = y[i], *o = f + i;
    PUT(__fadd_rz(a, b)); PUT(__fadd_ru(a, b)); PUT(__fadd_rd(a, b)); PUT(__fmul_rz(a, b));
    PUT(__fmul_ru(a, b)); PUT(__fmul_rd(a, b)); PUT(__fmaf_rz(a, b, a)); PUT(__fmaf_ru(a, b, a));
    PUT(__fmaf_rd(a, b, a)); PUT(__fdiv_rz(a, b)); PUT(__fdiv_ru(a, b)); PUT(__fdiv_rd(a, b));
    PUT(__frcp_rz(b)); PUT(__fsqrt_ru(b)); PUT(__int2float_rz(__float_as_int(a)));
    k = 0;
    int *v = w + i;
#define PUTI(value) v[n * k++] = (value)
    PUTI(__float2int_rd(a)); PUTI(__float2int_ru(a)); PUTI(__float2int_rn(a)); PUTI(__float2int_rz(a));
    PUTI((int)(a * 1e12f)); PUTI((int)(unsigned)a); PUTI((int)(signed char)a); PUTI(__float_as_int(a));
    PUTI((int)__double2float_rn((double)a * b)); PUTI(__double2int_rd((double)a)); PUTI(isnan(a / 0.0f));
    PUTI(lrintf(a)); PUTI((int)llroundf(a)); PUTI(signbit(a) != 0); PUTI(ilogbf(b));
}
extern "C" __global__ void halves(const float *x, const float *y, float *out, __half *h,
                                  __nv_bfloat16 *w, int n) {
    int i = threadIdx.x, k = 0;
    if (i >= n) return;
    float *o = out + i;
    __half a = __float2half(x[i]), b = __float2half(y[i]);
    PUT(__half2float(__hadd(a, b))); PUT(__half2float(a * b)); PUT(__half2float(__hfma(a, b, a)));
    PUT(__half2float(a / b)); PUT(__half2float(hsqrt(b))); PUT(__half2float(hexp(a)));
    PUT(__half2float(__hmax(a, b))); PUT(a < b); PUT(__hgt(a, b)); PUT(__half2float(__hneg(a)));
    PUT(__half2int_rn(a)); PUT(__half2float(__int2half_rn(i))); PUT(__half2float(__habs(a)));
    h[i] = a;
    __half2 p = __floats2half2_rn(x[i], y[i]), q = __half2half2(b);
    float2 s = __half22float2(__hfma2(p, q, p));
    PUT(s.x); PUT(s.y);
    s = __half22float2(__hmul2(p, __lowhigh2highlow(p)));
    PUT(s.x); PUT(__hbgt2(p, q));
#if __CUDA_ARCH__ >= 800
    __nv_bfloat16 c = __float2bfloat16(x[i]), d = __float2bfloat16(y[i]);
    PUT(__bfloat162float(c)); PUT(__bfloat162float(c * d)); PUT(__bfloat162float(c + d));
    PUT(__bfloat162float(__hfma(c, d, c))); PUT(c < d); PUT(__bfloat162float(__hmax(c, d)));
    w[i] = d;
    __nv_bfloat162 u = __floats2bfloat162_rn(x[i], y[i]), v = __bfloat162bfloat162(d);
    s = __bfloat1622float2(__hadd2(u, v));
    PUT(s.x); PUT(s.y);
#endif
}
extern "C" __global__ void kmeans(const float2 *point, float2 *centre, int *label, float2 *sum,
                                  int *count, int n, int k) {
    extern __shared__ float2 shared_centre[];
    if (threadIdx.x < k) shared_centre[threadIdx.x] = centre[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float best = 3.4e38f;
    int where = -1;
    for (int c = 0; c < k; c++) {
        float x = point[i].x - shared_centre[c].x, y = point[i].y - shared_centre[c].y;
        float d = x * x + y * y;
        if (d < best) { best = d; where = c; }
    }
    label[i] = where;
    atomicAdd(&sum[where].x, point[i].x);
    atomicAdd(&sum[where].y, point[i].y);
    atomicAdd(&count[where], 1);
}
