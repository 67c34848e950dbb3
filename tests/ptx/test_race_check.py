import tracemalloc
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from gpuviz.compile import nvrtc
from gpuviz.ptx.checks import regions
from gpuviz.ptx.checks.race import hazards
from gpuviz.ptx.emulator import Options, emulate
from gpuviz.traces.check_table import ALL
from gpuviz.traces.trace import Finding, Trace
from tests.ptx.launching import compiled, launch

pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")
BARRIER = "__syncthreads();"
# 64 threads write a float each; then each reads that of its mirror in the other warp.
MIRROR = """
extern "C" __global__ void k(float* out) {
    __shared__ float s[64];
    int t = threadIdx.x;
    for (int turn = 0; turn < 2; ++turn) {
        s[t] = t + turn;                        // line 6
        %s
        out[t] += s[63 - t];                    // line 8
        %s
    }
}"""
PLAIN = """
extern "C" __global__ void k(float* out) {
    __shared__ float s[128];
    int t = threadIdx.x;
    %s
    out[t] = s[t];
}"""


@cache
def traced(source: str, blocks: int = 1) -> Trace:
    out = np.zeros(320, np.float32)
    options = Options(checks=("race",))
    return launch(source, "k", blocks, 64, out, options=options).trace


def races(trace: Trace) -> tuple[Finding, ...]:
    return tuple(f for f in trace.findings if f.kind.startswith("race"))


def kinds(source: str) -> list[tuple[str, int, int]]:
    """Kind, line of the second access, words at stake."""
    return [(f.kind, f.line, f.count) for f in races(traced(source))]


def test_barriers_in_their_places_leave_nothing_to_report() -> None:
    assert races(traced(MIRROR % (BARRIER, BARRIER))) == ()


def test_without_the_first_barrier_a_read_may_come_too_early() -> None:
    # Each turn puts all 64 words at stake; the second barrier parts the turns.
    assert kinds(MIRROR % ("", BARRIER)) == [("race, read after write", 8, 128)]
    found: Finding = races(traced(MIRROR % ("", BARRIER)))[0]
    assert found.severity == "error" and found.block == (0, 0, 0)
    assert "line 6" in found.message and "line 8" in found.message
    assert found.thread[0] == 63 - found.address // 4


def test_without_the_second_barrier_a_write_may_come_too_early() -> None:
    assert kinds(MIRROR % (BARRIER, "")) == [("race, write after read", 6, 64)]


def test_without_both_reads_and_writes_may_come_too_early() -> None:
    assert sorted(kinds(MIRROR % ("", ""))) == [
        ("race, read after write", 8, 64),
        ("race, write after read", 6, 64),
    ]


def test_two_warps_must_not_write_the_same_word() -> None:
    assert kinds(PLAIN % "s[t % 32] = t;")[0] == ("race, write after write", 5, 32)
    found = hazards(traced(PLAIN % "s[t % 32] = t;"))[0]
    assert found.threads == (0, 32) and found.first is found.second and found.address == 0


def test_lanes_of_one_warp_are_in_no_order_either() -> None:
    apart = "s[t ^ 1] = t; %s"
    assert kinds(PLAIN % apart % "") == [("race, read after write", 6, 64)]
    assert "__syncwarp" in races(traced(PLAIN % apart % ""))[0].remedy
    assert kinds(PLAIN % apart % "__syncwarp();") == []
    halves = "__syncwarp(t & 16 ? 0xffff0000 : 0xffff);"
    assert kinds(PLAIN % apart % halves) == []
    assert kinds(PLAIN % "s[t ^ 31] = t; %s" % halves) == [("race, read after write", 6, 64)]


def test_below_7_0_the_lanes_of_a_warp_run_in_step() -> None:
    module = replace(compiled(PLAIN % "s[t ^ 1] = t;", "sm_80"))
    older = replace(module, text=module.text.replace(".target sm_80", ".target sm_61"))
    given = [np.zeros(64, np.float32)], Options(checks=("race",))
    for text, races_ in ((module, 1), (older, 0)):
        found = emulate(text, "k", (1, 1, 1), (64, 1, 1), given[0], options=given[1])
        assert len(found.trace.findings) == races_


def test_two_lanes_that_write_one_word_in_one_instruction() -> None:
    found = races(traced(PLAIN % "s[t / 2] = t; __syncthreads();"))
    assert [(f.line, f.count) for f in found] == [(5, 32)]
    assert "same instruction" in found[0].message and found[0].thread == (1, 0, 0)
    assert kinds(PLAIN % "s[t / 2] = t / 2; __syncthreads();") == []  # all the same value


def test_the_same_value_written_by_warps_is_no_race() -> None:
    assert kinds(PLAIN % "s[t] = 7; s[63 - t] = 7; __syncthreads();") == []
    differs = PLAIN % "s[t] = 7; s[63 - t] = 8; __syncthreads();"
    assert kinds(differs) == [("race, write after write", 5, 64)]


def test_atomics_race_with_plain_accesses_but_not_with_each_other() -> None:
    assert kinds(PLAIN % "atomicAdd(&s[t % 32 + 64], 1.0f);") == []
    mixed = PLAIN % "atomicAdd(&s[t % 32 + 64], 1.0f); if (t == 0) out[0] = s[64 + 7];"
    assert kinds(mixed) == [("race, read after write", 5, 1)]


def test_narrow_accesses_are_compared_byte_by_byte() -> None:
    apart = PLAIN.replace("float s", "unsigned char s") % "s[t] = t;"
    assert kinds(apart) == []
    shared = PLAIN.replace("float s", "unsigned char s") % "s[t] = t; s[(t + 32) % 64] = t;"
    assert [kind for kind, *_ in kinds(shared)][0].startswith("race, write after")


def test_wide_accesses_touch_all_their_words() -> None:
    body = "s[t] = t; float4 v = ((float4*)s)[t % 16]; out[64 + t] = v.x + v.y + v.z + v.w;"
    wide = PLAIN.replace("__shared__", "__shared__ __align__(16)") % body
    assert {i.width for i in traced(wide).instructions if i.op == "load"} == {16}
    assert kinds(wide) == [("race, read after write", 5, 64)]  # each warp reads them all


def test_all_blocks_are_looked_at_whether_they_do_the_same_or_not() -> None:
    alike = (PLAIN % "s[t % 32] = t; __syncthreads();").replace(
        "out[t]", "out[blockIdx.x * 64 + t]"
    )
    apart = alike.replace("s[t % 32]", "s[(t + blockIdx.x) % 32]")
    for source in (alike, apart):
        (found,) = races(traced(source, 5))
        assert found.count == 5 * 32 and found.block == (0, 0, 0)
    last = alike.replace("t % 32", "blockIdx.x == 3 ? t % 32 : t")
    (found,) = races(traced(last, 5))
    assert found.count == 32 and found.block == (3, 0, 0)


def test_blocks_race_in_global_memory() -> None:
    source = """
extern "C" __global__ void k(float* out) {
    int i = blockIdx.x * 64 + threadIdx.x;
    out[i] = out[(i + 64) % 320];
}"""
    (found,) = races(traced(source, 5))
    assert (found.kind, found.line, found.count) == ("race, write after read", 4, 320)
    assert "of block (4, 0, 0)" in found.message and "atomic" in found.remedy
    assert races(traced(source.replace("64) % 320", "0) % 320"), 5)) == ()


def test_a_kernel_without_shared_memory_has_no_race() -> None:
    assert races(traced('extern "C" __global__ void k(float* out)\n{ out[0] = 1; }')) == ()


def test_flags_changed_by_lanes_that_differ_between_blocks_follow_the_barriers_of_each() -> None:
    """Blocks that were alike until they met at a barrier are told apart by the first flag."""
    source = """
extern "C" __global__ void k(float* out) {
    __shared__ int s[64];
    int t = threadIdx.x, was;
    s[t] = t * blockIdx.x;
    __syncthreads();
    float *to = out + s[63 - t];
    asm volatile("atom.global.gpu.acq_rel.add.u32 %0, [%1], 1;" : "=r"(was) : "l"(to));
}"""
    assert races(traced(source, 5)) == ()


HISTOGRAM = """__global__ void k(const unsigned *d, unsigned *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = 0;
    if (i <= n) v = d[i];
    if (threadIdx.x <= 64) atomicAdd(&bins[threadIdx.x], v); }"""
ASTRAY = {
    "far": "__global__ void k(int *a) {\n a[threadIdx.x] = 1; if (threadIdx.x == 3) %s = 1; }",
    "null": "__global__ void k(int **p) {\n *p[0] = 1; }",
    "null, read": "__global__ void k(int **p, int *o) {\n o[threadIdx.x] = *p[0]; *p[1] = 1; }",
    "low": "__global__ void k(int *a) {\n a[(long long)threadIdx.x - 40] = 1; }",
    "high": "__global__ void k(unsigned long long *p) {\n *(int *)(p[0] - 16) = 1; }",
    "atomic": "__global__ void k(int **p) {\n atomicAdd(p[0], 1); }",
}


def words(count: int) -> np.ndarray:
    return np.zeros(count, np.uint32)


@pytest.mark.parametrize(
    "source, grid, block, arguments, faults",
    [
        (ASTRAY["far"] % "a[1 << 26]", 1, 32, [words(32)], 1),
        (ASTRAY["far"] % "a[1 << 29]", 1, 32, [words(32)], 1),
        (ASTRAY["far"] % "a[(1ll << 44)]", 1, 32, [words(32)], 1),
        (ASTRAY["null"], 1, 32, [words(8)], 32),
        (ASTRAY["null, read"], 1, 32, [words(8), words(32)], 64),
        (ASTRAY["low"], 2, 32, [words(32)], 64),
        (ASTRAY["high"], 1, 32, [words(8)], 32),
        (ASTRAY["atomic"], 1, 32, [words(8)], 32),
        (HISTOGRAM, 8, 128, [np.arange(1000, dtype=np.uint32), words(64), 1000], 9),
    ],
)
def test_what_lies_outside_of_all_memory_is_reported_and_takes_no_room(
    source: str, grid: int, block: int, arguments: list[np.ndarray], faults: int
) -> None:
    options = Options(checks=ALL, goes_on=True)
    compiled(source, "sm_90")
    tracemalloc.start()
    try:
        found = launch(source, "k", grid, block, *arguments, arch="sm_90", options=options).trace
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert {f.kind for f in found.findings} == {"illegal global access"}
    assert sum(f.count for f in found.findings) == faults
    assert most < 64 << 20


# Words, then bytes, here and there; each is written by two threads of each block.
SPARSE = """
__global__ void k(char *a, int stride) {
    long i = (threadIdx.x / 2 + 3) * (long)stride;
    *(int *)(a + i) = threadIdx.x;
    a[i + 4] = threadIdx.x;
    a[i + 7] += a[i]; }"""


def test_of_a_large_array_only_what_is_touched_takes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    options = Options(checks=("race",), engine="numpy")
    compiled(SPARSE, "sm_90")

    def found(size: int, stride: int) -> tuple[Finding, ...]:
        array = np.zeros(size, np.int8)
        return launch(
            SPARSE, "k", 2, 128, array, stride, arch="sm_90", options=options
        ).trace.findings

    tracemalloc.start()
    try:
        far = found(1 << 27, 1 << 20)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 4.5 * (1 << 27)  # the array, its copies; a shadow is 8 to 32 times as much
    assert {f.line for f in far} == {4, 5, 6}
    small = found(1 << 19, 1 << 12)
    assert [f.count for f in small] == [f.count for f in far]
    monkeypatch.setattr(regions, "_MUCH", 0)
    assert found(1 << 19, 1 << 12) == small


def test_races_beside_accesses_outside_are_found() -> None:
    source = """
__global__ void k(int *a) {
    a[threadIdx.x / 2] = threadIdx.x;  // line 3
    a[(threadIdx.x & 1) << 26] = 1; }"""
    options = Options(checks=ALL, goes_on=True)
    found = launch(source, "k", 1, 32, words(32), options=options).trace.findings
    assert {(f.kind, f.line) for f in found} >= {
        ("race, write after write", 3),
        ("illegal global access", 4),
    }


@pytest.mark.parametrize(
    "where", ["count", "*shared_by_all"], ids=["a variable", "what malloc gave"]
)
def test_variables_and_the_heap_are_looked_at(where: str) -> None:
    source = f"""
__device__ int count, *shared_by_all;
__global__ void k(int *a) {{
    if (threadIdx.x == 0) shared_by_all = (int *)malloc(4);
    __syncthreads();
    {where} = threadIdx.x;  // line 6
    a[0] = *shared_by_all; }}"""
    options = Options(checks=("race",))
    found = launch(source, "k", 1, 64, words(32), options=options).trace.findings
    assert ("race, write after write", 6) in {(f.kind, f.line) for f in found}


def test_writers_of_one_instruction_race_whoever_wrote_there_before() -> None:
    """Few threads go on for longer than others with higher numbers, which wrote there too."""
    source = """
__global__ void k(volatile int *a, const int *turns) {
    int t = threadIdx.x + blockIdx.x * blockDim.x;
    for (int i = 0; i < turns[t]; i++) a[0] = t; }"""
    turns = np.where(np.arange(1024) < 128, 9, 3).astype(np.int32)
    options = Options(checks=ALL)
    found = launch(source, "k", 4, 256, words(4), turns, options=options).trace.findings
    assert [(f.kind, f.line) for f in found] == [("race, write after write", 4)]
