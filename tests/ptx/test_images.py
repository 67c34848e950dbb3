"""Textures and surfaces against the formulas of the CUDA programming guide, written out here."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.arguments import parse
from gpuviz.base.errors import InputError, KernelFault, UnsupportedError
from gpuviz.compile import Program, compile_cuda, nvrtc
from gpuviz.launch.job import Job
from gpuviz.launch.texts import Kernel, LaunchTexts
from gpuviz.ptx.emulator import Options
from gpuviz.run import emulated
from gpuviz.run.run import Run

pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")

SOURCE = """
extern "C" __global__ void one(cudaTextureObject_t t, const float* x, float* out)
{ int i = threadIdx.x; out[i] = tex1D<float>(t, x[i]); }
extern "C" __global__ void fetch(cudaTextureObject_t t, float* out)
{ int i = threadIdx.x; out[i] = tex1Dfetch<float>(t, i - 2); }
extern "C" __global__ void two(cudaTextureObject_t t, const float* x, const float* y, float2* out)
{ int i = threadIdx.x; out[i] = tex2D<float2>(t, x[i], y[i]); }
extern "C" __global__ void three(cudaTextureObject_t t, const float* x, const float* y, float* out)
{ int i = threadIdx.x; out[i] = tex3D<float>(t, x[i], y[i], 1.25f); }
extern "C" __global__ void whole(cudaTextureObject_t t, uchar4* out)
{ int i = threadIdx.x; if (i & 1) out[i] = tex2D<uchar4>(t, i % 4, i / 4); }
extern "C" __global__ void layers(cudaTextureObject_t t, float* out)
{ int i = threadIdx.x; out[i] = tex2DLayered<float>(t, i % 4, i / 4 % 2, i / 8); }
extern "C" __global__ void gather(cudaTextureObject_t t, float4* out)
{ out[0] = tex2Dgather<float4>(t, 1.5f, 2.0f, 0); }
extern "C" __global__ void surface(cudaSurfaceObject_t s, cudaSurfaceObject_t d, int shift)
{
    int x = threadIdx.x, y = threadIdx.y; uchar4 v;
    surf2Dread(&v, s, (x + shift) * 4, y, cudaBoundaryModeClamp);
    v.x += 1;
    surf2Dwrite(v, d, (x + shift) * 4, y, cudaBoundaryModeZero);
    if (shift == 0) surf2Dwrite(v, d, x * 4, y);
}
"""
PLACES = [-1.3, -0.5, -0.01, 0.0, 0.24, 0.5, 1.0, 1.49, 2.002, 3.5, 3.99, 4.0, 5.3, 9.75]


@pytest.fixture(scope="module")
def program() -> Program:
    return compile_cuda(SOURCE)


def run(program: Program, entry: str, threads: str, **texts: str) -> Run:
    made = Kernel.of(program, entry).launch(LaunchTexts("1", threads, "", texts))
    assert tuple(parse(str(one)) for one in made.arguments) == made.arguments
    job = Job(program, entry, made.grid, made.block, made.arguments)
    return emulated.run(job, architecture("sm_90"), options=Options(record=()))


def listed(values: list[float]) -> str:
    return str([float(np.float32(value)) for value in values])


def texel(values: list[float], index: int, mode: str) -> float:
    size = len(values)
    if mode == "border" and not 0 <= index < size:
        return 0.0
    return values[index % size if mode == "wrap" else min(max(index, 0), size - 1)]


def guide(values: list[float], x: float, mode: str, linear: bool, normalized: bool) -> float:
    """A texture of one dimension, as the appendix writes it."""
    at, size = np.float32(x), len(values)
    if normalized:
        if mode == "wrap":
            at = at - np.float32(floor(at))
        if mode == "mirror":
            part = at - np.float32(floor(at))
            at = part if floor(at) % 2 == 0 else np.float32(1) - part
        at = np.float32(at * np.float32(size))
    elif mode in ("wrap", "mirror"):
        mode = "clamp"
    if not linear:
        return texel(values, floor(at), mode)
    shifted = np.float32(at - np.float32(0.5))
    low = floor(shifted)
    share = Fraction(round(Fraction(float(shifted)) * 256 - low * 256), 256)
    near, far = texel(values, low, mode), texel(values, low + 1, mode)
    return float((1 - share) * Fraction(near) + share * Fraction(far))


@pytest.mark.parametrize("linear", ["linear", "point"])
@pytest.mark.parametrize("mode", ["clamp", "border", "wrap", "mirror"])
@pytest.mark.parametrize("normalized", ["normalized", ""])
def test_one_dimension(program: Program, linear: str, mode: str, normalized: str) -> None:
    values = [1.0, 4.0, 2.0, 8.0]
    places = [x / 4 for x in PLACES] if normalized else PLACES
    image = f"f32[4] {mode} {linear} {normalized}={values}"
    found = run(
        program, "one", str(len(places)), t=image, x=listed(places), out=f"zeros({len(places)})"
    )
    wanted = [guide(values, x, mode, linear == "linear", bool(normalized)) for x in places]
    assert found.outputs["out"].tolist() == wanted


def test_a_fetch_outside_gives_zero(program: Program) -> None:
    found = run(program, "fetch", "6", t="f32[3]=[1, 4, 2]", out="ones(6)").outputs["out"]
    assert found.tolist() == [0, 0, 1, 4, 2, 0]


def test_two_dimensions_mix_four_texels(program: Program) -> None:
    grid = np.arange(12, dtype=np.float32).reshape(3, 4)
    values = np.stack([grid, -grid], axis=2)
    image = f"f32*2[4, 3] linear={listed(values.reshape(-1).tolist())}"
    found = run(program, "two", "2", t=image, x="[1.25, 3.5]", y="[2, 0.5]", out="zeros(4)")
    # x: 0.75 between columns 0 and 1; y: 1.5 between rows 1 and 2
    wanted = 0.5 * (0.25 * 4 + 0.75 * 5) + 0.5 * (0.25 * 8 + 0.75 * 9)
    assert found.outputs["out"].tolist() == [wanted, -wanted, 3, -3]


def test_three_dimensions_integers_layers_and_gathering(program: Program) -> None:
    found = run(
        program, "three", "1", t="f32[2,2,2] linear=arange", x="[1]", y="[0.5]", out="zeros(1)"
    )
    assert found.outputs["out"].tolist() == [0.5 + 0.75 * 4]
    pixels = run(program, "whole", "8", t="u8*4[4,2]=arange", out="ones(32)").outputs["out"]
    assert pixels.reshape(8, 4).tolist() == [
        [4 * i + k if i % 2 else 1 for k in range(4)] for i in range(8)
    ]
    layers = run(program, "layers", "24", t="f32[4,2,3] layered=arange", out="zeros(24)")
    assert layers.outputs["out"].tolist() == list(range(24))
    four = run(program, "gather", "1", t="f32[4,4]=arange", out="zeros(4)").outputs["out"]
    assert four.tolist() == [9, 10, 6, 5]  # rows 1 and 2, columns 1 and 2, from the lower left


def test_whole_numbers_as_floats(program: Program) -> None:
    given: dict[str, Any] = {"x": "[0, 1, 2]", "out": "zeros(3)"}
    unsigned = run(program, "one", "3", t="u8[3] float=[0, 51, 255]", **given).outputs["out"]
    assert unsigned.tolist() == [0.0, float(np.float32(51) / np.float32(255)), 1.0]
    signed = run(program, "one", "3", t="i16[3] float=[-32768, -32767, 16384]", **given)
    assert signed.outputs["out"].tolist() == [-1, -1, float(np.float32(16384) / np.float32(32767))]
    with pytest.raises(KernelFault, match=r"floats are read of image u8\[3\].*say float"):
        run(program, "one", "3", t="u8[3]=[0, 51, 255]", **given)
    with pytest.raises(InputError, match="t: .*linear filtering is of floats"):
        run(program, "one", "3", t="u8[3] linear=zeros", **given)


def test_surfaces(program: Program) -> None:
    texts = {"s": "u8*4[4,2]=arange", "d": "u8*4[4,2]=zeros"}
    found = run(program, "surface", "4,2", **texts, shift="1").outputs
    before = np.arange(32, dtype=np.uint8).reshape(2, 4, 4)
    after = np.zeros((2, 4, 4), np.uint8)
    after[:, 1:] = before[:, 1:] + np.array([1, 0, 0, 0], np.uint8)  # what is outside is dropped
    assert found["d"].reshape(2, 4, 4).tolist() == after.tolist()
    assert found["s"].tolist() == before.reshape(-1).tolist()
    with pytest.raises(KernelFault, match=r"outside of image u8\*4\[3,2\].*x counts bytes"):
        run(program, "surface", "4,2", s="u8*4[4,2]=arange", d="u8*4[3,2]=zeros", shift="0")


def test_their_requests_are_said_not_to_be_counted(program: Program) -> None:
    found = run(program, "fetch", "6", t="f32[3]=ones", out="ones(6)")
    assert "requests of textures and surfaces (lines 5) are not modelled" in found.trace.notes[-1]
    assert found.counts.totals["global_store_requests"] == 1
    with pytest.raises(KernelFault, match="0x1 is no texture or surface"):
        job = Job(program, "fetch", (1, 1, 1), (6, 1, 1), (parse("u64=1"), parse("f32[6]=ones")))
        emulated.run(job, architecture("sm_90"))


LACKING = """
extern "C" __global__ void cube(cudaTextureObject_t t, float* out)
{ out[threadIdx.x] = texCubemap<float>(t, 1.0f, 0.5f, 0.25f); }
extern "C" __global__ void level(cudaTextureObject_t t, float* out)
{ out[threadIdx.x] = tex2DLod<float>(t, 1.0f, 0.5f, 2.0f); }
"""


def test_cube_maps_and_levels_are_named() -> None:
    made = compile_cuda(LACKING, arch="sm_90")
    image, out = parse("image f32[4,4]=rand"), parse("f32[32]=zeros")
    shape: Any = ((1, 1, 1), (32, 1, 1), (image, out))
    with pytest.raises(UnsupportedError, match="a cube map"):
        emulated.run(Job(made, "cube", *shape), architecture("sm_90"))
    found = emulated.run(Job(made, "level", *shape), architecture("sm_90"))
    assert "levels of mipmaps (lines 5) are not emulated" in found.trace.notes[-1]


READ = """
__device__ float at(int i) { return 1.5f + i / 1024.0f; }
extern "C" __global__ void plain(cudaTextureObject_t t, float* out)
{ int i = threadIdx.x; out[i] = tex1D<float>(t, at(i)); }
extern "C" __global__ void two(cudaTextureObject_t t, float* out)
{ int i = 4 * (blockIdx.x * 1024 + threadIdx.x);
  out[i / 4] = tex2D<float>(t, 1.5f + (i % 128) / 128.0f, 1.5f + (i / 128) / 128.0f); }
extern "C" __global__ void four(cudaTextureObject_t t, float4* out)
{ int i = blockIdx.x * 1024 + threadIdx.x;
  out[i] = tex2D<float4>(t, (i % 64) / 64.0f * 1.7f - 0.3f, (i / 64) / 64.0f); }
"""
IMAGES = {
    "plain": ("plain", "f32[4] linear=[0,0,1,1]", 1024, 1),
    "bytes": ("plain", "u8[4] linear float=[0,3,178,255]", 1024, 1),
    "two": ("two", "f32[4,4] linear=[0,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0]", 4096, 1),
    "four": ("four", "u8*4[32,16] wrap linear normalized float=rand", 16384, 4),
}


@pytest.fixture(scope="module")
def readings() -> Program:
    return compile_cuda(READ, arch="sm_90")


@pytest.mark.parametrize("name", IMAGES)
def test_linear_filtering_gives_the_bits_that_an_h200_gives(readings: Program, name: str) -> None:
    entry, image, count, step = IMAGES[name]
    arguments = parse(f"image {image}"), parse(f"f32[{count}]=zeros")
    job = Job(readings, entry, (max(count // step // 1024, 1), 1, 1), (1024, 1, 1), arguments)
    found = emulated.run(job, architecture("sm_90"), options=Options(record=())).outputs["out"]
    wanted = np.load(Path(__file__).parent.parent / "data" / "h200_textures.npz")[name]
    if name == "four":
        found = found[::4]
    assert np.array_equal(found.reshape(-1), wanted.reshape(-1))
