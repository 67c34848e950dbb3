"""Files with a host program in them: what is kept of them, and what their launches say."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from gpuviz.base.errors import InputError
from gpuviz.cli import main
from gpuviz.compile import (
    CompileError,
    compile_cuda,
    launch_at,
    load_program,
    nvcc,
    nvrtc,
    written_launches,
)
from gpuviz.compile.compiler import chosen
from gpuviz.source.constants import Macro, Scope
from gpuviz.source.host_run import HostRun
from gpuviz.source.parts import parsed, read

needs_nvrtc = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not here")

# The shape of a vendor's sample: helper headers, a class of the host, textures, checks, a main.
SAMPLE = """#include <stdio.h>
#include <vector>
#include <helper_cuda.h>
#include "sizes.h"
#define CHECK(call) do { if ((call) != cudaSuccess) exit(1); } while (0)
using namespace std;
const int TILE = 16;
static vector<float> results;
struct Point { float x, y; __device__ float sum() const { return x + y; } };
struct Window { string title; void open() { printf("%s", title.c_str()); } };
int divide(int a, int b) { return (a + b - 1) / b; }
template <typename T, int WIDTH> __global__ void scale(T* out, const T* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * WIDTH;
}
extern "C" __global__ void add(Point* p, float* out) {
    out[threadIdx.x] = p[threadIdx.x].sum() + std::max(1.0f, float(M_PI)) * helper(2);
}
__global__ void broken(float* out) { out[0] = curand_uniform(nullptr); }
void host(float* d, int unknown) {
    vector<float> h(1 << 20);
    const int N = 1 << 20, threads = TILE * TILE;
    dim3 block(TILE, TILE), grid(divide(N, block.x), SIDES(3));
    CHECK(cudaMalloc(&d, N * sizeof(float)));
    scale<float, TILE><<<N / threads, threads>>>(d, d, N);
    scale<double, 4><<<grid, block, threads * sizeof(float)>>>(nullptr, nullptr, 5);
    add<<<unknown, 32>>>(nullptr, d);
}
int main() { host(nullptr, 3); return 0; }
"""
SIZES = """#pragma once
#include <iostream>
#define SIDES(n) (2 * (n))
inline int helper(int a) { return a + 1; }
inline void print(std::ostream& out) { out << SIDES(2) << std::endl; }
"""


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(nvcc, "find", lambda: None)
    (tmp_path / ".git").mkdir()
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "sizes.h").write_text(SIZES)
    (tmp_path / "app").mkdir()
    path = tmp_path / "app" / "sample.cu"
    path.write_text(SAMPLE)
    return path


@needs_nvrtc
def test_device_code_of_a_sample_is_compiled_line_by_line_as_it_was(sample: Path) -> None:
    program = load_program(sample)
    assert sorted(program.kernels) == [
        "_Z5scaleIdLi4EEvPT_PKS0_i",
        "_Z5scaleIfLi16EEvPT_PKS0_i",
        "add",
    ]
    assert program.source == SAMPLE
    assert f".loc\t1 {SAMPLE[: SAMPLE.index('in[i] * WIDTH')].count(chr(10)) + 1} " in program.ptx
    (lost,) = (one for one in program.warnings if one.severity == "error")
    assert lost.line == SAMPLE[: SAMPLE.index("curand_uniform")].count("\n") + 1
    assert "curand_uniform" in program.note and "helper_cuda.h" in program.note
    assert [Path(file).name for file in program.read or ()] == ["sizes.h"]


@needs_nvrtc
def test_a_header_that_changes_is_read_again(sample: Path) -> None:
    before = load_program(sample).ptx
    header = sample.parent.parent / "include" / "sizes.h"
    header.write_text(SIZES.replace("a + 1", "a + 77"))
    assert load_program(sample).ptx != before


def test_launches_are_read_from_the_text(sample: Path) -> None:
    first, second, third = written_launches(sample)
    assert (first.instance, first.grid, first.block) == (
        "scale<float, 16>",
        (4096, 1, 1),
        (256, 1, 1),
    )
    assert first.arguments == ("d", "d", "N") and first.values == (None, None, 1 << 20)
    assert (second.instance, second.grid, second.block, second.shared) == (
        "scale<double, 4>",
        (65536, 6, 1),
        (16, 16, 1),
        1024,
    )
    assert third.grid == (3, 1, 1) and third.texts[0] == "unknown" and third.block == (32, 1, 1)
    assert launch_at(sample, first.line) == first
    with pytest.raises(InputError, match=r"no launch at line 1; lines with one: 25 \(scale\), 26"):
        launch_at(sample, 1)


@needs_nvrtc
def test_a_launch_of_the_text_is_counted(sample: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = written_launches(sample)[0].line
    arguments = ["--arg", "f32[4096]=zeros", "--arg", "f32[4096]=rand", "--arg", "i32=4096"]
    assert main(["count", str(sample), "--launch", str(line), "--grid", "16", *arguments]) == 0
    assert "scale" in capsys.readouterr().out
    assert main(["count", str(sample), "--launch", str(line + 2), "--check", "none"]) == 0
    assert "3,1,1 x 32,1,1" in capsys.readouterr().out
    assert main(["check", str(sample)]) == 0
    assert "launch at sample.cu:25: scale<float, 16> --grid 4096,1,1" in capsys.readouterr().out


@needs_nvrtc
def test_when_no_kernel_compiles_its_errors_are_told_and_no_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(nvcc, "find", lambda: None)
    source = "#include <missing.h>\nint main() {}\n__global__ void f(int* x) { *x = y; }\n"
    with pytest.raises(CompileError, match=r"(?s)k.cu:3.*\"y\" is undefined.*missing.h") as caught:
        compile_cuda(source, name="k.cu")
    assert [d.line for d in caught.value.diagnostics] == [3]
    with pytest.raises(CompileError, match="k.cu has no kernel: no __global__"):
        compile_cuda("int main() { return 0; }\n", name="k.cu")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 << 10", 1024),
        ("(N + 255) / 256", 4),
        ("-7 / 2", -3),
        ("-7 % 4", -3),
        ("0x1Fu", 31),
        ("017", 15),
        ("1e3f", 1000.0),
        ("dim3(2, N)", (2, 1000, 1)),
        ("UP(N, 32)", 32),
        ("N > 5 ? 3 : 4", 3),
        ("sizeof(float) * 3", 12),
        ("(int)ceil(N / 256.0)", 4),
        ("std::min(N, 7)", 7),
        ("N / 0", None),
        ("M + 1", None),
        ("SELF", None),
        ("f(3)", None),
        ("1 << 99999999", None),
        ("1e308 * 1e308 * 0", None),
        ("dim3(1, 2, 3).z", 3),
        ("!N", 0),
    ],
)
def test_constants_come_to_what_c_makes_of_them(text: str, value: object) -> None:
    macros = {
        "UP": Macro(("a", "b"), "(((a) + (b) - 1) / (b))"),
        "N": Macro(None, "1000"),
        "SELF": Macro(None, "SELF + 1"),
    }
    found = Scope(macros=macros).value(parsed(text))
    assert found == value or (found is not None and value is None and np.isnan(found))


def test_blank_lines_stand_for_what_is_left_out() -> None:
    text = read(SAMPLE)
    made = text.without([p for p in text.parts if p.kind == "host"], {"vector": None})
    assert made.count("\n") == SAMPLE.count("\n")
    assert "main" not in made and "cudaMalloc(" not in made.partition("using")[2]
    for number, line in enumerate(made.splitlines()):
        assert not line.strip() or line == SAMPLE.splitlines()[number]


def test_options_are_those_that_may_be_chosen() -> None:
    assert chosen(()) == ("-std=c++17", "-ftz=true")
    assert chosen(("--use_fast_math", "-std=c++20")) == ("-use_fast_math", "-std=c++20")
    assert chosen(("-ftz=false",)) == ("-std=c++17", "-ftz=false")
    assert chosen(("--generate-line-info", "-lineinfo")) == chosen(())
    for bad in ("-ccbin=/bin/sh", "-I/etc", "-o x", "--run", "@file", "-std=c++17 -v"):
        with pytest.raises(InputError, match="is not passed on"):
            chosen((bad,))


MACROS = """#include <torch/extension.h>
#define KERNEL(name, type) __global__ void name(type* x) { x[threadIdx.x] += type(1); }
#define BINDING(name, type) void name##_of(torch::Tensor x) { name<<<1, 32>>>(x.ptr<type>()); }
KERNEL(one, half)
KERNEL(two, double);
BINDING(one, half)
template <typename T, int N = 4> __global__ void many(T* x) { x[0] = N; }
template <int N> __global__ void asked(float* x) { x[0] = N; }
static void run(int n) {
#ifdef WITH_MPI
    MPI_Init();
}
#else
    one<<<n, 32>>>(nullptr);
}
#endif
PYBIND11_MODULE(EXTENSION, m) { m.def("one", &one_of); }
"""


@needs_nvrtc
def test_macros_make_kernels_and_templates_are_offered_where_they_can_be_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bound.cu"
    path.write_text(MACROS)
    assert main(["check", str(path)]) == 0
    said = capsys.readouterr().out
    assert "one(__half*)" in said and "two(double*)" in said and "many<float, 4>" in said
    assert "asked<32>" in said
    launch = ["--grid", "1", "--block", "1", "--arg", "f32[1]=zeros"]
    assert main(["count", str(path), "--entry", "asked<7>", *launch]) == 0
    assert "asked<7>" in capsys.readouterr().out


LAUNCHER = """
template <int D, int PAD, typename T> __global__ void attend(T* x) { x[threadIdx.x] += D + PAD; }
template <const int kD, typename T, int kPad = 8>
void launch(T* x) {
  constexpr int kTile = kD < 128 ? 4 : 2;
  attend<kD * kTile, kPad, T><<<kTile, 32>>>(x);
}
void chosen(int d, half* x) {
  switch (d) {
    case 32: launch<32, half>(x); break;
    case 64: launch<64, half>(x); break;
    case 128: launch<128, half>(x); break;
  }
}
"""


def test_templates_are_made_as_the_launcher_around_them_is_called(tmp_path: Path) -> None:
    path = tmp_path / "launcher.cu"
    path.write_text(LAUNCHER)
    found = written_launches(path)
    assert [(one.instance, one.grid) for one in found] == [
        ("attend<128, 8, half>", (4, 1, 1)),
        ("attend<256, 8, half>", (4, 1, 1)),
    ]
    assert launch_at(path, found[0].line) == found[0]


DISPATCHED = """#include <framework/extension.h>
template <typename scalar_t, int N> __global__ void scale(scalar_t* x) { x[threadIdx.x] *= N; }
template <unsigned int WIDTH, bool UP, class T = float> __global__ void tile(T* x) { x[0] = WIDTH; }
template <template <class> class Of> __global__ void odd(float* x) { x[0] = Of<int>::value; }
void run(float* p) { DISPATCH(kind, [&] { scale<scalar_t, N><<<1, 32>>>(p); }); }
"""


@needs_nvrtc
def test_templates_of_which_nothing_says_with_what_are_made_of_floats_and_32(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "dispatched.cu"
    path.write_text(DISPATCHED)
    assert main(["check", str(path)]) == 0
    said = capsys.readouterr().out
    assert "scale<float, 32>(float*): supported" in said
    assert re.search(r"tile<\W*(unsigned int\))?32u?, .*, float>\(float\*\)", said)
    assert "odd: a template that nothing makes a kernel of; --entry 'odd<…>' makes one" in said


def test_the_host_code_of_a_text_is_run_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran, of = [], HostRun.of
    monkeypatch.setattr(HostRun, "of", lambda *read: ran.append(read) or of(*read))
    path = tmp_path / "launcher.cu"
    path.write_text(LAUNCHER + "// read once\n")
    assert written_launches(path) == written_launches(path) and len(ran) == 1
    path.write_text(LAUNCHER.replace("128", "64"))
    written_launches(path)
    assert len(ran) == 2
