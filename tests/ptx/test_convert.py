"""Conversions against Python's integers and the exact rounding of fractions."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, inf, isfinite, trunc

import pytest

from gpuviz.ptx.arithmetic.kinds import WIDTHS, is_signed
from tests.ptx.checks import NAN, check, interesting, numbers, op
from tests.ptx.test_floating import rounded

INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
FLOATS = ("f16", "bf16", "f32", "f64")
MODES = ("rn", "rz", "rm", "rp")


def test_one_line_each() -> None:
    check("cvt.u32.s16", -1, 0xFFFFFFFF)
    check("cvt.s64.s32", -5, -5)
    check("cvt.u8.u32", 0x1FF, 0xFF)
    check("cvt.sat.u8.s32", -5, 0)
    check("cvt.sat.s8.u32", 300, 127)
    check("cvt.sat.s64.u64", 2**64 - 1, 2**63 - 1)
    check("cvt.rn.f32.s32", -(2**31), -(2.0**31))
    check("cvt.rz.f32.u32", 0xFFFFFFFF, 0x4F7FFFFF)
    check("cvt.rp.f32.u64", 2**64 - 1, 2.0**64)
    check("cvt.rn.f64.u64", 2**64 - 1, 2.0**64)
    check("cvt.rz.f64.s64", 2**63 - 1, 0x43DFFFFFFFFFFFFF)
    check("cvt.rn.f16.u32", 100000, inf)
    check("cvt.rzi.s32.f32", -1.9, -1)
    check("cvt.rni.s32.f32", 2.5, 2)
    check("cvt.rmi.s32.f64", -1.1, -2)
    check("cvt.rpi.u32.f32", 0.1, 1)
    check("cvt.rzi.u32.f32", -5.0, 0)
    check("cvt.rzi.s32.f32", inf, 2**31 - 1)
    check("cvt.rzi.s8.f32", -1000.0, -128)
    check("cvt.rzi.s32.f32", NAN["f32"], 0)
    check("cvt.rzi.s32.f64", NAN["f64"], 0x80000000)
    check("cvt.rzi.u64.f32", NAN["f32"], 1 << 63)
    check("cvt.rzi.u64.f64", 2.0**64, 2**64 - 1)
    check("cvt.rzi.s64.f64", -(2.0**63), -(2**63))
    check("cvt.rpi.ftz.u32.f32", 0x00000001, 0)
    check("cvt.f64.f32", 1.5, 1.5)
    check("cvt.rn.f32.f64", 1e300, inf)
    check("cvt.rz.f32.f64", 1e300, 0x7F7FFFFF)
    check("cvt.rn.ftz.f32.f64", 1e-40, 0.0)
    check("cvt.rni.f32.f32", 2.5, 2.0)
    check("cvt.rmi.f32.f32", -0.5, -1.0)
    check("cvt.rzi.f64.f64", -1.7, -1.0)
    check("cvt.sat.f32.f32", NAN["f32"], 0.0)
    check("cvt.sat.f32.f32", 7.0, 1.0)
    check("cvt.rn.f16.f32", 65520.0, inf)
    check("cvt.rz.f16.f32", 65520.0, 65504.0)
    check("cvt.f32.f16", 0x0001, 2.0**-24)
    check("cvt.f32.bf16", 0x3FC0, 1.5)
    check("cvt.rn.bf16.f32", 0x3F808000, 0x3F80)
    check("cvt.rn.bf16.f32", 0x3F818000, 0x3F82)
    check("cvt.rn.relu.bf16.f32", -2.0, 0)
    check("cvt.rna.tf32.f32", 0x3F801000, 0x3F802000)
    check("cvt.rn.tf32.f32", 0x3F801000, 0x3F800000)
    check("cvt.rn.f16x2.f32", 1.0, 2.0, 0x3C004000)
    check("cvt.rn.bf16x2.f32", 1.0, 2.0, 0x3F804000)
    check("cvt.rn.relu.f16x2.f32", -1.0, 2.0, 0x00004000)
    check("cvt.pack.sat.s16.s32", -40000, 5, 0x80000005)
    check("cvt.pack.sat.u8.s32.b32", 300, -5, 0xAABB, 0xAABBFF00)


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("to", INTEGERS)
def test_integers_to_integers(to: str, source: str) -> None:
    bits = interesting(source, 60, 1)
    results = op(f"cvt.{to}.{source}").function(bits).tolist()
    for value, result in zip(bits.tolist(), results, strict=True):
        assert result == _number(value, source) % (1 << WIDTHS[to])


def _number(bits: int, kind: str) -> int:
    return bits - (1 << WIDTHS[kind]) if is_signed(kind) and bits >> WIDTHS[kind] - 1 else bits


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("to", FLOATS)
def test_integers_to_floats(to: str, mode: str) -> None:
    for source in INTEGERS:
        bits = interesting(source, 100, 2)
        results = numbers(op(f"cvt.{mode}.{to}.{source}").function(bits), to)
        for value, result in zip(bits.tolist(), results.tolist(), strict=True):
            number = _number(value, source)
            assert result == (rounded(Fraction(number), to, mode) if number else 0), number


@pytest.mark.parametrize(
    "mode, integral", [("rzi", trunc), ("rmi", floor), ("rpi", ceil), ("rni", round)]
)
@pytest.mark.parametrize("source", FLOATS)
def test_floats_to_integers(source: str, mode: str, integral: object) -> None:
    for to in INTEGERS:
        bits = interesting(source, 100, 3)
        results = op(f"cvt.{mode}.{to}.{source}").function(bits).tolist()
        lowest = -(1 << WIDTHS[to] - 1) if is_signed(to) else 0
        highest = lowest + (1 << WIDTHS[to]) - 1
        for value, result in zip(numbers(bits, source).tolist(), results, strict=True):
            if isfinite(value):
                clamped = min(max(integral(value), lowest), highest)  # type: ignore[operator]
                assert _number(result, to) == clamped, value


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("to, source", [("f32", "f64"), ("f16", "f32"), ("bf16", "f32")])
def test_floats_to_narrower_floats(to: str, source: str, mode: str) -> None:
    bits = interesting(source, 600, 4)
    results = numbers(op(f"cvt.{mode}.{to}.{source}").function(bits), to)
    for value, result in zip(numbers(bits, source).tolist(), results.tolist(), strict=True):
        if isfinite(value):
            assert result == (rounded(Fraction(value), to, mode) if value else 0), value
