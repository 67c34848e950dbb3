"""fma.rn.f32, the hot loop of a matrix kernel: fused, correctly rounded, and fast.

The product of two floats is exact in float64, so a*b + c in float64, cast to float32, is rounded
twice. That differs from rounding once only where the float64 sum is inexact and lies on a boundary
of float32: its low 29 bits read 1000..0, or the result is subnormal. Two cheap reductions find that
such elements exist at all; only these are summed again, rounding to odd in between.
"""

from __future__ import annotations

import numpy as np

from gpuviz.ptx.arithmetic.exact import to_odd, two_sum
from gpuviz.ptx.arithmetic.kinds import Bits

_DROPPED = np.int64(35)  # 64 - 29: brings the bits that float32 drops to the top
_MIDPOINT = np.iinfo(np.int64).min
_SMALLEST_NORMAL = np.uint32(0x00FFFFFF)  # as magnitude * 2 - 1; a subnormal may round up to it
_TOP, _WRAP = np.iinfo(np.int64).max, np.uint32(0xFFFFFFFF)


def fused_single(a: Bits, b: Bits, c: Bits) -> Bits:
    """a * b + c of float32 arrays, rounded once. Callers silence floating-point warnings."""
    product = a.astype(np.float64) * b.astype(np.float64)
    total = product + c.astype(np.float64)
    result = total.astype(np.float32)
    dropped = np.left_shift(total.view(np.int64), _DROPPED)
    magnitude = np.left_shift(result.view(np.uint32), np.uint32(1))
    magnitude -= np.uint32(1)  # in place; zero wraps to the top
    if np.minimum.reduce(dropped, axis=None, initial=_TOP) == _MIDPOINT:
        _repair(result, dropped == _MIDPOINT, product, c)
    if np.minimum.reduce(magnitude, axis=None, initial=_WRAP) <= _SMALLEST_NORMAL:
        _repair(result, magnitude <= _SMALLEST_NORMAL, product, c)
    return result


def _repair(result: Bits, where: Bits, product: Bits, addend: Bits) -> None:
    """Sum the elements of `result` that `where` marks again, in place."""
    left = np.broadcast_to(product, result.shape)[where]
    right = np.broadcast_to(addend, result.shape)[where].astype(np.float64)
    result[where] = to_odd(*two_sum(left, right)).astype(np.float32)
