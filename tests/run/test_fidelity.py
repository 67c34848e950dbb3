"""How sure the counts of a run are is told by a rule."""

import numpy as np
import pytest

import gpuviz
from gpuviz.run.fidelity import fidelity

ROWS = """extern "C" __global__ void rows(const float* a, float* b)
{ b[blockIdx.x * 32 + threadIdx.x] = a[blockIdx.x * 32 + threadIdx.x] * 2.0f; }"""
SUMS = """extern "C" __global__ void sums(int* total)
{ atomicAdd(&total[threadIdx.x % LINES * 32 + threadIdx.x / LINES % 32], 1); }"""


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
@pytest.mark.parametrize(("lines", "sure"), [(4, True), (8, False)])
def test_atomics_over_more_lines_than_their_rule_was_read_for_are_told(
    lines: int, sure: bool
) -> None:
    run = gpuviz.trace(SUMS.replace("LINES", str(lines)), 4, 64, (np.zeros(512, np.int32),))
    doubts = [d for d in run.fidelity.doubts if d.counters == ("global_reduction_sectors",)]
    assert not doubts if sure else doubts[0].direction == "more"
    assert ("global_reduction_sectors" in fidelity(run._run).words) is not sure
