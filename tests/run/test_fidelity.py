"""How sure the counts of a run are is told by a rule."""

import numpy as np
import pytest

import gpuviz
from gpuviz.run.fidelity import fidelity

ROWS = """extern "C" __global__ void rows(const float* a, float* b)
{ b[blockIdx.x * 32 + threadIdx.x] = a[blockIdx.x * 32 + threadIdx.x] * 2.0f; }"""
SUMS = """extern "C" __global__ void sums(int* total)
{ atomicAdd(total, (int)(threadIdx.x * threadIdx.x)); }"""


@pytest.mark.machine_code
def test_a_plain_copy_is_exact_and_as_the_ptx_has_it_may_differ() -> None:
    run = gpuviz.trace(ROWS, 4, 32, (np.ones(128, np.float32), np.zeros(128, np.float32)))
    assert run.fidelity.kind == "exact" and run.fidelity.doubts == ()
    assert run.fidelity.words == "counts are exact"
    written = gpuviz.trace(
        ROWS, 4, 32, (np.ones(128, np.float32), np.zeros(128, np.float32)), level="ptx"
    )
    assert written.fidelity.kind == "exact but"
    assert written.fidelity.doubts[0].counters == ("global", "shared", "local")


@pytest.mark.machine_code
def test_a_sum_over_the_warp_before_its_atomic_is_told_with_its_direction() -> None:
    run = gpuviz.trace(SUMS, 4, 64, (np.zeros(1, np.int32),))
    doubt = next(d for d in run.fidelity.doubts if "sum over a warp" in d.why)
    assert doubt.counters == ("global_reduction",) and doubt.direction == "fewer"
    assert "global_reduction" in fidelity(run._run).words
