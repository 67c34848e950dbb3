// Two kernels at the ends of a roofline: hardly any arithmetic for the bytes moved, and a lot of it.
#ifndef DEGREE
#define DEGREE 64
#endif

extern "C" __global__ void strided_axpy(float a, const float* x, float* y, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = a * x[i * stride] + y[i];
}

// A polynomial with all coefficients a, by Horner's rule.
extern "C" __global__ void polynomial(float a, const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float at = x[i], sum = a;
#pragma unroll 8
    for (int k = 0; k < DEGREE; ++k)
        sum = sum * at + a;
    y[i] = sum;
}
