// One atomic per lane on data[table[...]]; `lanes` says which lanes of each warp take part.

template <class T, bool returned>
__device__ void add(T* data, T* out, const int* table, int stride, int divide, int modulo,
                    unsigned lanes) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int at = table[t / divide * stride % modulo];
  T value = out[t];
  if (!(lanes >> (threadIdx.x & 31) & 1)) return;
  T old = atomicAdd(data + at, value);
  if (returned) out[t] = old;
}

#define KERNEL(name, T, returned)                                                               \
  extern "C" __global__ void name(T* data, T* out, const int* table, int stride, int divide,   \
                                  int modulo, unsigned lanes) {                                \
    add<T, returned>(data, out, table, stride, divide, modulo, lanes);                         \
  }

KERNEL(red_i32, int, false)
KERNEL(atom_i32, int, true)
KERNEL(red_f32, float, false)
KERNEL(atom_f32, float, true)
KERNEL(red_u64, unsigned long long, false)
KERNEL(atom_u64, unsigned long long, true)
KERNEL(red_f64, double, false)
