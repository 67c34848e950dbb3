"""Files as people have them: each opens without nvcc, with all its kernels."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from gpuviz.cli import launch, main
from gpuviz.compile import (
    CompileError,
    compile_cuda,
    demangled,
    headers,
    load_program,
    nvcc,
    nvrtc,
    project_headers,
    written_launches,
)
from gpuviz.compile.program import Diagnostic
from gpuviz.compile.project_headers import unit
from gpuviz.compile.split import Choice, Split
from gpuviz.ptx.text import stream
from gpuviz.source import parts
from gpuviz.source.parts import read

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


def test_functions_and_operators_of_the_host_come_back_where_device_code_needs_them(
    tmp_path: Path,
) -> None:
    text = """inline float2 operator*(float2 a, float b) { return make_float2(a.x * b, a.y * b); }
    inline float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
    __global__ void k(float2* a) { a[0] = a[1] * 2.0f + a[2];
        int v; __asm__ __volatile__("mov.u32 %0, 5;" : "=r"(v)); a[3].x = v; }
    """
    assert kernels(text + MAIN.format("k<<<1, 32>>>(0);"), tmp_path) == ["k(float2*)"]


HALVES = """#include <cuda_fp16.h>
template <int N, typename T> __global__ void k(T* a, int n) { __half* x = a; x[N] = x[n]; }
template <class F> void pick(F f);
void run(void* a) {
    pick([&] { using ctype = __half; auto x = (ctype*)a; k<7><<<1, 4>>>(x, 2); }); }
"""


def test_types_that_only_a_function_knows_are_made_of_what_compiles(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert kernels(HALVES, tmp_path) == ["k<7, __half>(__half*, int)"]
    assert main(["count", str(tmp_path / "x.cu"), "--launch", "5"]) == 0, capsys.readouterr()


def test_a_template_that_cannot_be_made_says_why(tmp_path: Path) -> None:
    text = "template <class T> __global__ void k(T* a) { a->none(); }\n__global__ void f() { }\n"
    (tmp_path / "x.cu").write_text(text + MAIN.format("k<<<1, 4>>>(a); f<<<1, 1>>>();"))
    assert "k<float> (x.cu:1: expression must have pointer-to-class" in (
        load_program(tmp_path / "x.cu").note
    )
    (tmp_path / "x.cu").write_text(text.partition("\n")[0] + "\nint main() { return 0; }\n")
    with pytest.raises(CompileError, match=r"tried: k<float> \(x.cu:1: expression must have"):
        load_program(tmp_path / "x.cu")


PARENT = """__global__ void child(int* a, int n) { if (threadIdx.x < n) a[threadIdx.x] += 1; }
__global__ void parent(int* a, int n) {
    a[threadIdx.x] = 7;
    if (threadIdx.x == 0) { child<<<1, n>>>(a, n); cudaDeviceSynchronize(); }
}
int main() { int* a; cudaMalloc(&a, 128); parent<<<1, 32>>>(a, 32); }
"""


def test_parents_run_and_their_children_are_launches_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(kernels(PARENT, tmp_path)) == 2
    path, out = tmp_path / "x.cu", tmp_path / "a.npy"
    assert "without those that it launches (line 4)" in load_program(path).note
    assert main(["count", str(path), "--launch", "6", "--out", f"a={out}"]) == 0
    assert np.load(out).tolist() == [7] * 32
    told = ["--launch", "4", "--arg", "n=8", "--arg", "a=zeros(32)", "--out", f"a={out}"]
    assert main(["count", str(path), *told]) == 0, capsys.readouterr()
    assert np.load(out)[:32].tolist() == [1] * 8 + [0] * 24


@pytest.mark.parametrize("text", ["int main() { return 0; }", "__device__ int f() { return 1; }"])
def test_a_file_without_a_kernel_says_so_with_exit_1(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.cu").write_text(text)
    assert main(["check", str(tmp_path / "x.cu")]) == 1
    assert "no kernels" in capsys.readouterr().out
    assert main(["check", "--json", str(tmp_path / "x.cu")]) == 1


def test_check_of_one_kernel_reads_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "".join(f"__global__ void k{n}(int* a) {{ a[{n}] = {n}; }}\n" for n in range(9))
    (tmp_path / "x.cu").write_text(text)
    monkeypatch.setattr(stream, "_MOST", 300)
    monkeypatch.setattr(launch, "LONG", 0)
    assert main(["check", str(tmp_path / "x.cu")]) == 2
    assert "--entry" in capsys.readouterr().err
    assert main(["check", str(tmp_path / "x.cu"), "--entry", "k5"]) == 0
    assert "k4" not in capsys.readouterr().out
    assert (
        main(["count", str(tmp_path / "x.cu"), "--entry", "k5", "--grid", "1", "--block", "1"]) == 0
    )


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("texture<float, 1> t;", "cudaTextureObject_t"),
        ("#include <cutlass/no/such.h>", "pip install nvidia-cutlass"),
        ("#include <ATen/ATen.h>", "those that take pointers open"),
    ],
)
def test_what_is_lacking_is_told_with_what_to_do(head: str, said: str, tmp_path: Path) -> None:
    text = f"{head}\n__global__ void k(float* a) {{ a[0] = not_there(t); }}\n"
    with pytest.raises(CompileError, match=said):
        kernels(text + MAIN.format("k<<<1, 1>>>(a);"), tmp_path)


def test_a_part_of_a_program_names_the_file_that_includes_it(tmp_path: Path) -> None:
    (tmp_path / "part").mkdir()
    (tmp_path / "whole.cu").write_text('#define N 4\n  # include "part/x.cu"\nint main() { }\n')
    (tmp_path / "note.txt").write_text('#include "x.cu"\n')
    with pytest.raises(CompileError, match=r"open \.\./whole\.cu"):
        kernels("__global__ void k(float* a) { a[0] = N; }\n", tmp_path / "part")


def test_a_header_is_found_anywhere_in_its_project_and_the_nearest_is_taken(tmp_path: Path) -> None:
    for folder, value in (("other/cuda", 1), ("ops/common/cuda", 2), ("ops/torch/cuda", 0)):
        (tmp_path / folder).mkdir(parents=True)
        if value:
            (tmp_path / folder / "side.cuh").write_text(f"#define SIDE {value}\n")
    (tmp_path / ".git").mkdir()
    text = '#include "side.cuh"\n__global__ void k(float* a) { static_assert(SIDE == 2, ""); }\n'
    where = tmp_path / "ops/torch/cuda"
    assert kernels(text + MAIN.format("k<<<1, 1>>>(a);"), where) == ["k(float*)"]


def test_types_whose_members_come_of_a_macro_stay_whole(tmp_path: Path) -> None:
    text = """#define MEMBERS \\
        __device__ T sum() const { return x[0] + x[N - 1]; }
    template <typename T, int N, size_t A = sizeof(T)>
    struct alignas(A) Vec {
        MEMBERS
        T x[N];
    };
    __global__ void k(Vec<float, 4> v, float* a) { a[0] = v.sum(); }
    """
    found = kernels(text + MAIN.format("k<<<1, 1>>>({}, a);"), tmp_path)
    assert found == ["k(Vec<float, 4, 4ul>, float*)"]


DRAW = """#include <curand_kernel.h>
__global__ void draw(unsigned* a, unsigned long long seed) {
    curandState s; curand_init(seed, threadIdx.x, 0, &s);
    curandStatePhilox4_32_10_t p; curand_init(seed, threadIdx.x, 2, &p);
    for (int i = 0; i < 4; i++) { a[threadIdx.x * 8 + i] = curand(&s);
                                  a[threadIdx.x * 8 + 4 + i] = curand(&p); }
}
int main() { unsigned* a; cudaMalloc(&a, 1024); draw<<<1, 32>>>(a, 1234ULL); }
"""


def philox(seed: int, sequence: int, number: int) -> int:
    """Salmon and others (2011), "Parallel random numbers: as easy as 1, 2, 3"."""
    low, key = 0xFFFFFFFF, [seed & 0xFFFFFFFF, seed >> 32]
    x = [number // 4, 0, sequence, 0]
    for _ in range(10):
        one, two = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [two >> 32 ^ x[1] ^ key[0], two & low, one >> 32 ^ x[3] ^ key[1], one & low]
        key = [key[0] + 0x9E3779B9 & low, key[1] + 0xBB67AE85 & low]
    return x[number % 4]


def xorwow(v: list[int], d: int, count: int) -> list[int]:
    """Marsaglia (2003), "Xorshift RNGs": five words and a Weyl sequence."""
    low, found = 0xFFFFFFFF, []
    for _ in range(count):
        t = v[0] ^ v[0] >> 2
        v = [*v[1:], v[4] ^ v[4] << 4 & low ^ (t ^ t << 1) & low]
        d = d + 362437 & low
        found.append(v[4] + d & low)
    return found


@pytest.mark.slow
def test_generators_of_curand_draw_what_their_papers_say(tmp_path: Path) -> None:
    folders = headers.folders(nvrtc.libraries()[0]) if nvrtc.libraries() else ()
    if not any((folder / "curand_kernel.h").is_file() for folder in folders):
        pytest.skip("curand_kernel.h is not here: pip install nvidia-curand")
    kernels(DRAW, tmp_path)
    out = tmp_path / "a.npy"
    assert main(["count", str(tmp_path / "x.cu"), "--launch", "8", "--out", f"a={out}"]) == 0
    drawn = np.load(out).reshape(32, 8).tolist()
    assert [row[4:] for row in drawn] == [
        [philox(1234, t, n + 2) for n in range(4)] for t in range(32)
    ]
    a = 1099087573 * (1234 ^ 0xAAD26B49) & 0xFFFFFFFF
    b = 2591861531 * 0xF7DCEFDD & 0xFFFFFFFF
    seeds = [123456789 + a, 362436069 ^ a, 521288629 + b, 88675123 ^ b, 5783321 + a]
    state = [one & 0xFFFFFFFF for one in seeds]
    assert drawn[0][:4] == xorwow(state, 6615241 + a + b & 0xFFFFFFFF, 4)


def test_a_large_library_of_the_host_is_no_header_of_device_code(tmp_path: Path) -> None:
    (tmp_path / "json.hpp").write_text("#include <vector>\n#error read\n" + "// json\n" * 20_000)
    text = '#include "json.hpp"\n__global__ void k(float* a) { a[0] = 1; }\n'
    assert kernels(text + MAIN.format("k<<<1, 1>>>(a);"), tmp_path) == ["k(float*)"]


def test_what_a_project_has_is_looked_at_once_and_only_so_far(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "deep/below").mkdir(parents=True)
    (tmp_path / "deep/below/there.h").write_text("#define N 4\n")
    text = '#include "there.h"\n#include "nowhere.h"\n__global__ void k(float* a) { a[0] = N; }\n'
    walks = []
    walk = os.walk
    monkeypatch.setattr(os, "walk", lambda root: walks.append(root) or walk(root))
    for _ in range(2):
        unit(text, "x.cu", tmp_path, (), lambda _: False)
    assert walks == [tmp_path]
    monkeypatch.setattr(project_headers, "_indices", {})
    monkeypatch.setattr(project_headers, "_ENTRIES", 1)
    found = unit(text, "x.cu", tmp_path, (), lambda _: False)
    assert found.missing == ["there.h", "nowhere.h"] and "not all" in found.bounds


def test_a_header_that_fails_again_and_again_is_left_out_whole(tmp_path: Path) -> None:
    (tmp_path / "slow.h").write_text(
        "".join(f"int f{n}() {{ return missing{n}; }}\n" for n in range(3))
        + "constexpr int g() { return nothing; }\n" * 3
    )
    text = Choice.first({"slow.h": read((tmp_path / "slow.h").read_text())})
    every = set(text.texts["slow.h"].parts)
    for line in range(1, 6):
        error = Diagnostic("slow.h", line, 1, "error", "expected")
        text.learn([error])
    assert text.out["slow.h"] == every


def test_data_of_cufft_and_marked_lambdas_of_device_code_are_known(tmp_path: Path) -> None:
    text = """#include <cufft.h>
template <typename F> __device__ float with(float a, F f) { return f(a); }
__global__ void k(cufftComplex* c) {
  c[0] = cuCmulf(c[1], c[2]);
  c[1].x = with(c[0].x, [] __device__(float a) { return a * 2; });
}
"""
    assert kernels(text + MAIN.format("cufftHandle plan; k<<<1, 1>>>(0);"), tmp_path) == [
        "k(float2*)"
    ]


def test_a_member_for_the_host_is_not_taken_for_a_fault_of_the_template(tmp_path: Path) -> None:
    (tmp_path / "nodes.cuh").write_text(
        "template <typename T> class Nodes {\npublic:\n  T* x;\n"
        "  void init(int n) { cudaMalloc(&x, n * sizeof(T)); std::string made; }\n"
        "  __device__ T first() const { return x[0]; }\n};\n"
    )
    text = """#include "nodes.cuh"
template <typename T> __global__ void walk(const Nodes<T> nodes, T* y) { y[0] = nodes.first(); }
template __global__ void walk(const Nodes<double> nodes, double* y);
"""
    found = kernels(text + MAIN.format("Nodes<double> n; walk<double><<<1, 1>>>(n, 0);"), tmp_path)
    assert found == ["walk<double>(Nodes<double>, double*)"]


def test_traits_are_known_without_their_header(tmp_path: Path) -> None:
    text = """template <typename T, int N> struct Pack {
  typename std::aligned_storage<N * sizeof(T), N * sizeof(T)>::type storage; };
__global__ void k(Pack<float, 4>* a, std::common_type_t<float, int>* b) { b[0] = sizeof(a[0]); }
"""
    assert len(kernels(text + MAIN.format("k<<<1, 1>>>(0, a);"), tmp_path)) == 1


def test_device_functions_that_another_file_defines_come_from_there(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "law.cuh").write_text(
        "#pragma once\ntemplate <class T> struct L { __device__ T at(); };\n"
    )
    (tmp_path / "far" / "law.cu").write_text(
        '#include "law.cuh"\ntemplate <class T> __device__ T L<T>::at() { return 3; }'
    )
    (tmp_path / "half.cu").write_text("__device__ float half_of(float x) { return x / 2; }")
    file = tmp_path / "k.cu"
    text = """#include "law.cuh"
    __device__ float half_of(float);
    __global__ void k(float* x) { L<float> l; x[0] = half_of(l.at()); }
    int main() { k<<<1, 1>>>(0); }"""
    file.write_text(text)
    made = load_program(file)
    assert made.kernels == ("_Z1kPf",) and made.source == text


def test_functions_that_are_ambiguous_by_all_of_std_are_the_globals(tmp_path: Path) -> None:
    file = tmp_path / "k.cu"
    file.write_text(
        "#include <algorithm>\n#include <complex>\nusing namespace std;\n"
        "__global__ void k(float* x) { x[0] = exp(x[1]) + log(x[2]); }\nint main() {}"
    )
    assert load_program(file).kernels == ("_Z1kPf",)


def test_concepts_are_compiled_as_cpp_20_and_kernels_of_them_made_of_floats(tmp_path: Path) -> None:
    file = tmp_path / "k.cu"
    file.write_text(
        "#include <type_traits>\ntemplate <class T>\nconcept Number = std::is_arithmetic_v<T>;\n"
        "template <Number T, int N> __global__ void k(T* x) { x[0] = N; }\nint main() {}"
    )
    assert "k<float, 32>" in demangled(load_program(file).kernels[0])
    file.write_text(
        "#include <concepts>\n#include <span>\n"
        "template <std::floating_point T> struct P { T x; };\n"
        "__global__ void k(P<double>* p) { p[0].x = 1; }\nint main() {}"
    )
    assert load_program(file).kernels == ("_Z1kP1PIdE",)
