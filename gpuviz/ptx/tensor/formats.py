"""The formats of what tensor cores multiply: bits to whole significands and exponents.

Sources: PTX ISA, "Alternate Floating-Point Data Formats"; OCP 8-bit Floating Point Specification
(e4m3 has no infinity, and one pattern a sign that is no number).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.arrays import F64, I64, Array

ZERO = -126  # the exponent that zero has for the hardware (see `sums`)


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
    """significand * 2 ** (exponent - fraction), the significand with its sign; arrays of one shape.

    `special` is where they are infinite or no numbers, and `values` what they are there, else None.
    """

    significand: I64
    exponent: I64
    fraction: int
    special: Array
    values: F64 | None

    def value(self) -> F64:
        """As float64, which is exact."""
        made = np.ldexp(
            self.significand.astype(np.float64), (self.exponent - self.fraction).astype(np.int32)
        )
        return made if self.values is None else np.where(self.special, self.values, made)


def numbers(bits: Array, form: Format) -> Numbers:
    """What the bits of elements mean."""
    raw = bits.astype(np.int64) >> form.dropped
    fraction = raw & ((1 << form.fraction) - 1)
    stored = raw >> form.fraction & ((1 << form.exponent) - 1)
    normal = stored > 0
    significand = fraction | normal * (1 << form.fraction)
    exponent = np.where(significand > 0, np.maximum(stored, 1) - form.bias, ZERO)
    sign = 1 - 2 * (raw >> form.exponent + form.fraction & 1)
    top = stored == (1 << form.exponent) - 1
    none = top & (fraction == (1 << form.fraction) - 1) if form.finite else top & (fraction > 0)
    special = none if form.finite else top
    values = np.where(none, np.nan, sign * np.inf) if special.any() else None
    return Numbers(sign * significand, exponent, form.fraction, special, values)
