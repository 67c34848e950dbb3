"""Reductions of a whole warp to one address, and stores under a guard after a loop."""

import pytest

import gpuviz

pytestmark = pytest.mark.machine_code
SUMS = """extern "C" __global__ void sums(int* x, int c)
{
    if ((threadIdx.x & c) == 0) atomicAdd(&x[blockIdx.x], (int)threadIdx.x);
}"""
CLEARS = """extern "C" __global__ void clears(int* out)
{
    __shared__ int s[1024]; __shared__ int sb[64];
    int t = threadIdx.x;
    for (int z = t; z < 1024; z += blockDim.x) s[z] = z * 7;
    if (t < 64) sb[t] = 0;
    __syncthreads();
    out[t] = s[(t * 5) & 1023] + sb[t & 63];
}"""


@pytest.mark.parametrize("mask", [0, 1, 31])
def test_one_lane_adds_for_its_warp(mask: int) -> None:
    """As in the kernels of which an H200 counted one sector a warp, whatever lanes take part."""
    run = gpuviz.trace(SUMS, 2, 64, ("i32[2]=zeros", mask))
    assert run.counts["global_reduction_requests"] == 4
    assert run.counts["global_reduction_sectors"] == 4
    assert run.arrays["x"].tolist() == [sum(t for t in range(64) if not t & mask)] * 2


def test_lanes_with_addresses_of_their_own_add_each() -> None:
    source = SUMS.replace("x[blockIdx.x]", "x[threadIdx.x * 8]")
    run = gpuviz.trace(source, 1, 64, ("i32[512]=zeros", 0))
    assert run.counts["global_reduction_sectors"] == 64


def test_a_guard_whose_test_was_moved_is_issued_to_all_warps() -> None:
    """Two of six warps turn six times, the others five; all are issued the store after the loop."""
    run = gpuviz.trace(CLEARS, 1, 192, ("i32[192]=zeros",))
    assert run.counts["shared_store_requests"] == 2 * 6 + 4 * 5 + 6
