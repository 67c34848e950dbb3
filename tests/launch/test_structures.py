"""Structures by value: laid out as the compiler does, given by field, executed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.arguments import parse
from gpuviz.base.errors import InputError
from gpuviz.compile import Program, load_program, nvrtc
from gpuviz.launch.job import Job
from gpuviz.launch.texts import Kernel, LaunchTexts
from gpuviz.ptx.options import Options
from gpuviz.run import emulated

pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")

HEADER = """#define W 3
typedef struct __align__(16) { float4 at; int id; } Body;
template <typename T> struct Params { T* data; short n; T w[W][2]; Body body; const int* index; };
struct Base { char tag; }; struct Derived : Base { double d; };
enum Mode { FAST, SLOW };
using Real = float;
"""
SOURCE = """#include "params.h"
__constant__ float factor[4] = {2.0f, 3.0f};
__device__ int bias = 7;
__global__ void k(Params<float> p, Mode mode, Body* bodies, Derived base, Real scale, uchar3 c) {
    int i = threadIdx.x;
    if (i < p.n)
        p.data[i] = scale * p.body.id + p.w[2][1] + base.d + mode + c.z + bodies[1].id
                  + p.index[i] + factor[1] + bias;
}
int main() { }
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("own")
    (folder / "params.h").write_text(HEADER)
    (folder / "own.cu").write_text(SOURCE)
    return load_program(folder / "own.cu")


@pytest.fixture(scope="module")
def kernel(program: Program) -> Kernel:
    return Kernel.of(program, program.kernels[0])


def test_fields_lie_where_the_compiler_has_them(kernel: Kernel) -> None:
    taken = {one.name: one for one in kernel.taken}
    assert list(taken) == ["p", "mode", "bodies", "base", "scale", "c"]
    assert taken["p"].size == 96
    assert [(f.name, f.kind, f.offset, f.count) for f in taken["p"].fields] == [
        ("p.data", "f32", 0, 1),
        ("p.n", "i16", 8, 1),
        ("p.w", "f32", 12, 6),
        ("p.body.at.x", "f32", 48, 1),
        ("p.body.at.y", "f32", 52, 1),
        ("p.body.at.z", "f32", 56, 1),
        ("p.body.at.w", "f32", 60, 1),
        ("p.body.id", "i32", 64, 1),
        ("p.index", "i32", 80, 1),
    ]
    assert (taken["p"].fields[0].written, taken["p"].fields[-1].written) == (True, False)
    assert [(f.name, f.offset) for f in taken["base"].fields] == [("base.tag", 0), ("base.d", 8)]
    assert (taken["mode"].kind, taken["scale"].kind, taken["bodies"].lanes) == ("i32", "f32", 32)


def launched(program: Program, kernel: Kernel, texts: LaunchTexts) -> dict[str, np.ndarray]:
    made = kernel.launch(texts)
    assert tuple(parse(str(spec)) for spec in made.arguments) == made.arguments
    job = Job(program, program.kernels[0], made.grid, made.block, made.arguments, made.shared)
    return dict(emulated.run(job, architecture("sm_90"), options=Options(record=())).outputs)


def test_the_kernel_reads_what_was_given_by_field(program: Program, kernel: Kernel) -> None:
    given = {
        "p": "{n=n, data=zeros(n), w=[1, 2, 3, 4, 5, 0.25], body={id=3}, index=arange(n)}",
        "mode": "1",
        "bodies": str([0] * 48 + [9] + [0] * 15),
        "base.d": "0.5",
        "scale": "10",
        "c": "{z=4}",
    }
    texts = LaunchTexts("ceil(n / block.x)", "32", "", given, {}, {"n": "20"})
    found = launched(program, kernel, texts)["p.data"]
    assert found.tolist() == [30 + 0.25 + 0.5 + 1 + 4 + 9 + i + 3 + 7 for i in range(20)]


def test_constants_of_the_source_can_be_set(program: Program, kernel: Kernel) -> None:
    assert [(one.name, one.initial) for one in kernel.data] == [
        ("factor", "[2, 3, 0, 0]"),
        ("bias", "7"),
    ]
    zero = {"p.n": "1", "p.data": "zeros(1)", "scale": "0", "mode": "0", "base.d": "0", "c.z": "0"}
    texts = LaunchTexts("1", "32", "", zero, {"factor": "arange", "bias": "100"})
    assert launched(program, kernel, texts)["p.data"].tolist() == [101.0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"p": "{m=4}"}, "there is no p.m: the kernel takes p.data, p.n"),
        ({"p.n": "1.5"}, "p.n: '1.5' is 1.5: use ceil"),
        ({"p.n": "rand(3)"}, "p.n: 'rand\\(3\\)' is for a buffer; this is one number"),
        ({"p.data": "7"}, "p.data: '7' is no buffer: write zeros"),
        ({"p.n": "i32=7"}, "p.n: i32=7 has 4 bytes, and 2 are wanted"),
        ({"p.n": "70000"}, "p.n: .*70000 does not fit i16"),
        ({"p.w": "[1, 2]"}, "p.w: .*2 values for 6"),
        ({"scale": "x"}, "scale: 'x' is no arithmetic: there is no 'x'"),
        ({"scale": "p.n", "p.n": "scale"}, "depends on itself"),
    ],
)
def test_what_is_wrong_with_a_field_is_said_with_its_name(
    kernel: Kernel, program: Program, given: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        launched(program, kernel, LaunchTexts("1", "32", "", given))


def test_of_two_types_of_one_name_the_one_that_is_compiled(tmp_path: Path) -> None:
    source = (
        "#ifdef WIDE\ntypedef double real;\n#else\ntypedef float real;\n#endif\n"
        "struct Empty {}; struct Box : public Empty { real x, y; };\n"
        "__global__ void f(Box box, cudaExtent e, float* out) { *out = std::fmaf(box.x, box.y, "
        "std::clamp(float(e.width), 0.f, float(M_LN10))) + std::numeric_limits<float>::min(); }\n"
    )
    file = tmp_path / "own.cu"
    file.write_text(source)
    for defines, kind in (({}, "f32"), ({"WIDE": "1"}, "f64")):
        made = load_program(file, defines=defines)
        box, extent, _ = Kernel.of(made, made.kernels[0]).taken
        assert [(one.name, one.kind) for one in box.fields] == [("box.x", kind), ("box.y", kind)]
        assert [one.name for one in extent.fields] == ["e.width", "e.height", "e.depth"]
