"""Arguments as people write them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpuviz.arguments import BufferSpec, ScalarSpec, materialise, parse
from gpuviz.base.errors import InputError
from gpuviz.compile import compile_cuda
from gpuviz.launch.signature import KernelParameter, taken_by
from gpuviz.launch.texts import Kernel, LaunchTexts

KERNEL = Kernel(
    (
        KernelParameter("a", "f32", True, written=False),
        KernelParameter("b", "u8", True, lanes=4),
        KernelParameter("n", "i32", False, size=4),
        KernelParameter("x", "f64", False),
    ),
    (),
    {"TILE": 16}.get,
)


def made(folder: Path | None = None, **texts: str) -> list[str]:
    sizes = {"m": "3"}
    launch = KERNEL.launch(LaunchTexts("2, ceil(n / TILE)", "TILE", "", texts, {}, sizes), folder)
    return [str(one) for one in launch.arguments]


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("rand(n * m)", "f32[120]=rand"),
        ("rand(n, seed=m)", "f32[40]=rand(3)"),
        ("zeros(f64, 2)", "f64[2]=zeros"),
        ("f16[n]=1/4", "f16[40]=0.25"),
        ("ones(n + 6) + 3", "f32[46]+3=ones"),
        ("[1, n, 0.5]", "f32[3]=[1.0,40.0,0.5]"),
        ("b + 2", "&1+8"),
        ("nullptr", "u64=0"),
        ("rand", "f32[4096]=rand"),
    ],
)
def test_buffers(text: str, spec: str) -> None:
    assert made(a=text, n="40")[0] == spec


def test_sizes_follow_each_other() -> None:
    launch = LaunchTexts("ceil(n / block.x)", "64", "4 * block.x", {"n": "m * m", "a": "rand(n)"})
    for m, grid in ((8, 1), (16, 4), (20, 7)):
        found = KERNEL.launch(LaunchTexts(sizes={"m": str(m)}).over(launch))
        assert (found.grid, found.shared) == ((grid, 1, 1), 256)
        assert [str(found.arguments[0]), str(found.arguments[2])] == [
            f"f32[{m * m}]=rand",
            f"i32={m * m}",
        ]
    assert found.proposed.keys() == {"b", "x"}


def test_scalars() -> None:
    assert made(n="TILE << 2", x="1/3")[2:] == ["i32=64", f"f64={1 / 3}"]
    assert made(n="0x10", x="-1e-3f")[2:] == ["i32=16", "f64=-0.001"]
    assert made(n="i32=m", x="inf")[2:] == ["i32=3", "f64=inf"]


def test_files_are_as_long_as_they_are(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(5, dtype=np.float32))
    (tmp_path / "y.bin").write_bytes(bytes(range(12)))
    Image.fromarray(np.arange(24, dtype=np.uint8).reshape(2, 3, 4), "RGBA").save(tmp_path / "z.png")
    a, b, *_ = made(tmp_path, a="@x.npy", b="@y.bin")
    assert (a, b) == (f"f32[5]=@{tmp_path / 'x.npy'}", f"u8[12]=@{tmp_path / 'y.bin'}")
    assert materialise(parse(b)).tolist() == list(range(12))
    image = parse(made(tmp_path, b="@z.png")[1])
    assert isinstance(image, BufferSpec) and materialise(image).tolist() == list(range(24))
    with pytest.raises(InputError, match=r"'cuont' is no parameter \(a, .*\) and no type \(i8, u8"):
        made(tmp_path, b="cuont=3")
    with pytest.raises(InputError, match=r"a: .*gone.npy"):
        made(tmp_path, a="@gone.npy")


def test_floats_that_numpy_does_not_have_are_rounded_to_nearest_even() -> None:
    bf16 = materialise(parse("bf16[4]=[1, 1.00390625, 1.01171875, -3]"))
    assert bf16.tolist() == [0x3F80, 0x3F80, 0x3F82, 0xC040]
    assert materialise(parse("e4m3[5]=[1, 448, 1000, 1.0625, -0.001953125]")).tolist() == [
        0x38,
        0x7E,
        0x7E,
        0x38,
        0x81,
    ]
    assert materialise(parse("e5m2[3]=[1, 57344, 1.125]")).tolist() == [0x3C, 0x7B, 0x3C]
    assert materialise(ScalarSpec("bf16", 2)) == 0x4000


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("tensormap(f16[n, 2 * m]=rand, box=8x8)", "tensormap(f16[40,16]=rand, box=8x8)"),
        (
            "tensormap(a[n, 64], box=8x32, swizzle=128)",
            "tensormap(f32[40,64]=&1+0, box=8x32, swizzle=128)",
        ),
    ],
)
def test_a_tensor_map_is_of_a_type_or_of_a_buffer(text: str, spec: str) -> None:
    taken = (
        KernelParameter("map", "tensormap", False, size=128),
        KernelParameter("a", "f32", True),
        KernelParameter("n", "i32", False, size=4),
    )
    texts = LaunchTexts(
        "1", "32", "", {"map": text, "a": "rand(n * 64)", "n": "40"}, {}, {"m": "8"}
    )
    assert str(Kernel(taken, (), {}.get).launch(texts).arguments[0]) == spec
    with pytest.raises(InputError, match=r"map: 'rand\(8\)' is no tensor map"):
        Kernel(taken, (), {}.get).launch(LaunchTexts("1", "32", "", {"map": "rand(8)"}).over(texts))


def test_a_parameter_that_is_a_tensor_map_is_known() -> None:
    source = """#include <cuda.h>
extern "C" __global__ void k(const __grid_constant__ CUtensorMap map, float* out) {
    asm volatile("prefetch.tensormap [%0];" :: "l"(&map)); }
"""
    program = compile_cuda(source, arch="sm_90")
    assert [one.kind for one in taken_by(program, "k")] == ["tensormap", "f32"]
