"""Requests that are issued under a guard that holds for no lane are counted, and told apart; pairs
of f16 in one instruction are no copies of a loop.
"""

from __future__ import annotations

import pytest

from gpuviz.arch import architecture
from gpuviz.arguments import parse
from gpuviz.compile import compile_cuda
from gpuviz.launch.job import Job
from gpuviz.memory.counts import Count
from gpuviz.ptx.text.parser import parse as parse_ptx
from gpuviz.results.quantities import per_request, rows_of
from gpuviz.run import emulated
from gpuviz.run.run import Run
from gpuviz.sass.level import sass_level
from tests.sass.kernels import LAUNCHES

pytestmark = pytest.mark.machine_code
SOURCE = """__global__ void sum(const float* a, float* c) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    for (int o = 128; o > 0; o /= 2) { if (t < o) s[t] += s[t + o]; __syncthreads(); }
    if (t == 0) c[0] = s[0];
}
"""


def run() -> Run:
    program = compile_cuda(SOURCE)
    arguments = (parse("f32[256]=rand"), parse("f32[1]=zeros"))
    job = Job(program, program.kernels[0], (1, 1, 1), (256, 1, 1), arguments)
    return emulated.run(job, architecture("sm_90"))


def test_requests_of_no_lane_are_told_beside_those_counted() -> None:
    found = run().counts
    # 8 warps store once and come by 8 times; 4, 2, 1, 1, ... of them have a lane that adds
    stores = Count.SHARED_STORE_REQUESTS
    assert found.totals[stores] == 8 + 8 * 8 and found.silent[stores] == 64 - (4 + 2 + 6)
    assert found.totals[Count.SHARED_STORE_WAVEFRONTS] == 8 + 4 + 2 + 6
    labels = [row.label for row in rows_of([found.totals], True, [found.silent])]
    shared = labels[labels.index("Shared memory") :]
    assert shared[shared.index("store requests") + 1] == "of them without a lane"
    assert "of them without a lane" not in [row.label for row in rows_of([found.totals])]


def test_an_average_is_of_the_requests_that_have_a_lane() -> None:
    found = run().counts
    adds = max(row.instruction.line for row in found.rows if row.silent)
    rows = [r for r in found.rows if r.instruction.line == adds and r.instruction.op == "store"]
    assert sum(row.made for row in rows) == 12 and sum(row.silent for row in rows) == 52
    assert per_request(rows) == "st 1 wavefront / request"


def test_pairs_of_f16_are_no_copies_of_a_loop() -> None:
    program = compile_cuda(LAUNCHES["f16_tile"]["path"].read_text())
    module = parse_ptx(program.ptx)
    plan = sass_level(program, module, "f16_tile", "sm_90").plan
    assert plan is not None and not plan.origin
    assert {match.kind for match in plan.matches.values()} == {"same", "widened", "merged"}
