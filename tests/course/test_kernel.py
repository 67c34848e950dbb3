"""A user's own kernel as a lesson: its requests in order, its arguments guessed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gpuviz.base.errors import InputError
from gpuviz.compile import compile_cuda, nvrtc
from gpuviz.draw.marks import Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.launch.proposals import guess
from gpuviz.launch.signature import short_name, taken_by
from gpuviz.story.kernel_launch import KernelLaunch, launch_of, macros_of, record_of
from gpuviz.story.own_kernel.story import lesson_of
from gpuviz.story.perform import Performance, perform

pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")

SOURCE = """template <typename T>
__global__ void blend(const T* a, float4* out, int n, int W, int offset, float alpha)
{
    __shared__ T tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x * 2] = a[i] * alpha;
    __syncthreads();
    for (int k = 0; k < 3; ++k)
        if (i < 32) out[i * (k + 1)] = make_float4(tile[threadIdx.x * 2], 0.0f, W, offset + n);
}
template __global__ void blend<float>(const float*, float4*, int, int, int, float);
extern "C" __global__ void plain(unsigned char* bytes, double d, const int* __restrict__ index) {
    bytes[threadIdx.x] = d + index[0];
}
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("own") / "own.cu"
    made.write_text(SOURCE)
    return made


def shown(file: Path, **values: int) -> Performance:
    program = compile_cuda(SOURCE)
    entry = next(k for k in program.kernels if "blend" in k)
    arguments = ("f32[64]=rand", "f32[1024]=zeros", "i32=64", "i32=8", "i32=0", "f32=2")
    launch = KernelLaunch(file, entry, short_name(entry), (2, 1, 1), (32, 1, 1), arguments)
    return perform(lesson_of(launch), values)


def said(performance: Performance, t: float) -> list[str]:
    frame = performance.story.frame(t, Stage(900, 500, DARK))
    return [text for mark in frame.marks if isinstance(mark, Texts) for text in mark.strings]


def test_requests_come_in_the_order_made(file: Path) -> None:
    steps = shown(file).story.steps
    kinds = list(dict.fromkeys((s.kind, s.line) for s in steps))
    assert [kind for kind, _ in kinds][:4] == ["load", "shared", "barrier", "shared"]
    assert kinds[0][1] == 6 and kinds[-1] == ("store", 9)
    assert all(a.end == b.start for a, b in zip(steps, steps[1:], strict=False))
    assert "2 wavefronts" in next(s.detail for s in steps if s.kind == "shared")


def test_each_request_has_its_picture(file: Path) -> None:
    performance = shown(file)
    pictures = {tuple(said(performance, s.end - 0.01)) for s in performance.story.steps}
    assert len(pictures) > 3
    words = " ".join(said(performance, 0.0))
    assert "One warp reads 32 floats in a row" in words


def test_a_warp_beyond_the_data_says_so(file: Path) -> None:
    story = shown(file, block=1).story
    assert "store" not in {s.kind for s in story.steps}


def test_guesses(file: Path) -> None:
    program = compile_cuda(SOURCE)
    blend, plain = sorted(program.kernels, key=lambda k: "blend" not in k)
    assert [guess(t, 5000) for t in taken_by(program, blend)] == [
        "f32[5000]=rand",
        "f32[20000]=zeros",
        "i32=4976",  # it does not fill the blocks: guards are seen
        "i32=64",
        "i32=0",
        "f32=1",
    ]
    assert [guess(t, 5000) for t in taken_by(program, plain)] == [
        "u8[5000]=zeros",
        "f64=1",
        "i32[5000]=arange",
    ]
    assert [t.name for t in taken_by(program, plain)] == ["bytes", "d", "index"]
    assert (short_name(blend), short_name(plain)) == ("blend<float>", "plain")


MACROS = """extern "C" __global__ void scaled(float* x) {
#include "factor.h"
    x[threadIdx.x] = FACTOR * N;
}
"""


def test_macros_and_folders_of_headers_belong_to_a_launch(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "factor.h").write_text("#define FACTOR 3\n")
    file = tmp_path / "scaled.cu"
    file.write_text(MACROS)
    wanted = KernelLaunch(
        file,
        "scaled",
        "scaled",
        (1, 1, 1),
        (32, 1, 1),
        ("f32[32]=zeros",),
        defines=(("N", "7"),),
        options=("-use_fast_math", "-Iinclude"),
    )
    assert launch_of(record_of(wanted)) == wanted
    run = perform(lesson_of(wanted), {}).runs["kernel"]
    assert run.outputs["x"].tolist() == [21.0] * 32


def test_other_launches_of_a_kernel_are_the_same_lesson(tmp_path: Path) -> None:
    one = KernelLaunch(tmp_path / "a.cu", "f", "f", (1, 1, 1), (32, 1, 1), ())
    assert lesson_of(one).id == lesson_of(replace(one, grid=(2, 1, 1))).id
    assert lesson_of(one).id != lesson_of(replace(one, path=tmp_path / "b.cu")).id


@pytest.mark.parametrize("text", ["7=N", "'N", "-D"])
def test_what_is_no_macro_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"is no macro|cannot be parted"):
        macros_of(text)
