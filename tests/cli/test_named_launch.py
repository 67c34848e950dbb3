"""The kernel that a launch of the host code means: overloads, namespaces, templates, prototypes."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuviz.cli import main
from gpuviz.compile import entry_name

TEXT = """#include <cstdio>
__global__ void proto(float*, int);
namespace deep { template <bool Up, int N = 4> __global__ void look(float* a) { a[0] = N; } }
__global__ void proto(float* a, int n) { if (threadIdx.x < n) a[threadIdx.x] = 1; }
__global__ void k(float* a, int n) { if (threadIdx.x < n) a[threadIdx.x] = 1; }
__global__ void k(double* a, int n) { if (threadIdx.x < n) a[threadIdx.x] = 1; }
enum class Mode { kA, kB };
template <Mode M> __global__ void moded(int* a) { a[threadIdx.x] = int(M); }
template <class T, bool B> __global__ void flag(T* a) { a[threadIdx.x] = B; }
namespace deep { void go(float* a) { look<true><<<1, 1>>>(a); } }
int main() {
    float* f; double* d; int* i; cudaMalloc(&f, 128); cudaMalloc(&d, 256); cudaMalloc(&i, 128);
    proto<<<1, 32>>>(f, 32);
    k<<<1, 32>>>(f, 32);
    k<<<1, 32>>>(d, 32);
    moded<Mode::kA><<<1, 32>>>(i);
    moded<Mode::kB><<<1, 32>>>(i);
    flag<float, 0><<<1, 32>>>(f);
    deep::go(f);
}
"""
MEANT = {
    10: "void deep::look<true, 4>(float*)",
    13: "proto(float*, int)",
    14: "k(float*, int)",
    15: "k(double*, int)",
    16: "void moded<(Mode)0>(int*)",
    17: "void moded<(Mode)1>(int*)",
    18: "void flag<float, false>(float*)",
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "named.cu"
    made.write_text(TEXT)
    return made


@pytest.mark.parametrize("line", MEANT)
def test_the_kernel_is_the_one_that_the_language_means(
    file: Path, capsys: pytest.CaptureFixture[str], line: int
) -> None:
    assert main(["count", str(file), "--launch", str(line), "--level", "ptx"]) == 0
    assert capsys.readouterr().out.startswith(MEANT[line])


def test_signatures_come_from_definitions_an_overload_each(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(file)]) == 0
    said = capsys.readouterr().out
    assert "proto(float*, int): supported\n    takes a f32[], n i32" in said
    assert "k(double*, int): supported\n    takes a f64[], n i32" in said


def test_an_argument_of_a_name_that_is_not_there_is_told_those_that_are(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["count", str(file), "--launch", "13", "--arg", "bodies=3"]) == 2
    assert "the kernel has no bodies (there are: a, n)" in capsys.readouterr().err


def test_templates_compare_without_what_has_defaults() -> None:
    kernels = ["_ZN4deep4lookILb1ELi4EEEvPf", "_Z4flagIfLb0EEvPT_"]
    assert entry_name(kernels, "look<1>") == kernels[0]
    assert entry_name(kernels, "flag<float, 0>") == kernels[1]
