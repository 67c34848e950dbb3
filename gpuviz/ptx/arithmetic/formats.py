"""The formats of what tensor cores multiply: bits to values and exponents.

Sources: PTX ISA, "Alternate Floating-Point Data Formats"; OCP 8-bit Floating Point Specification
(e4m3 has no infinity, and one pattern a sign that is no number).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from gpuviz.base.arrays import F64, I16, Array

ZERO = -400  # as an exponent: below that of all products of other numbers, which zeros do not touch
_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)$")


def shape_of(mods: Sequence[str]) -> tuple[int, int, int] | None:
    """m, n and k of an instruction's modifiers."""
    found = next((shape for mod in mods if (shape := _SHAPE.match(mod))), None)
    return None if found is None else (int(found[1]), int(found[2]), int(found[3]))


@dataclass(frozen=True)
class Format:
    """`dropped` low bits of its container are ignored; a `finite` one has no infinity."""

    exponent: int
    fraction: int
    dropped: int = 0
    finite: bool = False

    @property
    def bits(self) -> int:
        """Of an element as it lies in its register."""
        return 1 + self.exponent + self.fraction + self.dropped

    @property
    def bias(self) -> int:
        """What is taken off an exponent."""
        return (1 << self.exponent - 1) - 1


FORMATS = {
    "f16": Format(5, 10),
    "bf16": Format(8, 7),
    "tf32": Format(8, 10, dropped=13),
    "e4m3": Format(4, 3, finite=True),
    "e5m2": Format(5, 2),
    "f32": Format(8, 23),
}


@dataclass(frozen=True, eq=False)
class Numbers:
    """Values, which are exact, and the exponents that the hardware sees: of significands from 1 to
    2, or below for subnormals; arrays of one shape.
    """

    value: F64
    exponent: I16

    @property
    def finite(self) -> bool:
        """Whether all of them are."""
        return bool(np.isfinite(self.value).all())


def numbers(bits: Array, form: Format) -> Numbers:
    """What the bits of elements mean."""
    raw = bits.astype(np.uint32) >> np.uint32(form.dropped)
    size = np.uint32((1 << form.exponent + form.fraction) - 1)
    stored = ((raw & size) >> np.uint32(form.fraction)).astype(np.int16)
    exponent = np.maximum(stored, np.int16(1)) - np.int16(form.bias)
    exponent[raw & size == 0] = ZERO
    return Numbers(_values(raw, form), exponent)


def halves(bits: Array, kind: str) -> Array:
    """Floats of eight bits as f16, which holds them all."""
    return _values(bits.astype(np.uint32), FORMATS[kind]).astype(np.float16).view(np.uint16)


def _values(raw: Array, form: Format) -> F64:
    """Exponents of eight bits are those of float32."""
    if form.exponent == 8:
        single = raw << np.uint32(23 - form.fraction)
        return single.view(np.float32).astype(np.float64)
    if form.fraction == 10:
        return raw.astype(np.uint16).view(np.float16).astype(np.float64)
    return _small_values(form)[raw]


@cache
def _small_values(form: Format) -> F64:
    """Of all patterns of eight bits."""
    raw = np.arange(256)
    fraction, scale = raw & ((1 << form.fraction) - 1), 1 << form.fraction
    stored = raw >> form.fraction & ((1 << form.exponent) - 1)
    value = np.ldexp((fraction + scale * (stored > 0)) / scale, np.maximum(stored, 1) - form.bias)
    top = stored == (1 << form.exponent) - 1
    none = top & (fraction == scale - 1) if form.finite else top & (fraction > 0)
    if not form.finite:
        value[top] = np.inf
    value[none] = np.nan
    signed: F64 = np.where(raw > 127, -value, value)
    return signed
