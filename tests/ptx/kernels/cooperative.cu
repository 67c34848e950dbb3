// Cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

extern "C" __global__ void aggregated(const int *in, int *out, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 50) {
        cg::coalesced_group active = cg::coalesced_threads();
        int base;
        if (active.thread_rank() == 0) base = atomicAdd(count, active.size());
        out[active.shfl(base, 0) + active.thread_rank()] = in[i];
    }
}
template <unsigned N> __device__ int tile_sum(cg::thread_block_tile<N> tile, int x) {
    for (int d = tile.size() / 2; d > 0; d /= 2) x += tile.shfl_down(x, d);
    return x;
}
extern "C" __global__ void tiles(const int *in, int *out) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    cg::thread_block_tile<8> part = cg::tiled_partition<8>(warp);
    int x = in[block.thread_rank()];
    int sum = tile_sum(part, x);
    sum = part.shfl(sum, 0);
    block.sync();
    if (part.meta_group_rank() % 2 == 0) sum += part.ballot(x & 1);
    warp.sync();
    out[block.thread_rank()] = sum + warp.any(x > 60) + part.thread_rank();
}
extern "C" __global__ void collectives(const int *in, int *out) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int x = in[threadIdx.x], n = blockDim.x;
    out[threadIdx.x] = cg::reduce(tile, x, cg::plus<int>());
    out[n + threadIdx.x] = cg::reduce(tile, x, cg::greater<int>());
    out[2 * n + threadIdx.x] = cg::inclusive_scan(tile, x);
    out[3 * n + threadIdx.x] = cg::exclusive_scan(tile, x);
    auto odd = cg::binary_partition(tile, x & 1);
    out[4 * n + threadIdx.x] = odd.size() * 100 + odd.thread_rank();
    auto same = cg::labeled_partition(tile, x % 3);
    out[5 * n + threadIdx.x] = same.size() * 100 + cg::reduce(same, 1, cg::plus<int>());
}
extern "C" __global__ void grid_syncs(int *a, int *b) {
    auto grid = cg::this_grid();
    int i = grid.thread_rank();
    a[i] = i;
    grid.sync();
    b[i] = a[(i + 40) % grid.size()];
    grid.sync();
    a[i] = b[(i + 7) % grid.size()];
}
