"""Several accesses of one line are told apart: each is known by its expression and its column."""

from __future__ import annotations

import re

import pytest

from gpuviz.compile import compile_cuda, nvcc
from gpuviz.memory.operands import operands_of
from gpuviz.ptx.text.parser import parse

SOURCE = """#define TWICE(x) ((x) * 2)
struct P { float x, y, z; };
__global__ void f(const float* a, const P* p, const int* where, float* c, float* const* rows) {
    __shared__ float t[8][8];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = a[where[i]] + p->x + (p + i)->y + *a + a[i] * 2 + TWICE(c[i]);
    t[threadIdx.y][threadIdx.x] = v; __syncthreads(); v += t[threadIdx.x][threadIdx.y];
    for (int k = 0; k < 100; k += where[k]) v = fmaf(a[k], c[k + 1], v);
    atomicAdd(&c[i % 4], rows[i][3]); c[i] += v, c[i + 1] -= __ldg(a + 3 * i);
#if __CUDA_ARCH__ > (100)
    c[0] = a[0];
#endif
}
int main() { f<<<1, 32>>>(0, 0, 0, 0, 0); }
"""


def told() -> list[tuple[int, str, str]]:
    """Line, opcode and operand of each access, and that its column is that of its text."""
    program = compile_cuda(SOURCE)
    found, lines = operands_of(program), SOURCE.splitlines()
    made = []
    for function in parse(program.ptx).functions:
        for one in function.body:
            if re.match(r"(ld|st|atom|red)\.(?!param)", one.opcode.text):
                place = found[one.ptx_line]
                assert lines[one.line - 1][place.column - 1 :].startswith(place.text)
                assert place.line == one.line
                made.append((one.line, one.opcode.text.split(".")[0], place.text))
    return made


def test_each_access_is_an_expression_of_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvcc, "find", lambda: None)  # a macro that is called is no host code
    found = set(told())
    lines = {
        6: {"where[i]", "a[where[i]]", "p->x", "(p + i)->y", "*a", "a[i]", "TWICE(c[i])"},
        7: {"t[threadIdx.y][threadIdx.x]", "t[threadIdx.x][threadIdx.y]"},
        8: {"where[k]", "a[k]", "c[k + 1]"},
    }
    for line, texts in lines.items():
        assert {text for at, _, text in found if at == line} == texts
    assert (7, "st", "t[threadIdx.y][threadIdx.x]") in found
    stored = {text for line, op, text in found if (line, op) == (9, "st")}
    assert stored == {"c[i]", "c[i + 1]"}
    assert {"rows[i]", "rows[i][3]", "__ldg(a + 3 * i)"} <= {text for _, _, text in found}


def test_a_text_that_does_not_compile_spread_out_tells_nothing() -> None:
    program = compile_cuda("__global__ void f(float* a) { a[0] = __LINE__; a[1] = a[2]; }")
    assert {p.text for p in operands_of(program).values()} == {"a[0]", "a[1]", "a[2]"}
    other = compile_cuda(
        "__global__ void f(float* a) {\n#if __LINE__ == 2\n a[0] = 1;\n#endif\n a[1] = a[2]; }"
    )
    assert len(operands_of(other)) == 3
