// Every thread writes down who it is: where it stands in its block, and the numbers that this makes.
extern "C" __global__ void identify(int4* index, int4* number)
{
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int warp = thread / warpSize;
    int lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));  // the hardware's own answer: thread % warpSize

    int threads = blockDim.x * blockDim.y * blockDim.z;
    int i = block * threads + thread;
    index[i] = make_int4(threadIdx.x, threadIdx.y, threadIdx.z, block);
    number[i] = make_int4(thread, warp, lane, i);
}
