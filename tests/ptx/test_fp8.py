"""Floats of eight bits: every pattern there is, to f16 and back, as cuda_fp8.h asks for them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ptx.launching import launch

SOURCE = """
#include <cuda_fp8.h>
extern "C" __global__ void down(const __half2* in, const float2* wide, unsigned short* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[2 * i] = __nv_cvt_halfraw2_to_fp8x2(in[i], __NV_SATFINITE, KIND);
    out[2 * i + 1] = __nv_cvt_float2_to_fp8x2(wide[i], __NV_SATFINITE, KIND);
}
extern "C" __global__ void up(const unsigned short* in, __half2* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __nv_cvt_fp8x2_to_halfraw2(in[i], KIND);
}
"""


def meant(kind: str) -> np.ndarray:
    """What the 128 patterns without a sign stand for (OCP 8-bit Floating Point Specification)."""
    fraction, bias = (3, 7) if kind == "e4m3" else (2, 15)
    found = []
    for bits in range(128):
        stored, rest = bits >> fraction, bits & ((1 << fraction) - 1)
        significand = rest / (1 << fraction) + (stored > 0)
        found.append(significand * 2.0 ** (max(stored, 1) - bias))
    if kind == "e4m3":
        found[127] = np.nan
    else:
        found[124:] = [np.inf, np.nan, np.nan, np.nan]
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["e4m3", "e5m2"])
def test_every_half_goes_to_the_nearest(kind: str) -> None:
    halves = np.arange(65536, dtype=np.uint16).view(np.float16)
    source = SOURCE.replace("KIND", f"__NV_{kind.upper()}")
    given = halves, halves.astype(np.float32), np.zeros(65536, np.uint16)
    found = launch(source, "down", 128, 256, *given, arch="sm_90").outputs["arg2"]
    from_halves, from_floats = found.reshape(-1, 2).T.copy().view(np.uint8)
    assert (from_halves == from_floats).all()
    table = meant(kind)
    finite = np.flatnonzero(np.isfinite(table))
    size = np.abs(halves.astype(np.float64))
    none = np.isnan(halves)
    assert (from_halves[none] == 0x7F).all()
    distance = np.abs(table[finite] - size[~none, None])
    near = np.where(np.isinf(size[~none]), finite[-1], distance.argmin(axis=1))
    tie = np.isclose(distance[:, 1:], distance[:, :-1], rtol=0, atol=0).any(axis=1)
    sign = (np.signbit(halves[~none]) * 128).astype(np.uint8)
    exact = ~tie | np.isinf(size[~none])
    assert (from_halves[~none][exact] == (near | sign)[exact]).all()
    assert (from_halves[~none][~exact] % 2 == 0).all()  # of two as near, the even one
    assert (np.abs(from_halves[~none][~exact].astype(int) - (near | sign)[~exact]) <= 1).all()


@pytest.mark.parametrize("kind", ["e4m3", "e5m2"])
def test_every_pattern_comes_back_as_a_half(kind: str) -> None:
    pairs = np.arange(256, dtype=np.uint16)
    pairs = pairs | pairs[::-1] << 8
    source = SOURCE.replace("KIND", f"__NV_{kind.upper()}")
    given = pairs, np.zeros(512, np.float16)
    found = launch(source, "up", 1, 256, *given, arch="sm_90").outputs["arg1"]
    raw = pairs.view(np.uint8)
    value = np.where(raw > 127, -meant(kind)[raw & 127], meant(kind)[raw & 127])
    same = found.astype(np.float64) == value
    assert (same | np.isnan(value)).all()
    assert (found.view(np.uint16)[np.isnan(value)] == 0x7FFF).all()
