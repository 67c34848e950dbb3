// Sorting, graphs, dynamic programming, cellular automata, searching.
extern "C" __global__ void bitonic(unsigned *data, int n, int j, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
    if (other > i && other < n) {
        bool up = (i & k) == 0;
        if ((data[i] > data[other]) == up) {
            unsigned kept = data[i];
            data[i] = data[other];
            data[other] = kept;
        }
    }
}
extern "C" __global__ void bitonic_shared(int *data) {
    __shared__ int part[256];
    int t = threadIdx.x;
    part[t] = data[blockIdx.x * 256 + t];
    __syncthreads();
    for (int k = 2; k <= 256; k <<= 1)
        for (int j = k >> 1; j > 0; j >>= 1) {
            int o = t ^ j;
            if (o > t && (part[t] > part[o]) == ((t & k) == 0)) {
                int kept = part[t];
                part[t] = part[o];
                part[o] = kept;
            }
            __syncthreads();
        }
    data[blockIdx.x * 256 + t] = part[t];
}
extern "C" __global__ void odd_even(short *data, int n) {
    int t = threadIdx.x;
    for (int phase = 0; phase < n; phase++) {
        int i = 2 * t + (phase & 1);
        if (i + 1 < n && data[i] > data[i + 1]) {
            short kept = data[i];
            data[i] = data[i + 1];
            data[i + 1] = kept;
        }
        __syncthreads();
    }
}
extern "C" __global__ void radix_split(unsigned *data) {
    __shared__ unsigned now[256], next[256];
    __shared__ int sums[8];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    now[t] = data[t];
    __syncthreads();
    for (int bit = 0; bit < 32; bit++) {
        unsigned value = now[t];
        bool one = value >> bit & 1;
        unsigned zeros = __ballot_sync(~0u, !one);
        int before = __popc(zeros & ((1u << lane) - 1));
        if (lane == 0) sums[warp] = __popc(zeros);
        __syncthreads();
        int base = 0, total = 0;
        for (int w = 0; w < 8; w++) {
            if (w < warp) base += sums[w];
            total += sums[w];
        }
        int rank = one ? total + t - (base + before) : base + before;
        next[rank] = value;
        __syncthreads();
        now[t] = next[t];
        __syncthreads();
    }
    data[t] = now[t];
}
extern "C" __global__ void bfs(const int *start, const int *edge, int *depth, int *changed, int n,
                               int level) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || depth[v] != level) return;
    for (int e = start[v]; e < start[v + 1]; e++) {
        int w = edge[e];
        if (depth[w] < 0) { depth[w] = level + 1; *changed = 1; }
    }
}
extern "C" __global__ void bfs_queue(const int *start, const int *edge, int *depth, const int *queue,
                                     int count, int *next, int *next_count) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= count) return;
    int v = queue[q];
    for (int e = start[v]; e < start[v + 1]; e++)
        if (atomicCAS(&depth[edge[e]], -1, depth[v] + 1) == -1) next[atomicAdd(next_count, 1)] = edge[e];
}
extern "C" __global__ void spmv_scalar(const int *start, const int *col, const double *val,
                                       const double *x, double *y, int n) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < n) {
        double sum = 0;
        for (int e = start[r]; e < start[r + 1]; e++) sum += val[e] * x[col[e]];
        y[r] = sum;
    }
}
extern "C" __global__ void spmv_vector(const int *start, const int *col, const double *val,
                                       const double *x, double *y, int n) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (r >= n) return;
    double sum = 0;
    for (int e = start[r] + lane; e < start[r + 1]; e += 32) sum += val[e] * x[col[e]];
    for (int d = 16; d; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (lane == 0) y[r] = sum;
}
#define B 16
extern "C" __global__ void needle(int *score, const int *match, int n, int penalty, int diagonal) {
    __shared__ int tile[B + 1][B + 1];
    int bx = blockIdx.x + max(0, diagonal - n / B + 1), by = diagonal - bx, t = threadIdx.x;
    int w = n + 1, origin = by * B * w + bx * B;
    tile[t + 1][0] = score[origin + (t + 1) * w];
    tile[0][t + 1] = score[origin + t + 1];
    if (t == 0) tile[0][0] = score[origin];
    __syncthreads();
    for (int m = 0; m < 2 * B - 1; m++) {
        int x = t + 1, y = m - t + 1;
        if (y >= 1 && y <= B)
            tile[y][x] = max(tile[y - 1][x - 1] + match[(by * B + y - 1) * n + bx * B + x - 1],
                             max(tile[y][x - 1], tile[y - 1][x]) - penalty);
        __syncthreads();
    }
    for (int y = 1; y <= B; y++) score[origin + y * w + t + 1] = tile[y][t + 1];
}
extern "C" __global__ void life(const unsigned char *in, unsigned char *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int alive = 0;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
            if (i || j) alive += in[(y + j + h) % h * w + (x + i + w) % w];
    out[y * w + x] = alive == 3 || (alive == 2 && in[y * w + x]);
}
__constant__ char pattern[16] = "abra";
extern "C" __global__ void find(const char *text, int n, int m, int *found, int *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + m > n) return;
    for (int k = 0; k < m; k++)
        if (text[i + k] != pattern[k]) return;
    found[i] = 1;
    atomicAdd(count, 1);
}
extern "C" __global__ void merge_path(const int *a, const int *b, int *out, int na, int nb) {
    int d = blockIdx.x * blockDim.x + threadIdx.x;
    if (d >= na + nb) return;
    int low = max(0, d - nb), high = min(d, na);
    while (low < high) {
        int mid = (low + high) / 2;
        if (a[mid] <= b[d - 1 - mid]) low = mid + 1;
        else high = mid;
    }
    int i = low, j = d - low;
    out[d] = j >= nb || (i < na && a[i] <= b[j]) ? a[i] : b[j];
}
