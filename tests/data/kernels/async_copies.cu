// cp.async of 4, 8 or 16 bytes a lane from global to shared memory, with a stride on either side.

#define COPY(name, kind, bytes)                                                                  \
  extern "C" __global__ void name(const uint4* in, unsigned* out, int offset, int from, int to, \
                                  unsigned lanes) {                                             \
    __shared__ __align__(1024) unsigned char s[16384];                                          \
    int t = threadIdx.x, g = blockIdx.x * blockDim.x + t;                                       \
    const unsigned char* source = (const unsigned char*)in + (g * from + offset) % 4096 * bytes; \
    unsigned target = (unsigned)__cvta_generic_to_shared(s + t * to * bytes % 16384);           \
    if (lanes >> (t & 31) & 1)                                                                  \
      asm volatile("cp.async." kind ".shared.global [%0], [%1], " #bytes ";" ::"r"(target),     \
                   "l"(source)                                                                  \
                   : "memory");                                                                 \
    asm volatile("cp.async.wait_all;" ::: "memory");                                            \
    __syncthreads();                                                                            \
    out[g] = ((const unsigned*)s)[t];                                                           \
  }

COPY(ca4, "ca", 4)
COPY(ca8, "ca", 8)
COPY(ca16, "ca", 16)
COPY(cg16, "cg", 16)
