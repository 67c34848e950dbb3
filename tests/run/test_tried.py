"""A barrier advised against a race was put in, and the races were gone; else that is said."""

from __future__ import annotations

from gpuviz.arch import architecture
from gpuviz.arguments import parse
from gpuviz.compile import compile_cuda
from gpuviz.launch.job import Job
from gpuviz.ptx.options import Options
from gpuviz.run import emulated
from gpuviz.run.run import Run
from gpuviz.run.tried import tried

REDUCE = """__global__ void f(const float *in, float *out) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[t];
    for (int k = 128; k > 0; k /= 2) {
        if (t < k)
            s[t] += s[t + k];
    }
    if (t == 0) out[0] = s[0];
}
"""
SUM = """__global__ void f(const int *in, int *out) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    for (int k = 0; k < 4; k++) s += in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s;
}
"""


def _tried(source: str, arguments: str) -> Run:
    program = compile_cuda(source)
    given = tuple(map(parse, arguments.split()))
    job = Job(program, program.kernels[0], (1, 1, 1), (256, 1, 1), given)
    arch, options = architecture("sm_90"), Options(checks=("race", "sync"))
    run = emulated.run(job, arch, level="ptx", options=options)
    assert any(one.check == "race" for one in run.trace.findings)
    return tried(run, job, arch, options)


def _remedies(run: Run) -> set[str]:
    return {one.remedy for one in run.trace.findings if one.check == "race"}


def test_a_barrier_is_tried_around_a_branch_that_not_all_take() -> None:
    run = _tried(REDUCE, "f32[256]=rand f32[1]=zeros")
    assert _remedies(run) == {"put __syncthreads() before line 6: tried, no race is left"}


def test_races_that_a_barrier_leaves_are_told() -> None:
    run = _tried(SUM, "i32[256]=arange i32[256]=zeros")
    said = [one for one in _remedies(run) if "tried" in one]
    assert said and all("is not enough: tried" in one and "are left" in one for one in said)


def test_pairs_within_a_warp_and_across_warps_want_a_barrier_of_the_block() -> None:
    """The first pair alone was looked at: __syncwarp() left those of other warps."""
    source = """__global__ void f(int *out) {
    __shared__ int s[65];
    s[threadIdx.x % 64] = threadIdx.x % 64;
    out[threadIdx.x] = s[(threadIdx.x + 1) % 64];
}
"""
    program = compile_cuda(source)
    job = Job(program, program.kernels[0], (1, 1, 1), (64, 1, 1), (parse("i32[64]=zeros"),))
    options = Options(checks=("race",))
    run = emulated.run(job, architecture("sm_90"), level="ptx", options=options)
    assert {one.remedy for one in run.trace.findings} == {"put __syncthreads() between them"}
