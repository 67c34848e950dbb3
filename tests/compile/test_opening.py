"""Files as people have them: each opens without nvcc, with all its kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpuviz.cli import main
from gpuviz.compile import compile_cuda, demangled, load_program, nvcc, nvrtc, written_launches
from gpuviz.compile.program import Diagnostic
from gpuviz.compile.split import Split
from gpuviz.source import parts

pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not here")

MAIN = "int main() {{ float* a; cudaMalloc(&a, 256); {} return 0; }}\n"


def kernels(text: str, folder: Path, **how: tuple[str, ...]) -> list[str]:
    path = folder / "x.cu"
    path.write_text(text)
    return [demangled(one).removeprefix("void ") for one in load_program(path, **how).kernels]


@pytest.fixture(autouse=True)
def without_nvcc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvcc, "find", lambda: None)


SCALE = "template <typename T> __global__ void scale(T* x, T f, int n) { x[threadIdx.x] *= f; }\n"
TURN = """template <class T> __global__ void turn(T* x, int n) { x[n].x = -x[n].y; }
struct State { float4* all; };
template <int N, typename T, class Op> __global__ void fold(const T* __restrict__ x, T* y, Op op) {
    y[threadIdx.x] = op(x[N]); }
"""


@pytest.mark.parametrize(
    ("call", "made"),
    [
        ("double* d; scale<<<1, 8>>>(d, 2.0, 8);", "scale<double>(double*, double, int)"),
        ("scale<<<1, 8>>>((short*)a, short(2), 8);", "scale<short>(short*, short, int)"),
        ("const long n = 4; scale<<<1, 8>>>(&x[1], 1L, n);", "scale<long>(long*, long, int)"),
        ("turn<<<1, 8>>>(reinterpret_cast<double2*>(a), 8);", "turn<double2>(double2*, int)"),
        ("State s; turn<<<1, 8>>>(s.all + 2, 8);", "turn<float4>(float4*, int)"),
        ("std::vector<int2> v; auto p = v.data(); turn<<<1, 8>>>(p, 8);", "turn<int2>(int2*, int)"),
        ("fold<3><<<1, 8>>>(a, a, Twice<float>());", "fold<3, float, Twice<float> >"),
    ],
)
def test_arguments_of_templates_follow_from_the_call(call: str, made: str, tmp_path: Path) -> None:
    twice = "template <class T> struct Twice { __device__ T operator()(T a) { return a + a; } };\n"
    found = kernels(SCALE + TURN + twice + "long* x;\n" + MAIN.format(call), tmp_path)
    assert any(one.startswith(made) for one in found), found
    (launch,) = written_launches(tmp_path / "x.cu")
    assert launch.instance is not None
    assert made.replace(" ", "").startswith(launch.instance.replace(" ", ""))


APPLY = "template <class F> __global__ void apply(int n, F f) { f(min(threadIdx.x, n)); }\n"


def test_a_lambda_of_the_device_runs_with_what_it_captures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"""{APPLY}namespace app {{ struct Pair {{ float a, b; }};
    void go(float* x, const float by) {{
        Pair p;
        apply<<<1, 64>>>(64, [=] __device__ (int i) {{
            x[i] = by * i + p.b;
        }});
    }} }}
    int main() {{ float* x; cudaMalloc(&x, 64 * sizeof(float)); app::go(x, 3.0f); }}
    """
    (made,) = kernels(text, tmp_path)
    assert made.startswith("apply<app::lambda_5_")
    told = ["--launch", "5", "--out", f"f.x={tmp_path / 'x.npy'}"]
    assert main(["count", str(tmp_path / "x.cu"), *told, "--arg", "f.p.b=0.5"]) == 0, (
        capsys.readouterr().err
    )
    assert np.load(tmp_path / "x.npy")[:64].tolist() == [3.0 * i + 0.5 for i in range(64)]


@pytest.mark.parametrize(
    "body",
    [
        "uint64_t* p = (uint64_t*)a; add(p);",
        "register int i = 2; a[i] = clock() / (float)CLOCKS_PER_SEC;",
        "a[0] = first((struct Pair){1.5f, 2});",
        "a[0] = pow(2, (int)a[1]) + pow(2.0, 3.0f) + pow(a[2], 2);",
        "a[0] = __shfl_xor(a[1], 1) + __shfl_down(a[1], 2, 16) + __any(a[2] > 0);",
        "a[0] = thrust::complex<float>(1, 2).imag();",
    ],
)
def test_words_of_older_files(body: str, tmp_path: Path) -> None:
    head = """#include <cstdint>
    #include <ctime>
    #include <thrust/complex.h>
    #include <thrust/device_vector.h>
    struct Pair { float x; int y; };
    __device__ void add(unsigned long* p) { *p += 1; }
    __device__ float first(struct Pair p) { return p.x * p.y; }
    """
    text = f"{head}__global__ void k(float* a) {{ {body} }}\n{MAIN.format('k<<<1, 32>>>(a);')}"
    assert kernels(text, tmp_path) == ["k(float*)"]


@pytest.mark.parametrize("head", ["#include <limits>\n", ""])
def test_the_standard_of_a_files_age_gives_way_to_that_of_the_library(
    head: str, tmp_path: Path
) -> None:
    text = f"{head}#include <cstdint>\n__global__ void k(float* a) {{ a[0] = INT32_MAX; }}\n"
    for host in ("", MAIN.format("k<<<1, 32>>>(a);")):
        assert kernels(text + host, tmp_path, options=("-std=c++14",)) == ["k(float*)"]


@pytest.mark.slow
def test_blocks_and_warps_of_cub_come_with_all_of_cub(tmp_path: Path) -> None:
    text = """#include <cub/cub.cuh>
    __global__ void total(const int* in, int* out) {
        typedef cub::BlockReduce<int, 128> Reduce; __shared__ typename Reduce::TempStorage t;
        typedef cub::WarpScan<int> Scan; __shared__ Scan::TempStorage w;
        int s = Reduce(t).Sum(in[threadIdx.x]); Scan(w).InclusiveSum(s, s); out[0] = s; }
    int main() { total<<<1, 128>>>(0, 0); cub::DeviceReduce::Sum(0, 0, 0, 0, 1024); }
    """
    assert kernels(text, tmp_path) == ["total(int const*, int*)"]


@pytest.mark.parametrize("header", ["cuda_pipeline.h", "cuda_awbarrier_primitives.h"])
def test_headers_of_cuda_agree_about_integers(header: str, tmp_path: Path) -> None:
    text = f"#include <cooperative_groups.h>\n#include <{header}>\n#include <cstdint>\n"
    text += "__global__ void k(uint64_t* a, uintptr_t b) { a[0] = b; }\n"
    assert kernels(text, tmp_path) == ["k(unsigned long*, unsigned long)"]


def test_a_macro_called_within_a_function_is_no_part_of_its_own() -> None:
    inside = "#define TWICE(x) ((x) * 2)\nvoid f(int* c) { c[0] = TWICE(\nc[1]); }\n"
    outside = "#define MAKE(x) int x;\nnamespace a {\nMAKE(one)\n}\nchar c = '{';\nMAKE(two)\n"
    assert [p.first for p in parts.read(inside).parts] == [2]
    assert [(p.first, p.last) for p in parts.read(outside).parts] == [(3, 3), (6, 6), (5, 5)]


def test_headers_of_thousands_of_lines_that_do_not_compile_are_left_out(tmp_path: Path) -> None:
    lines = "".join(f"typedef void (*PF{n})(GLint a, GLenum b);\n" for n in range(2000))
    (tmp_path / "glext.h").write_text(lines + "#define SIDE 4\n")
    text = '#include "glext.h"\n__global__ void k(float* a) { a[0] = SIDE; }\n'
    assert kernels(text + MAIN.format("k<<<1, 32>>>(a);"), tmp_path) == ["k(float*)"]
    assert compile_cuda("__global__ void k(float* a) { a[0] = 1; }").kernels


def test_many_errors_of_a_header_that_is_no_projects_are_no_mistake(tmp_path: Path) -> None:
    """CUDA's own headers are among no texts that could be left out."""
    found = [Diagnostic("/cuda/limits.h", n, 1, "error", "wrong") for n in range(1, 60)]
    split = Split("__global__ void k(int* a) { }\nint main() { }\n", "x.cu", tmp_path, (), bool)
    assert not split.learn(found)
