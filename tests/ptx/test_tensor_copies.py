"""Boxes of tensors that bulk copies move: against NumPy's slices."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpuviz.arguments import ByValue, TensorMap, materialise, parse, passed
from gpuviz.base.errors import InputError, KernelFault, UnsupportedError
from gpuviz.ptx.emulator import Options, Result, emulate
from gpuviz.ptx.tensor.shared_matrix import swizzled
from gpuviz.ptx.text import parser
from tests.ptx.launching import KERNELS, launch

SOURCE = (KERNELS / "tensor_copies.cu").read_text()


def given(text: str) -> ByValue:
    (one,) = passed([parse(text)])
    assert isinstance(one, ByValue) and str(parse(text)) == text
    return one


def boxed(
    tensor: np.ndarray, corner: list[int], moved: list[int], step: list[int], fill: float = 0
) -> np.ndarray:
    """The elements of a box; corner and sizes as NumPy counts."""
    out = np.full(moved, fill, tensor.dtype)
    for at in product(*map(range, moved)):
        where = tuple(c + s * a for c, s, a in zip(corner, step, at, strict=True))
        if all(0 <= w < n for w, n in zip(where, tensor.shape, strict=True)):
            out[at] = tensor[where]
    return out


@pytest.mark.parametrize(
    "sizes, box, step, corner",
    [
        ([100], [32], [1], [80]),
        ([10, 24], [6, 8], [1, 1], [-2, 20]),
        ([5, 6, 8], [3, 4, 4], [2, 3, 1], [1, -1, 4]),
        ([3, 4, 3, 8], [2, 2, 2, 4], [1, 1, 1, 1], [0, 1, 2, 0]),
        ([3, 2, 4, 3, 8], [2, 1, 2, 2, 4], [1, 1, 2, 1, 1], [1, 0, 1, 1, 0]),
    ],
)
def test_boxes_of_one_to_five_directions(
    sizes: list[int], box: list[int], step: list[int], corner: list[int]
) -> None:
    rank = len(sizes)
    x, y, z = (*corner[::-1], 0, 0)[:3]
    corner = [x, y, z, x, y][:rank][::-1]
    head = f"f32[{','.join(map(str, sizes))}]=arange, box={'x'.join(map(str, box))}"
    strided = f", step={'x'.join(map(str, step))}" if max(step) > 1 else ""
    moved = [-(-b // s) for b, s in zip(box, step, strict=True)]
    tensor = np.arange(np.prod(sizes), dtype="f4").reshape(sizes)
    out = np.zeros(np.prod(moved), "f4")
    args = [given(f"tensormap({head}{strided})"), rank, x, y, z, out.nbytes, out]
    run = launch("tensor_copies", "box", 2, 32, *args, arch="sm_90a", shared=4096)
    assert (run.outputs["arg6"] == boxed(tensor, corner, moved, step).reshape(-1)).all()


@pytest.mark.parametrize("swizzle", [32, 64, 128])
def test_lines_are_swizzled_by_address(swizzle: int) -> None:
    """A line of 128 bytes exchanges piece c with c ^ (line % 8), and so on."""
    columns = swizzle // 2
    head = f"f16[64,256]=rand, box=16x{columns}, swizzle={swizzle}, outside=nan"
    argument = given(f"tensormap({head})")
    tensor = argument.pointers[0].to.values.reshape(64, 256)
    out = np.zeros(16 * columns, "f2")
    args = [argument, 2, 256 - columns // 2, 3, 0, out.nbytes, out]
    found = launch("tensor_copies", "box", 1, 32, *args, arch="sm_90a", shared=4096).outputs["arg6"]
    right = boxed(tensor, [3, 256 - columns // 2], [16, columns], [1, 1], np.nan)
    pieces = found.view("u1").reshape(16, swizzle // 16, 16)
    for line in range(16):
        for piece in range(swizzle // 16):
            there = piece ^ {128: line % 8, 64: line // 2 % 4, 32: line // 4 % 2}[swizzle]
            got = pieces[line, there].view("f2")
            want = right[line, piece * 8 : piece * 8 + 8]
            assert ((got == want) | (np.isnan(got) & np.isnan(want))).all()
    assert (swizzled(swizzled(np.arange(4096), swizzle), swizzle) == np.arange(4096)).all()


def test_boxes_go_back_and_add_up() -> None:
    data = np.arange(8 * 8, dtype="f4")
    maps = [f"tensormap(f32[10,12]={fill}, box=8x8)" for fill in ("zeros", "ones")]
    args = [*map(given, maps), data, 8, -2, data.nbytes]
    run = launch("tensor_copies", "back", 1, 32, *args, arch="sm_90a", shared=4096)
    stored, added = run.outputs["arg0"], run.outputs["arg1"]
    right = np.zeros((10, 12), "f4")
    right[:6, 8:] = data.reshape(8, 8)[2:, :4]
    assert (stored.reshape(10, 12) == right).all() and (added == stored + 1).all()


def product_of(n: int, k: int, define: str = "", **more: Any) -> tuple[np.ndarray, Result]:
    """The right product, and the launch; A and B are arguments of their own, too."""
    random = np.random.default_rng(8)
    a, b = (random.integers(-3, 4, (n, k)).astype("f2") for _ in range(2))
    maps = [given(f"tensormap(f16[{n},{k}]=&{at}+0, box=64x64, swizzle=128)") for at in (5, 6)]
    args = [*maps, np.zeros((n, n), "f4"), n, k, a, b]
    more = {"arch": "sm_90a", "shared": 49152, **more}
    run = launch(f"{define}\n{SOURCE}", "product", (n // 64, n // 64), 160, *args, **more)
    return a.astype("f8") @ b.astype("f8").T, run


def test_a_product_fetched_in_boxes() -> None:
    """Producer and consumers, three stages, wgmma on swizzled tiles: exact for small numbers."""
    right, run = product_of(128, 320)
    assert (run.outputs["arg2"] == right).all()
    moved, tiles, blocks = 2 * 64 * 64 * 2, 5, 4
    assert run.trace.notes[:2] == (
        f"bulk copies moved {moved * tiles * blocks:,} bytes into shared memory and 0 out of it: "
        "their wavefronts in shared memory are not modelled",
        f"wgmma read {moved * tiles * blocks:,} bytes of shared memory",
    )
    additions = 128 * 32  # of the loop that writes the result, nothing else
    assert 0 <= run.trace.flops - 2 * 128 * 128 * 320 < 100 * additions


def test_products_are_over_when_they_were_waited_for() -> None:
    """Who gives a stage back before wgmma has read it lets the next boxes come too early."""
    options = Options(checks=("memory", "race", "init", "sync"), thorough=True)
    right, run = product_of(64, 320, options=options)
    assert (run.outputs["arg2"] == right).all() and run.trace.findings == ()
    _, early = product_of(64, 320, "#define TOO_EARLY", options=options)
    assert any("race" in one.kind and one.other_line > 0 for one in early.trace.findings)


def test_what_is_no_tensor_map_is_told() -> None:
    args = [ByValue(bytes(128)), 1, 0, 0, 0, 16, np.zeros(4, "f4")]
    with pytest.raises(KernelFault, match=r"no tensor map at .* give the argument as tensormap\("):
        launch("tensor_copies", "box", 1, 32, *args, arch="sm_90a", shared=4096)
    args[0] = given("tensormap(f32[8,8]=rand, box=4x4)")
    with pytest.raises(KernelFault, match="gives 1 coordinates of a tensor of 2 sizes"):
        launch("tensor_copies", "box", 1, 32, *args, arch="sm_90a", shared=4096)


def test_a_box_that_begins_between_16_bytes_is_refused() -> None:
    """An H200 ended such copies with an illegal instruction."""
    args = [given("tensormap(f32[8,8]=rand, box=4x4)"), 2, 1, 0, 0, 64, np.zeros(16, "f4")]
    with pytest.raises(KernelFault, match="begins 4 bytes into its line, which is no multiple"):
        launch("tensor_copies", "box", 1, 32, *args, arch="sm_90a", shared=4096)


@pytest.mark.parametrize(
    "text, said",
    [
        ("tensormap(f32[8]=rand", "is no tensor map: write tensormap"),
        ("tensormap(f99[8]=rand, box=8)", "type 'f99' is none of"),
        ("tensormap(f32[8,8]=rand, box=8)", "the box needs 2 sizes"),
        ("tensormap(f32[8,8]=rand, box=4x3)", "no multiple of 16"),
        ("tensormap(f32[8,64]=rand, box=4x64, swizzle=128)", "more than the swizzle of 128"),
        ("tensormap(f32[8,63]=rand, box=4x4)", "not a multiple of 16 bytes apart"),
        ("tensormap(f32[8,8]=rand, box=4x4, step=1x2)", "the last step is 1"),
        ("tensormap(i32[8,8]=rand, box=4x4, outside=nan)", "has no NaN"),
        ("tensormap(f32[8,8]=so, box=4x4)", "a buffer is filled with"),
        ("tensormap(f32[256,256,256]=&0+0, box=256x256x256)", "larger than shared memory"),
        ("tensormap(f32[4294967296]=&0+0, box=4)", "sizes are below 4,294,967,296"),
        ("tensormap(f32[8,8]=&0+0, box=4x4, stride=274877906944)", "below 1,099,511,627,776 b"),
    ],
)
def test_what_no_driver_would_encode_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse(text)


def test_a_map_that_the_kernel_makes() -> None:
    """Its fields as Triton 3.6 writes them, the interleave among them."""
    text = (KERNELS / "made_tensor_map.cu").read_text()

    def fetched(text: str) -> Any:
        given = np.arange(100, dtype="f4"), np.zeros(64, "f4"), np.zeros(128, "u1")
        return launch(
            text, "made", 1, 64, *given, arch="sm_90a", names=("in", "out", "map")
        ).outputs["out"]

    assert (fetched(text) == [*range(64, 100), *[0] * 28]).all()
    with pytest.raises(KernelFault, match="interleave_layout 1 of a tensor map is not emulated"):
        fetched(text.replace('"interleave_layout", "0"', '"interleave_layout", "1"'))


def test_a_field_beyond_the_map_is_refused() -> None:
    text = (Path(__file__).parents[1] / "data" / "kernels" / "tensors_and_textures.ptx").read_text()
    module = parser.parse(text.replace("[%rd3], 0, 64;", "[%rd3], 99, 64;"))
    given = [materialise(parse(one)) for one in ("f32[100]=rand", "f32[64]=zeros", "u8[128]=zeros")]
    with pytest.raises(UnsupportedError, match="box_dim number 99 of a tensor map"):
        emulate(module, "made", (1, 1, 1), (64, 1, 1), given)


@pytest.mark.parametrize(
    "change",
    [
        {"box": (256,) * 5},  # terabytes
        {"box": (65535, 1, 1, 1, 1)},
        {"box": (3, 1, 1, 1, 1)},  # no 16 bytes
        {"step": (255, 1, 1, 1, 1)},
        {"strides": (16, 16, 16, 2**63)},
        {"address": 2**63},
    ],
)
def test_a_map_forged_in_memory_is_none(change: dict[str, Any]) -> None:
    ones = (1,) * 5
    made = TensorMap("f32", 1024, (16,) * 5, (64, 1024, 4096, 16384), (4, 1, 1, 1, 1), ones)
    assert TensorMap.decoded(made.encoded()) == made
    assert TensorMap.decoded(replace(made, **change).encoded()) is None
