// Every thread works on `each` elements of an array, `stride` elements apart.
// Threads go in rows of `stride`: a row walks side by side through its own part of the array, and
// `offset` says with which of the row's elements its first thread starts. Threads in every other
// group of `group` double their elements, the rest square them.
extern "C" __global__ void square_array(float* a, int each, int stride, int offset, int group)
{
    int row = threadIdx.x / stride;
    int start = (blockIdx.x * blockDim.x + row * stride) * each;  // of the row's part
    int first = start + (threadIdx.x + offset) % stride;
    int end = first + each * stride;

    if (threadIdx.x / group % 2 == 0) {
#pragma unroll 1
        for (int i = first; i < end; i += stride)
            a[i] = a[i] * a[i];
    } else {
#pragma unroll 1
        for (int i = first; i < end; i += stride)
            a[i] = a[i] + a[i];
    }
}
