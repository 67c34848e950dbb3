"""Conversions to and from pairs of floats of eight bits, e4m3 and e5m2.

Source: PTX ISA, "cvt": what is too large becomes the largest number (satfinite), NaN the pattern
0x7f whatever its sign; as f16 a NaN is 0x7fff.
"""

from __future__ import annotations

import numpy as np

from gpuviz.arguments.dtypes import ENCODED
from gpuviz.base.arrays import F32
from gpuviz.ptx.arithmetic.kinds import Bits, Function, Variant
from gpuviz.ptx.arithmetic.packed import joined

_EIGHT = np.uint16(8)


def from_singles(variant: Variant) -> Function:
    """cvt.e4m3x2.f32 and its like: two values, the first operand in the upper half."""
    encoded = _encoder(variant)
    return lambda a, b: _pair(encoded(a.view(np.float32)), encoded(b.view(np.float32)))


def from_halves(variant: Variant) -> Function:
    """cvt.e4m3x2.f16x2 and its like."""
    encoded = _encoder(variant)

    def function(a: Bits) -> Bits:
        low, high = a.astype(np.uint16), (a >> np.uint32(16)).astype(np.uint16)
        upper, lower = (x.view(np.float16).astype(np.float32) for x in (high, low))
        return _pair(encoded(upper), encoded(lower))

    return function


def to_halves(variant: Variant) -> Function:
    """cvt.f16x2.e4m3x2 and its like, which are exact."""
    table = _halves(variant.mods[-1])
    if "relu" in variant.mods:
        table = np.where((table & 0x8000) > 0, 0, table).astype(np.uint16)

    def function(a: Bits) -> Bits:
        return joined(table[a & np.uint16(0xFF)], table[a >> _EIGHT])

    return function


def _encoder(variant: Variant) -> Function:
    encode = ENCODED[next(mod for mod in variant.mods if mod.startswith("e"))[:-2]]
    relu = "relu" in variant.mods

    def function(values: F32) -> Bits:
        values = np.where(np.isnan(values), np.float32(np.nan), values)
        if relu:
            values = np.where(values < 0, np.float32(0), values)
        made: Bits = encode(np.abs(values) if relu else values)
        return made

    return function


def _pair(upper: Bits, lower: Bits) -> Bits:
    return joined(lower, upper)


def _halves(pair: str) -> Bits:
    """The f16 of each of the 256 patterns."""
    raw = np.arange(256, dtype=np.uint16)
    if pair == "e5m2x2":
        halves = raw << _EIGHT
        none = (raw & 0x7F) > 0x7C
    else:
        exponent, fraction = (raw >> 3 & 15).astype(np.int32), (raw & 7).astype(np.float64)
        values = np.ldexp(fraction / 8 + (exponent > 0), np.maximum(exponent, 1) - 7)
        halves = values.astype(np.float16).view(np.uint16) | (raw & 0x80) << _EIGHT
        none = (raw & 0x7F) == 0x7F
    return np.where(none, 0x7FFF, halves).astype(np.uint16)
