"""cvt: every pair of integer and floating-point types.

Source: PTX ISA, "cvt" and "cvt.pack". A conversion runs in three steps: the source's value, the
limits that the destination sets, and the rounding into it.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from gpuviz.arguments.dtypes import ENCODED
from gpuviz.ptx.arithmetic.bits import select
from gpuviz.ptx.arithmetic.exact import add as add_exactly
from gpuviz.ptx.arithmetic.exact import to_odd, two_sum
from gpuviz.ptx.arithmetic.formats import halves as as_halves
from gpuviz.ptx.arithmetic.integer import extend
from gpuviz.ptx.arithmetic.kinds import (
    CONTAINERS,
    WIDTHS,
    Bits,
    Function,
    Variant,
    contained,
    dtype_of,
)
from gpuviz.ptx.arithmetic.packed import halves, joined
from gpuviz.ptx.arithmetic.rounding import (
    CANONICAL_NAN,
    EXPONENT,
    SIGN,
    bound_of,
    double_of,
    flushed,
    narrow,
    rectified,
    value_of,
)

_SIGN, _INFINITE = np.uint32(1 << 31), np.uint32(0x7F800000)
_TIE, _DROPPED = np.uint32(1 << 12), np.uint32((1 << 13) - 1)  # of f32 as tf32

_INTEGRAL: dict[str, Callable[[Bits], Bits]] = {
    "rni": np.rint,
    "rzi": np.trunc,
    "rmi": np.floor,
    "rpi": np.ceil,
}


def integer_to_integer(variant: Variant) -> Function:
    """Extension or truncation; .sat clamps first."""
    to, source = variant.kinds
    if not variant.has("sat"):
        return partial(extend, kind=source, to=to)
    low, high = _common_range(to, source)
    view, dtype = dtype_of(source), dtype_of(to)
    return lambda a: contained(np.clip(a.view(view), low, high).astype(dtype))


def _common_range(to: str, source: str) -> tuple[int, int]:
    ours, theirs = np.iinfo(dtype_of(to)), np.iinfo(dtype_of(source))
    return int(max(ours.min, theirs.min)), int(min(ours.max, theirs.max))


def integer_to_float(variant: Variant) -> Function:
    """Integers rounded into a floating-point type."""
    to, source = variant.kinds
    store, dtype, mode = narrow(to, variant.mode), dtype_of(source), variant.mode
    bound = bound_of(variant)

    def function(a: Bits) -> Bits:
        with np.errstate(all="ignore"):
            values = _doubles(a.view(dtype), to, mode)
            return store(bound(values) if bound else values)

    return function


def _doubles(integers: Bits, to: str, mode: str) -> Bits:
    """Integers as float64: exact, or rounded as the destination will need it."""
    if integers.dtype.itemsize < 8:
        return integers.astype(np.float64)
    high = (integers >> 32).astype(np.float64) * 2.0**32
    low = (integers & 0xFFFFFFFF).astype(np.float64)
    return add_exactly(high, low, mode) if to == "f64" else to_odd(*two_sum(high, low))


def float_to_integer(variant: Variant) -> Function:
    """Values rounded to an integer and clamped to its range."""
    to, source = variant.kinds
    integral = next(_INTEGRAL[mod] for mod in variant.mods if mod in _INTEGRAL)
    flush = variant.has("ftz")

    def function(a: Bits) -> Bits:
        with np.errstate(all="ignore"):
            values = integral(double_of(flushed(a, source) if flush else a, source))
            return _clamped(values, to, _integer_of_nan(to, source))

    return function


def _integer_of_nan(to: str, source: str) -> int:
    """0, or only the top bit when either side is 64 bits wide."""
    wide = source == "f64" or WIDTHS[to] == 64
    return 1 << (WIDTHS[to] - 1) if wide else 0


def _clamped(values: Bits, to: str, of_nan: int) -> Bits:
    """Integral float64 values as integers within the limits of `to`."""
    dtype, container = dtype_of(to), CONTAINERS[to]
    limits = np.iinfo(dtype)
    over, under = values >= float(limits.max), values <= float(limits.min)
    nan = np.isnan(values)
    inside = np.where(over | under | nan, 0.0, values).astype(dtype)
    result = np.where(over, dtype.type(limits.max), inside)
    result = np.where(under, dtype.type(limits.min), result)
    return np.where(nan, container.type(of_nan), contained(result))


def float_to_float(variant: Variant) -> Function:
    """Between floating-point types, or to an integral value of the same."""
    to, source = variant.kinds
    integral = next((_INTEGRAL[mod] for mod in variant.mods if mod in _INTEGRAL), None)
    mode = "rn" if integral else variant.mode
    steps = [step for step in (integral, bound_of(variant)) if step]
    store = narrow(to, mode)
    # f16 can hold what .ftz would flush from an f32; the hardware keeps it.
    flush_in = variant.has("ftz") and source == "f32" and to != "f16"
    flush_out = variant.has("ftz") and to == "f32"

    def function(a: Bits) -> Bits:
        a = flushed(a, source) if flush_in else a
        with np.errstate(all="ignore"):
            x = double_of(a, source)
            for step in steps:
                x = step(x)
            result = store(x) if source != "f64" else _with_payload(store(x), x, to)
        return flushed(result, to) if flush_out else result

    return function


def _with_payload(bits: Bits, values: Bits, to: str) -> Bits:
    """Conversions from f64 keep the sign and the upper part of a NaN, made quiet."""
    nan = np.isnan(values)
    if to == "f64" or not nan.any():
        return bits
    single: Bits = values.astype(np.float32).view(np.uint32)
    if to == "f16":
        single = ((single >> 16) & 0x8000) | 0x7C00 | ((single >> 13) & 0x03FF)
    elif to == "bf16":
        single = single >> 16
    return select(single.astype(bits.dtype), bits, nan)


def away_to_tensor(variant: Variant) -> Function:
    """To tf32, ties away from zero; a NaN is cut off like a number, as an H200 does it."""
    finite = variant.has("satfinite")

    def function(a: Bits) -> Bits:
        size = a & ~_SIGN
        near = np.where(size < _INFINITE, size + _TIE, size) & ~_DROPPED
        if finite:
            near = np.where(near < _INFINITE, near, near - _DROPPED - np.uint32(1))
        result: Bits = near | (a & _SIGN)
        return result

    return function


def two_to_pair(variant: Variant) -> Function:
    """cvt.f16x2.f32 and siblings: two values into one word, the first operand in the upper half."""
    pair = variant.kinds[0]
    element = tuple(pair[:-2] if mod == pair else mod for mod in variant.mods)
    one = float_to_float(Variant(element))
    return lambda a, b: joined(one(b), one(a))


def pack(variant: Variant) -> Function:
    """cvt.pack.sat: two integers saturated into the low bits of c (a above b)."""
    to, source = variant.kinds[:2]
    width = WIDTHS[to]
    low, high = _common_range(to, source)
    view, mask = dtype_of(source), (1 << width) - 1

    def function(a: Bits, b: Bits, *rest: Bits) -> Bits:
        upper, lower = (np.clip(x.view(view), low, high).view(np.uint32) & mask for x in (a, b))
        packed: Bits = (upper << width) | lower
        return (rest[0] << (2 * width)) | packed if rest else packed

    return function


# --- pairs of floats of eight bits, e4m3 and e5m2 -------------------------------------------------


def from_singles(variant: Variant) -> Function:
    """cvt.e4m3x2.f32 and its like: two values, the first operand in the upper half."""
    encoded = _encoder(variant)
    return lambda a, b: joined(encoded(b.view(np.float32)), encoded(a.view(np.float32)))


def from_halves(variant: Variant) -> Function:
    """cvt.e4m3x2.f16x2 and its like."""
    encoded = _encoder(variant)
    return lambda a: joined(*(encoded(value_of(x, "f16")) for x in halves(a, "f16")))


def to_halves(variant: Variant) -> Function:
    """cvt.f16x2.e4m3x2 and its like, which are exact; NaN is 0x7fff."""
    table = as_halves(np.arange(256), variant.mods[-1][:-2])
    table = np.where(table & 0x7FFF > EXPONENT["f16"], np.uint16(CANONICAL_NAN["f16"]), table)
    if "relu" in variant.mods:
        table = np.where(table & SIGN["f16"], np.uint16(0), table)
    return lambda a: joined(table[a & np.uint16(0xFF)], table[a >> np.uint16(8)])


def _encoder(variant: Variant) -> Function:
    """What is too large becomes the largest number, NaN the pattern 0x7f whatever its sign."""
    encode = ENCODED[next(mod for mod in variant.mods if mod.startswith("e"))[:-2]]
    relu = "relu" in variant.mods

    def function(values: Bits) -> Bits:
        with np.errstate(invalid="ignore"):  # a NaN that signals is one as well
            values = np.where(np.isnan(values), np.float32(np.nan), values.astype(np.float32))
        made: Bits = encode(np.abs(rectified(values)) if relu else values)
        return made

    return function
