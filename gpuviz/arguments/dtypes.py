"""Types of elements by their names in arguments; floats of 8 and 16 bits that NumPy does not have,
as their bits.
"""

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np

from gpuviz.base.arrays import F32, F64, Array

DTYPES: dict[str, type[np.generic]] = {
    "i8": np.int8,
    "u8": np.uint8,
    "i16": np.int16,
    "u16": np.uint16,
    "i32": np.int32,
    "u32": np.uint32,
    "i64": np.int64,
    "u64": np.uint64,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "bf16": np.uint16,  # these three as their bits
    "e4m3": np.uint8,
    "e5m2": np.uint8,
}
FLOATS = frozenset({"f16", "f32", "f64", "bf16", "e4m3", "e5m2"})


def size_of(dtype: str) -> int:
    """Bytes of an element."""
    return np.dtype(DTYPES[dtype]).itemsize


def _bf16(values: F32) -> Array:
    """The upper half of a float, rounded to nearest even; a NaN stays one."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(values), 0x7FFF, rounded).astype(np.uint16)


@cache
def _finite(mantissa: int, bias: int, count: int) -> F64:
    """The numbers from 0 up that the bits 0, 1, ... `count` - 1 stand for."""
    bits = np.arange(count)
    exponent, fraction = bits >> mantissa, bits & ((1 << mantissa) - 1)
    scale = np.exp2(np.maximum(exponent, 1).astype(np.float64) - bias - mantissa)
    return np.asarray((fraction + np.where(exponent > 0, 1 << mantissa, 0)) * scale)


def _nearest(values: F32, mantissa: int, bias: int, count: int) -> Array:
    """Bits of the nearest number, the even one of two; the largest one for what is beyond it, as
    CUDA's conversions saturate (`__NV_SATFINITE`).
    """
    table, wanted = _finite(mantissa, bias, count), np.abs(values.astype(np.float64))
    above = np.clip(np.searchsorted(table, wanted), 1, count - 1)
    below = above - 1
    closer = wanted - table[below] - (table[above] - wanted)
    up = (closer > 0) | ((closer == 0) & (above % 2 == 0))
    found = np.where(np.isnan(values), 0x7F, np.where(up, above, below))
    return (found | np.where(np.signbit(values), 0x80, 0)).astype(np.uint8)


ENCODED: Mapping[str, Callable[[F32], Array]] = {
    "bf16": _bf16,
    "e4m3": lambda values: _nearest(values, 3, 7, 0x7F),  # 0x7f is NaN, there is no infinity
    "e5m2": lambda values: _nearest(values, 2, 15, 0x7C),
}
