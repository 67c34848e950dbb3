"""What to change of a launch: the pattern, where it is, and what it would take without."""

from __future__ import annotations

import pytest

from gpuviz.arch import architecture
from gpuviz.arguments import parse
from gpuviz.compile import compile_cuda
from gpuviz.launch.job import Job
from gpuviz.panels.limit_words import advice_words, limit_sentence, size_note
from gpuviz.run.predicted import explain
from gpuviz.timing.explanation import Explanation

pytestmark = pytest.mark.machine_code
HEAD = "struct P { float x, y, z, w, a, b, c, d; };\n"
INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x;"


def _explained(parameters: str, body: str, arguments: str, grid: int, block: int) -> Explanation:
    source = f"{HEAD}__global__ void f({parameters}) {{\n{INDEX}\n{body}\n}}\n"
    program = compile_cuda(source)
    given = tuple(map(parse, arguments.split()))
    job = Job(program, program.kernels[0], (grid, 1, 1), (block, 1, 1), given)
    return explain(job, architecture("sm_90"), advise=True)


def test_a_row_for_each_lane_is_dear_and_mending_it_gains() -> None:
    body = "float s = 0;\nfor (int j = 0; j < n; j++)\ns += A[i * n + j];\no[i] = s;"
    e = _explained(
        "const float* A, float* o, int n", body, "f32[65536]=zeros f32[1024]=zeros i32=64", 4, 256
    )
    small, first = e.advice[:2]
    assert small.kind == "small" and "4 blocks occupy 4 of 132" in small.said
    assert (first.kind, first.line, first.expression) == ("rows", 6, "A[i * n + j]")
    assert first.cycles is not None and first.cycles < 0.6 * e.limits.cycles
    assert limit_sentence(e).startswith("Only 4 blocks for 132 multiprocessors. Limited by ")
    assert "Swap the indices" in advice_words(e, first) and " becomes " in advice_words(e, first)


_PATTERNS = {
    "fields": ("P* p", "p[i].x += p[i].y * p[i].w;", "f32[1081344]=zeros", 528, 256),
    "atomic": (
        "const int* a, int* t",
        "int v = a[i];\natomicAdd(t, v);",
        "i32[67584]=zeros i32[1]=zeros",
        264,
        256,
    ),
    "conflict": (
        "float* o",
        "__shared__ float s[1024];\nfloat v = 0;\n"
        "for (int k = 0; k < 64; k++) v += s[(threadIdx.x * 32 + k) & 1023];\no[i] = v;",
        "f32[67584]=rand",
        264,
        256,
    ),
    "divergence": (
        "float* a",
        "float v = a[i];\nif (i % 2) for (int k = 0; k < 99; k++) v = v * v + 0.5f;\n"
        "else for (int k = 0; k < 99; k++) v = sinf(v);\na[i] = v;",
        "f32[67584]=rand",
        264,
        256,
    ),
    "few": (
        "float* a",
        "for (int k = 0; k < 9; k++) a[i + k * 4224] += 1;",
        "f32[50000]=zeros",
        132,
        32,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", _PATTERNS)
def test_the_pattern_comes_first(kind: str) -> None:
    e = _explained(*_PATTERNS[kind])
    assert e.advice and e.advice[0].kind == kind
    if kind in ("atomic", "conflict"):
        assert e.advice[0].cycles is not None and e.advice[0].cycles < 0.5 * e.limits.cycles
    if kind == "atomic":
        assert e.line == e.advice[0].line == 5  # not the load above, whose value it adds


@pytest.mark.slow
def test_nothing_is_advised_where_nothing_is_wrong() -> None:
    e = _explained(
        "const float* a, float* o", "o[i] = a[i];", "f32[540672]=zeros f32[540672]=zeros", 2112, 256
    )
    assert e.advice == ()


@pytest.mark.slow
def test_one_lane_that_works_alone_is_told_as_that() -> None:
    body = "if (threadIdx.x == 0) for (int k = 0; k < 256; k++) o[blockIdx.x] += a[i + k];"
    e = _explained("const float* a, float* o", body, "f32[70000]=zeros f32[264]=zeros", 264, 256)
    assert any("One lane works while the others" in one.said for one in e.advice)


def test_a_fault_is_told_and_time_is_of_what_goes_on() -> None:
    """As counts are: an access outside of all buffers had ended all that is said of time."""
    e = _explained("float* a", "a[i] += 1;\na[i + 4096] = 1;", "f32[2048]=zeros", 8, 256)
    assert e.fault.startswith("illegal global access") and "CUDA line 5" in e.fault
    assert e.prediction.cycles > 0 and e.line
    assert "a GPU ends this launch by a fault: illegal global access" in size_note(e)
    assert not _explained("float* a", "a[i] += 1;", "f32[2048]=zeros", 8, 256).fault
