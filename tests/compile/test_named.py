"""Kernels that a file launches by other ways than naming them at `<<<`: what they are made with."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuviz.compile import (
    demangled,
    entry_name,
    launch_at,
    load_program,
    nvcc,
    nvrtc,
    written_launches,
)
from gpuviz.compile.log import instantiated

pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not here")


@pytest.fixture(autouse=True)
def no_nvcc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvcc, "find", lambda: None)


def kernels(folder: Path, source: str, **headers: str) -> list[str]:
    """The kernels of a file beside headers, without types and arguments."""
    for name, text in headers.items():
        (folder / f"{name}.h").write_text(text)
    file = folder / "named.cu"
    file.write_text(source)
    names = (demangled(kernel).removeprefix("void ") for kernel in load_program(file).kernels)
    return sorted(name.split("(")[0].replace("ul", "").replace("u", "") for name in names)


VARIABLE = """
namespace v2 {
template <int M, int N, typename T>
__global__ __launch_bounds__(M * N) void __cluster_dims__(M / 8, 1, 1) tile(T* x) { x[0] = M + N; }
void run(float* x, int n) {
  constexpr int N{16};
  const int M = N / 2;
  auto* kernel = tile<M, N, float>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, n);
  kernel<<<N, M * N>>>(x);
}
}
using v2::run;
template <typename T> __global__ void named(T* x) { x[0] = 1; }
void other(void** given) { cudaLaunchKernel((void*)named<double>, 1, 32, given); }
"""


def test_kernels_are_made_as_variables_and_calls_of_the_runtime_name_them(tmp_path: Path) -> None:
    assert kernels(tmp_path, VARIABLE) == ["named<doble>", "v2::tile<8, 16, float>"]
    (launch,) = written_launches(tmp_path / "named.cu")
    assert (launch.instance, launch.grid, launch.block) == (
        "tile<8, 16, float>",
        (16, 1, 1),
        (128, 1, 1),
    )
    assert launch_at(tmp_path / "named.cu", launch.line) == launch


HIDDEN = """#include "check.h"
template <int N> __global__ void scale(float* x) { x[threadIdx.x] *= N; }
void run(float* x, int n) {
#define CASE(N) else if (n == N) { scale<N><<<1, 32>>>(x); }
  if (false) {}
  CASE(4)
}
"""
CHECK = "#define LAST() report(cudaGetLastError())\nvoid check() { LAST(); }"


def test_host_code_in_macros_and_headers_is_set_aside_though_the_file_shows_none(
    tmp_path: Path,
) -> None:
    assert kernels(tmp_path, HIDDEN, check=CHECK) == ["scale<32>"]


UNFIT = """
template <typename T> struct Kind;
template <> struct Kind<int> { using Sum = long; };
template <typename T> __global__ void add(T* x) { typename Kind<T>::Sum s = x[0]; x[0] = s; }
template <typename T> __global__ void fits(T* x) { x[0] = 0; }
void run(int* x) { add<float><<<1, 32>>>(nullptr); add<int><<<1, 32>>>(x); }
"""


def test_a_kernel_that_cannot_be_made_so_is_kept_as_it_can_be_made(tmp_path: Path) -> None:
    assert kernels(tmp_path, UNFIT) == ["add<int>", "fits<float>"]


def test_errors_name_the_instances_they_are_of() -> None:
    words = """/f.cu(9): warning #177-D: variable "k" was declared but never referenced
          detected during instantiation of "void good<N>(T *) [with N=1]"
/f.cu(4): error: incomplete type
          detected during instantiation of "void n::bad<T,N>(T *) [with T=float, N=16U]" at line 3
"""
    assert instantiated(words) == {("bad", "float, 16U")}


TENSOR = """#include <cudaTypedefs.h>
#include <vector>
template <typename T> struct Of { static constexpr auto kind = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16; };
__global__ void take(const __grid_constant__ CUtensorMap map, int* x) { x[0] = Of<int>::kind; }
void run(CUtensorMap m, int* x) { take<<<1, 1>>>(m, x); }
"""


def test_types_of_tensor_maps_are_known(tmp_path: Path) -> None:
    assert kernels(tmp_path, TENSOR) == ["take"]


def test_what_only_one_architecture_has_is_compiled_for_that(tmp_path: Path) -> None:
    fence = '__device__ void fence() { asm volatile("wgmma.fence.sync.aligned;"); }'
    kernel = "__global__ void wait() { fence(); }"
    assert kernels(tmp_path, f"{fence}\n{kernel}") == ["wait"]
    assert kernels(tmp_path, f'#include "fence.h"\n{kernel}', fence=fence) == ["wait"]
    assert load_program(tmp_path / "named.cu").arch == "sm_90a"


def test_types_are_named_as_people_write_them() -> None:
    kernels = ("_Z1kI6__halfLi4EEvPT_", "_Z1kIaLi4EEvPT_", "_Z1kIjLi4EEvPT_")
    names = "k<half, 4>", "k<int8_t, 4>", "k<unsigned, 4>"
    assert tuple(entry_name(kernels, one) for one in names) == kernels
    assert entry_name(kernels, "k<unsigned int, 4>") == kernels[2]
