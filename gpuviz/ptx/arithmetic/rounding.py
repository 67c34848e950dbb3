"""Between float64 values and the bits of every narrower floating-point type.

Values to be narrowed are exact or rounded to odd (see `exact`), so one more rounding, in any mode
and down to any of these types, gives what rounding the exact value would give.
NaN becomes the canonical one of the hardware: all ones but the sign (seen on an H200).
Callers silence floating-point warnings.
"""

from collections.abc import Callable

import numpy as np

from gpuviz.ptx.arithmetic.bits import select
from gpuviz.ptx.arithmetic.exact import Doubles, directed
from gpuviz.ptx.arithmetic.kinds import WIDTHS, Bits, Variant

CANONICAL_NAN: dict[str, int] = {
    "f16": 0x7FFF,
    "bf16": 0x7FFF,
    "f32": 0x7FFFFFFF,
    "tf32": 0x7FFFE000,
}
EXPONENT: dict[str, int] = {
    "f16": 0x7C00,
    "bf16": 0x7F80,
    "f32": 0x7F800000,
    "tf32": 0x7F800000,
    "f64": 0x7FF0000000000000,
}
SIGN: dict[str, int] = {kind: 1 << (WIDTHS[kind] - 1) for kind in EXPONENT}


def value_of(bits: Bits, kind: str) -> Bits:
    """The values of `bits`: float64 for f16 and f64, else float32 (all exact)."""
    if kind == "f16":
        return bits.view(np.float16).astype(np.float64)
    if kind == "bf16":
        return (bits.astype(np.uint32) << 16).view(np.float32)
    return bits.view(np.float64 if kind == "f64" else np.float32)


def double_of(bits: Bits, kind: str) -> Doubles:
    """The values of `bits` as float64 (exact)."""
    return value_of(bits, kind).astype(np.float64, copy=False)


def canonical(values: Bits) -> Bits:
    """The bits of float32 values of the caller's own, each NaN made the canonical one."""
    if np.isnan(np.maximum.reduce(values, axis=None, initial=-np.inf)):
        values.view(np.uint32)[np.isnan(values)] = CANONICAL_NAN["f32"]
    return values.view(np.uint32)


def _narrowed(values: Doubles, dtype: type[np.floating], mode: str) -> Bits:
    nearest = values.astype(dtype)
    if mode == "rn":
        return nearest
    return directed(nearest, _sign_of_error(values, nearest), mode)


def _sign_of_error(values: Doubles, nearest: Bits) -> Bits:
    return (values > nearest).astype(np.int8) - (values < nearest).astype(np.int8)


def to_single(values: Doubles, mode: str = "rn") -> Bits:
    """The bits of `values` as f32."""
    return canonical(_narrowed(values, np.float32, mode))


def to_half(values: Doubles, mode: str = "rn") -> Bits:
    """The bits of `values` as f16."""
    bits = _narrowed(values, np.float16, mode).view(np.uint16)
    return np.where(np.isnan(values), np.uint16(CANONICAL_NAN["f16"]), bits)


def _single_odd(values: Doubles) -> Bits:
    """The bits of `values` as f32, rounded to odd; NaN stays NaN."""
    cut = _narrowed(values, np.float32, "rz")
    inexact = (cut != values) & ~np.isnan(values)
    odd: Bits = cut.view(np.uint32) | inexact.astype(np.uint32)
    return odd


# What to add to f32 bits before the low ones, `mask`, are cut; `last` is the lowest that stays.
_INCREMENT: dict[str, Callable[[Bits, int, Bits], Bits | int]] = {
    "rn": lambda bits, mask, last: (mask >> 1) + (last & 1),
    "rna": lambda bits, mask, last: (mask >> 1) + 1,
    "rz": lambda bits, mask, last: 0,
    "rp": lambda bits, mask, last: mask * ((bits >> 31) ^ 1),
    "rm": lambda bits, mask, last: mask * (bits >> 31),
}


def _drop(bits: Bits, count: int, mode: str) -> Bits:
    """f32 bits rounded to `count` bits less, which become 0."""
    mask = (1 << count) - 1
    rounded: Bits = bits + _INCREMENT[mode](bits, mask, bits >> count)
    return rounded & (0xFFFFFFFF ^ mask)


def to_brain(values: Doubles, mode: str = "rn") -> Bits:
    """The bits of `values` as bf16."""
    bits = (_drop(_single_odd(values), 16, mode) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(CANONICAL_NAN["bf16"]), bits)


def to_tensor(values: Doubles, mode: str = "rn") -> Bits:
    """The bits of `values` as tf32: f32 whose 13 lowest bits are 0."""
    bits = _drop(_single_odd(values), 13, mode)
    return np.where(np.isnan(values), np.uint32(CANONICAL_NAN["tf32"]), bits)


def to_double(values: Doubles, mode: str = "rn") -> Bits:
    """The bits of values that are float64 already."""
    return values.view(np.uint64)


_NARROW: dict[str, Callable[[Doubles, str], Bits]] = {
    "f16": to_half,
    "bf16": to_brain,
    "tf32": to_tensor,
    "f32": to_single,
    "f64": to_double,
}


def narrow(kind: str, mode: str = "rn") -> Callable[[Doubles], Bits]:
    """The function from exact or odd float64 values to bits of `kind`."""
    function = _NARROW[kind]
    return lambda values: function(values, mode)


def quieted(bits: Bits, kind: str) -> Bits:
    """NaN as the hardware returns it: canonical, but of a double only made quiet."""
    if kind == "f64":
        return bits | np.uint64(1 << 51)
    return np.full_like(bits, CANONICAL_NAN[kind])


def flushed(bits: Bits, kind: str) -> Bits:
    """Subnormal numbers made zeros of their sign; the very input when there are none."""
    magnitude = bits & (SIGN[kind] - 1)
    small = magnitude - 1 < (EXPONENT[kind] & -EXPONENT[kind]) - 1  # zero wraps and is not small
    return select(bits & SIGN[kind], bits, small) if small.any() else bits


def saturated(values: Bits) -> Bits:
    """Values clamped to 0..1; NaN and -0 become +0."""
    return np.where(values > 0, np.minimum(values, 1), values.dtype.type(0))


def rectified(values: Bits) -> Bits:
    """Negative values, and -0, made +0; NaN stays."""
    return np.where((values > 0) | np.isnan(values), values, values.dtype.type(0))


def bound_of(variant: Variant) -> Callable[[Bits], Bits] | None:
    """What .sat or .relu does to a value before it is narrowed, if either is there."""
    if variant.has("sat"):
        return saturated
    return rectified if variant.has("relu") else None
