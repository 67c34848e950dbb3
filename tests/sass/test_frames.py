"""Local memory that functions need when they are called, as an H200 counted it."""

import pytest

import gpuviz

pytestmark = pytest.mark.machine_code
STEPS = """
__device__ __noinline__ int steps(int n, int v) { return n <= 0 ? v : steps(n - 1, v * 3 + n) ^ n; }
extern "C" __global__ void deep(int* o, int k, int d) { int t = threadIdx.x; o[t] = CALL; }
"""
UNDER = "t + (t < k ? steps(t & d, t) : (t ^ t))"
PLAIN = "steps(t < k ? d : 0, t)"


@pytest.mark.parametrize(
    ("call", "lanes", "depth", "requests", "sectors"),
    [(UNDER, 17, 7, 32, 68), (UNDER, 31, 1, 8, 32), (PLAIN, 17, 3, 16, 52)],
)
def test_saved_registers_are_counted_for_the_lanes_that_were_called(
    call: str, lanes: int, depth: int, requests: int, sectors: int
) -> None:
    run = gpuviz.trace(STEPS.replace("CALL", call), 1, 32, ("i32[64]=zeros", lanes, depth))
    found = [run.counts[f"local_load_{what}"] for what in ("requests", "sectors")]
    assert found == [requests, sectors]
    assert run.counts["local_store_requests"] == requests
