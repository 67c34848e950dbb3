// Dense arrays: matrix products, transposes, convolutions, stencils, factorisations.
extern "C" __global__ void product_tiled(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ float as[16][16], bs[16][17];
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < (k + 15) / 16; t++) {
        int x = t * 16 + threadIdx.x, y = t * 16 + threadIdx.y;
        as[threadIdx.y][threadIdx.x] = row < m && x < k ? a[row * k + x] : 0.0f;
        bs[threadIdx.y][threadIdx.x] = col < n && y < k ? b[y * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = sum;
}
// 64x64 per block, 4x4 per thread, two buffers filled by float4 loads.
extern "C" __global__ void product_registers(const float *a, const float *b, float *c, int n) {
    __shared__ float as[2][8][64], bs[2][8][64];
    int t = threadIdx.x, x = t % 16, y = t / 16;
    int row = blockIdx.y * 64, col = blockIdx.x * 64;
    float sum[4][4] = {};
    int ar = t / 4, ac = t % 4 * 2, br = t / 32, bc = t % 32 * 2;
    auto fill = [&](int into, int k) {
        float2 left = *(const float2 *)&a[(row + ar) * n + k + ac];
        as[into][ac][ar] = left.x;
        as[into][ac + 1][ar] = left.y;
        *(float2 *)&bs[into][br][bc] = *(const float2 *)&b[(k + br) * n + col + bc];
    };
    fill(0, 0);
    __syncthreads();
    for (int k = 0, from = 0; k < n; k += 8, from ^= 1) {
        if (k + 8 < n) fill(from ^ 1, k + 8);
        for (int i = 0; i < 8; i++) {
            float4 left = *(float4 *)&as[from][i][y * 4], right = *(float4 *)&bs[from][i][x * 4];
            float l[4] = {left.x, left.y, left.z, left.w}, r[4] = {right.x, right.y, right.z, right.w};
            for (int p = 0; p < 4; p++)
                for (int q = 0; q < 4; q++) sum[p][q] = fmaf(l[p], r[q], sum[p][q]);
        }
        __syncthreads();
    }
    for (int p = 0; p < 4; p++)
        *(float4 *)&c[(row + y * 4 + p) * n + col + x * 4] =
            make_float4(sum[p][0], sum[p][1], sum[p][2], sum[p][3]);
}
#if __CUDA_ARCH__ >= 800
extern "C" __global__ void product_async(const float *a, const float *b, float *c, int n) {
    __shared__ alignas(16) float as[2][16][16], bs[2][16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    auto fetch = [&](int into, int k) {
        unsigned to = (unsigned)__cvta_generic_to_shared(&as[into][y][x]);
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(&a[row * n + k + x]));
        if (x % 4 == 0) {
            to = (unsigned)__cvta_generic_to_shared(&bs[into][y][x]);
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to),
                         "l"(&b[(k + y) * n + blockIdx.x * 16 + x]));
        }
        asm volatile("cp.async.commit_group;");
    };
    float sum = 0;
    fetch(0, 0);
    for (int k = 0, from = 0; k < n; k += 16, from ^= 1) {
        if (k + 16 < n) {
            fetch(from ^ 1, k + 16);
            asm volatile("cp.async.wait_group 1;");
        } else {
            asm volatile("cp.async.wait_all;");
        }
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += as[from][y][i] * bs[from][i][x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}
extern "C" __global__ void copy_part(const float *in, float *out, int n) {
    __shared__ alignas(16) float tile[128];
    unsigned to = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x * 4]);
    int first = threadIdx.x * 4, bytes = max(0, min(16, (n - first) * 4));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(in + first), "r"(bytes));
    asm volatile("cp.async.commit_group; cp.async.wait_group 0;");
    __syncthreads();
    for (int i = 0; i < 4; i++) out[first + i] = tile[first + i];
}
#endif
extern "C" __global__ void transpose(const float *in, float *out, int width, int height) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}
#define RADIUS 4
__constant__ float weights[2 * RADIUS + 1] = {.05f, .07f, .1f, .15f, .26f, .15f, .1f, .07f, .05f};
extern "C" __global__ void convolve(const float *in, float *out, int n) {
    __shared__ float line[128 + 2 * RADIUS];
    int i = blockIdx.x * 128 + threadIdx.x, t = threadIdx.x + RADIUS;
    line[t] = i < n ? in[i] : 0;
    if (threadIdx.x < RADIUS) {
        line[threadIdx.x] = i >= RADIUS ? in[i - RADIUS] : 0;
        line[t + 128] = i + 128 < n ? in[i + 128] : 0;
    }
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int k = -RADIUS; k <= RADIUS; k++) sum += line[t + k] * weights[k + RADIUS];
    if (i < n) out[i] = sum;
}
__constant__ int mask3[3][3] = {{1, 2, 1}, {2, 4, 2}, {1, 2, 1}};
extern "C" __global__ void blur(const unsigned char *in, unsigned char *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int sum = 0;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++) {
            int u = min(max(x + i, 0), w - 1), v = min(max(y + j, 0), h - 1);
            sum += in[v * w + u] * mask3[j + 1][i + 1];
        }
    out[y * w + x] = sum / 16;
}
extern "C" __global__ void stencil3d(const float *in, float *out, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
    int i = (z * ny + y) * nx + x;
    out[i] = (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - nx * ny] + in[i + nx * ny]) *
                 0.125f + in[i] * 0.25f;
}
extern "C" __global__ void hotspot(const float *temp, const float *power, float *out, int n, int steps) {
    __shared__ float now[16][16], next[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * (16 - 2 * steps) + tx - steps, y = blockIdx.y * (16 - 2 * steps) + ty - steps;
    bool inside = x >= 0 && y >= 0 && x < n && y < n;
    float p = 0;
    if (inside) { now[ty][tx] = temp[y * n + x]; p = power[y * n + x]; }
    __syncthreads();
    for (int s = 1; s <= steps; s++) {
        bool computed = inside && tx >= s && tx < 16 - s && ty >= s && ty < 16 - s;
        if (computed) {
            float c = now[ty][tx];
            float north = y > 0 ? now[ty - 1][tx] : c, south = y < n - 1 ? now[ty + 1][tx] : c;
            float west = x > 0 ? now[ty][tx - 1] : c, east = x < n - 1 ? now[ty][tx + 1] : c;
            next[ty][tx] = c + 0.1f * (p + north + south + west + east - 4 * c);
        }
        __syncthreads();
        if (computed) now[ty][tx] = next[ty][tx];
        __syncthreads();
    }
    if (inside && tx >= steps && tx < 16 - steps && ty >= steps && ty < 16 - steps)
        out[y * n + x] = now[ty][tx];
}
extern "C" __global__ void lu_step(double *a, int n, int k) {
    int j = k + 1 + blockIdx.x * blockDim.x + threadIdx.x, i = k + 1 + blockIdx.y;
    __shared__ double factor;
    if (threadIdx.x == 0) factor = a[i * n + k] / a[k * n + k];
    __syncthreads();
    if (j < n) a[i * n + j] -= factor * a[k * n + j];
}
extern "C" __global__ void cholesky(double *a, int n) {
    int t = threadIdx.x;
    for (int k = 0; k < n; k++) {
        if (t == k) a[k * n + k] = sqrt(a[k * n + k]);
        __syncthreads();
        if (t > k && t < n) a[t * n + k] /= a[k * n + k];
        __syncthreads();
        for (int j = k + 1; j <= t && t < n; j++) a[t * n + j] -= a[t * n + k] * a[j * n + k];
        __syncthreads();
    }
}
extern "C" __global__ void floyd(int *distance, int n, int k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    int through = distance[y * n + k] + distance[k * n + x];
    if (through < distance[y * n + x]) distance[y * n + x] = through;
}
extern "C" __global__ void gaussian(float *a, float *b, int n, int k) {
    int i = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float f = a[i * n + k] / a[k * n + k];
    for (int j = k; j < n; j++) a[i * n + j] -= f * a[k * n + j];
    b[i] -= f * b[k];
}
extern "C" __global__ void indices(int *out) {
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int size = blockDim.x * blockDim.y * blockDim.z;
    out[block * size + thread] = blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z +
        1000 * threadIdx.x + 10000 * threadIdx.y + 100000 * threadIdx.z;
}
