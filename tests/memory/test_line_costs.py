"""The lines that cost most: what they cost, what is wrong with them, and the lesson that tells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuviz.arch import architecture
from gpuviz.arguments import parse
from gpuviz.cli import main
from gpuviz.compile import compile_cuda
from gpuviz.course import COURSE
from gpuviz.launch.job import Job
from gpuviz.memory.line_costs import LineCost, line_costs
from gpuviz.memory.operands import operands_of
from gpuviz.ptx.options import Options
from gpuviz.run import emulated
from gpuviz.words.language import texts

SOURCE = """struct P { float x, y, z; };
__constant__ float table[64];
__global__ void f(const float* a, const P* p, const int* where, float* c, int* sum, int stride) {
    __shared__ float t[32][32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = a[i] + a[i * stride + 8192];
    v += a[i + 1];
    v += p[i].x + p[i].z;
    v += a[where[i]];
    t[threadIdx.x % 32][threadIdx.x / 32] = v;
    __syncthreads(); v += t[threadIdx.x / 32][threadIdx.x % 32];
    v += table[threadIdx.x % 4];
    atomicAdd(sum, 1);
    c[i] = v;
}
"""
ARGUMENTS = "f32[16384]=rand f32[3072]=rand i32[1024]=shuffle f32[1024]=zeros i32[1]=0 i32=4"


@pytest.fixture(scope="module")
def ranked() -> list[LineCost]:
    program = compile_cuda(SOURCE)
    arguments = tuple(map(parse, ARGUMENTS.split()))
    job = Job(program, program.kernels[0], (4, 1, 1), (256, 1, 1), arguments)
    run = emulated.run(job, architecture("sm_90"), options=Options(record=(0,)))
    return line_costs(run.trace, run.counts)


def of(ranked: list[LineCost], line: int) -> list[tuple[str, int, int, str]]:
    """Kind, cost, ideal and lesson of the accesses of a line."""
    found = next(cost for cost in ranked if cost.line == line)
    return [(a.reason.kind, a.cost, a.ideal, a.reason.lesson) for a in found.accesses]


def test_what_is_wrong_with_each_line(ranked: list[LineCost]) -> None:
    # 32 warps; 4 sectors serve a warp's 32 floats, 16 bytes from lane to lane take 16 sectors
    assert of(ranked, 6) == [("apart", 512, 128, "coalescing"), ("fine", 128, 128, "")]
    assert of(ranked, 7) == [("misaligned", 160, 128, "coalescing")]
    assert of(ranked, 8) == [("fields", 768, 256, "alignment")]  # two: no operands are known
    assert of(ranked, 10) == [("conflict", 1024, 32, "banks")]
    assert of(ranked, 12) == [("constants", 128, 32, "constant-memory")]
    assert of(ranked, 13)[0][0] == "atomic" and of(ranked, 13)[0][3] == "histogram"
    assert [kind for kind, *_ in of(ranked, 9)] == ["scattered", "fine"]


ROWS = """struct P { float x, y, z, w; };
__global__ void f(const float* A, const P* p, float* c, int N) {
    int i = threadIdx.x;
    float v = 0;
    #pragma unroll 4
    for (int j = 0; j < N; ++j)
        v += A[i * N + j];
    v += p[i].x;
    v += p[i].z;
    c[i] = v;
}
"""


def test_a_loop_along_rows_is_no_field_of_records() -> None:
    program = compile_cuda(ROWS)
    arguments = tuple(map(parse, ["f32[2048]=rand", "f32[128]=rand", "f32[32]=zeros", "i32=64"]))
    job = Job(program, program.kernels[0], (1, 1, 1), (32, 1, 1), arguments)
    run = emulated.run(job, architecture("sm_90"), options=Options(record=(0,)))
    ranked = line_costs(run.trace, run.counts, operands_of(program))
    assert {(kind, lesson) for kind, _, _, lesson in of(ranked, 7)} == {("rows", "matrix-layout")}
    assert [kind for kind, *_ in of(ranked, 8) + of(ranked, 9)] == ["fields", "fields"]


PATTERNS = """struct P { float x, y, z, w; };
__global__ void f(const float* A, const P* p, float* c, int N) {
    float v = A[threadIdx.x * N + blockIdx.x] + A[(threadIdx.x) * N + (blockIdx.x + 1) % 8];
    P q = p[threadIdx.x];
    v += q.x + q.w;
    v += p[threadIdx.x + 1].y;
    for (int k = 0; k < N; k++)
        c[threadIdx.x] += v * A[k];
    c[threadIdx.x * 2] = v;
}
__global__ void spilling(const float* a, float* o) {
    float r[40];
    for (int k = 0; k < 40; k++) r[k] = a[threadIdx.x + k * 1024];
    for (int t = 0; t < 4; t++)
        for (int k = 0; k < 40; k++) r[k] = r[k] * r[(k + 7) % 40] + r[(k * 3) % 40];
    for (int k = 0; k < 40; k++) o[threadIdx.x + k * 1024] = r[k];
}
"""


def _ranked(source: str, arguments: str, entry: int = 0, option: str = "") -> list[LineCost]:
    program = compile_cuda(source, options=(option,) if option else ())
    job = Job(
        program, program.kernels[entry], (1, 1, 1), (32, 1, 1), tuple(map(parse, arguments.split()))
    )
    run = emulated.run(job, architecture("sm_90"), options=Options(record=(0,)))
    return line_costs(run.trace, run.counts, operands_of(program))


def test_patterns_are_named_as_the_text_writes_them() -> None:
    ranked = _ranked(PATTERNS, "f32[8192]=rand f32[256]=rand f32[64]=zeros i32=64")
    assert {kind for kind, *_ in of(ranked, 3)} == {"rows"}  # a dot within an index is no member
    assert {kind for kind, *_ in of(ranked, 4)} == {"fields"}  # a struct as a whole
    assert [kind for kind, *_ in of(ranked, 6)] == ["fields"]  # the only one of its member
    assert [kind for kind, *_ in of(ranked, 9)] == ["apart"]
    said = {a.reason.said for line in ranked if line.line == 8 for a in line.accesses}
    assert any("goes to the same place 64 times" in one for one in said)


def test_lanes_that_went_apart_are_no_scattered_ones() -> None:
    source = """__global__ void f(int* a, int* b) {
    if (threadIdx.x % 2) a[threadIdx.x] = clock();
    else b[threadIdx.x] = 7;
}
"""
    kinds = {
        a.reason.kind
        for line in _ranked(source, "i32[32]=zeros i32[32]=zeros")
        for a in line.accesses
    }
    assert "parted" in kinds and "scattered" not in kinds


def test_what_was_moved_out_of_a_loop_stays_on_its_line() -> None:
    source = """__global__ void f(const float* x, const float* y, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    if (i < n) {
        for (int k = 0; k < 8; k++)
            s = s * x[i] + y[k];
        out[i] = s;
    }
}
"""
    ranked = _ranked(source, "f32[32]=rand f32[8]=rand f32[32]=zeros i32=32")
    assert sorted(cost.line for cost in ranked) == [6, 7]
    said = {a.operand.text for line in ranked for a in line.accesses if a.operand}
    assert said == {"x[i]", "y[k]", "out[i]"}


def test_copies_of_an_expression_are_one_access() -> None:
    ranked = _ranked(ROWS, "f32[2048]=rand f32[128]=rand f32[32]=zeros i32=64")
    (access,) = next(cost for cost in ranked if cost.line == 7).accesses
    assert len(access.copies) > 1 and access.requests == 64 and access.cost == 64 * 32
    assert access.cost == sum(one.cost for one in access.copies)
    assert access.counts == {
        key: sum(one.counts[key] for one in access.copies) for key in access.counts
    }


@pytest.mark.machine_code
def test_values_without_a_register_are_no_array() -> None:
    arguments = "f32[40960]=rand f32[40960]=zeros"
    ranked = _ranked(PATTERNS, arguments, 1, "-maxrregcount=24")
    kinds = {a.reason.kind for line in ranked for a in line.accesses}
    assert kinds == {"spilled", "fine"}


SAID = """#include <cstdio>
__global__ void f(float* a, const float* b, int n) {
    __shared__ float t[2048];
    for (int i = threadIdx.x; i < 2048; i += 32) t[i] = i;
    float s = 0;
    for (int d = 1; d <= 32; d *= 2) s += t[threadIdx.x * d];  // each turn an instruction
    for (int i = 0; i < 4; i++) a[threadIdx.x * 8 + i] = b[threadIdx.x * 8 + i] + s;
    s += t[threadIdx.x / 16 * 1024];
    if (s == -1) printf("%f %d", s, n);
    #pragma unroll 1
    for (int d = 2; d <= 32; d *= 2) s += t[threadIdx.x * d];  // all turns one
    a[threadIdx.x] = s;
}
"""


def test_what_is_said_holds_for_all_requests() -> None:
    """Strides that change are told from the least to the largest, not as those of the first."""
    ranked = _ranked(SAID, "f32[256]=zeros f32[256]=rand i32=1")
    said = {line.line: {(a.reason.kind, a.reason.said) for a in line.accesses} for line in ranked}
    for line in (6, 11):
        text = " ".join(text for kind, text in said[line] if kind == "conflict")
        assert text.startswith("Lanes are 8 bytes to 128 bytes apart, by request, and"), line
        assert text.endswith("12.4 turns in place of one on average.")
    assert {kind for kind, _ in said[7]} == {"rows"}  # a few elements each, in copies of a loop
    assert {text for kind, text in said[8] if kind == "conflict"} == {
        "Lanes want different words of one bank: 2 turns in place of one."
    }
    assert {kind for kind, _ in said.get(9, {("fine", "")})} == {"fine"}  # what printf is given


def test_a_block_of_few_threads_is_no_divergence() -> None:
    source = "__global__ void f(float* a) { a[threadIdx.y * 8 + threadIdx.x] += 1; }"
    program = compile_cuda(source)
    job = Job(program, program.kernels[0], (1, 1, 1), (4, 2, 1), (parse("f32[64]=zeros"),))
    run = emulated.run(job, architecture("sm_90"), options=Options(record=(0,)))
    (line,) = line_costs(run.trace, run.counts, operands_of(program))
    assert line.worst.reason.said.startswith("A block of 8 threads leaves the other lanes")


def test_the_most_expensive_line_is_first_and_shares_are_of_all(ranked: list[LineCost]) -> None:
    assert ranked[0].line == 10 and ranked[0].cycles == 1024
    assert [c.cycles for c in ranked] == sorted((c.cycles for c in ranked), reverse=True)
    assert sum(cost.share for cost in ranked) == pytest.approx(1)
    assert ranked[0].text == "t[threadIdx.x % 32][threadIdx.x / 32] = v;"


def test_every_lesson_named_is_there() -> None:
    ids = {listed.id for listed in COURSE} | {""}
    assert {row.get("lesson", "") for row in texts("reasons").values()} | {"matrix-layout"} <= ids


@pytest.mark.machine_code
def test_count_ranks_the_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "f.cu"
    file.write_text(SOURCE)
    arguments = [part for spec in ARGUMENTS.split() for part in ("--arg", spec)]
    launch = ["count", str(file), "--grid", "4", "--block", "256", *arguments, "--lines"]
    main([*launch, "--check", "none"])
    said = capsys.readouterr().out
    assert "store t[threadIdx.x % 32][threadIdx.x / 32] STS: 32 requests" in said
    assert "1. line 10, " in said and "32 turns in place of one. (lesson banks)" in said
    main([*launch, "--check", "none", "--json"])
    lines = json.loads(capsys.readouterr().out)["lines"]
    assert [line["line"] for line in lines][0] == 10
    assert lines[0]["accesses"][0]["kind"] == "conflict"
