"""Float64 arithmetic with its rounding error: the base of every exact result.

A sum or product of two doubles is itself plus an error that is a double too (Knuth's TwoSum,
Dekker's TwoProduct). The error decides the directed roundings, and "rounding to odd" hands it on to
a later, narrower rounding without rounding twice (Boldo and Melquiond, IEEE TC 57(4), 2008).
Callers silence floating-point warnings.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from gpuviz.ptx.arithmetic.kinds import Bits

Doubles = Bits  # float64
_SPLITTER = 134217729.0  # 2^27 + 1
# Within these the splitting does not overflow and the product's error is a normal number.
_LARGEST_FACTOR, _LARGEST_SUM, _SMALLEST_PRODUCT = 2.0**995, 2.0**1000, 2.0**-960


def two_sum(a: Doubles, b: Doubles) -> tuple[Doubles, Doubles]:
    """a + b rounded to nearest, and its error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _split(a: Doubles) -> tuple[Doubles, Doubles]:
    scaled = a * _SPLITTER
    high = scaled - (scaled - a)
    return high, a - high


def two_product(a: Doubles, b: Doubles) -> tuple[Doubles, Doubles]:
    """a * b rounded to nearest, and its error; of factors that do not overflow or underflow."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _split(a), _split(b)
    rest = (a_high * b_high - product) + a_high * b_low + a_low * b_high
    return product, rest + a_low * b_low


def to_odd(value: Doubles, error: Doubles) -> Doubles:
    """value + error, inexact results rounded to the neighbour whose last bit is 1."""
    bits = value.view(np.int64)
    inexact = (error < 0) | (error > 0)
    inexact &= (bits & 1) == 0
    away = (error < 0) == (value < 0)
    step = inexact.astype(np.int64)
    odd: Bits = bits + step * (2 * away.astype(np.int64) - 1)
    return odd.view(np.float64)


def directed(value: Bits, error: Bits, mode: str) -> Bits:
    """The nearest `value` moved to its neighbour where `error` (exact - value) asks for it.

    Works in the precision of `value`; `mode` is rn, rz, rm or rp.
    """
    if mode == "rn":
        return value
    up, down = (error > 0), (error < 0)
    if mode == "rz":
        up, down = up & (value < 0), down & (value > 0)
    # An overflow is infinite, but its exact value is not beyond infinity: its error points back.
    infinity = value.dtype.type(np.inf)
    if mode in ("rp", "rz"):
        value = np.where(up, np.nextafter(value, infinity), value)
    if mode in ("rm", "rz"):
        value = np.where(down, np.nextafter(value, -infinity), value)
    return value


def _error_back(value: Doubles, error: Doubles, *inputs: Doubles) -> Doubles:
    """The error of a sum that overflowed, given that the inputs are finite."""
    finite = np.isfinite(inputs[0])
    for other in inputs[1:]:
        finite = finite & np.isfinite(other)
    return np.where(np.isinf(value) & finite, -value, np.where(finite, error, 0.0))


def signed_sum(a: Doubles, b: Doubles, mode: str) -> Doubles:
    """a + b to nearest; an exact zero of opposite operands is -0 when rounding down."""
    total: Doubles = a + b
    return np.where(total == 0, -(-a - b), total) if mode == "rm" else total


def add(a: Doubles, b: Doubles, mode: str) -> Doubles:
    """a + b in the given rounding mode."""
    total = signed_sum(a, b, mode)
    return directed(total, _error_back(total, two_sum(a, b)[1], a, b), mode)


def add_odd(a: Doubles, b: Doubles, mode: str) -> Doubles:
    """a + b rounded to odd; `mode` only signs a zero."""
    total = signed_sum(a, b, mode)
    return to_odd(total, two_sum(a, b)[1])


def fused(a: Doubles, b: Doubles, c: Doubles, mode: str) -> Doubles:
    """a * b + c with a single rounding, in any mode."""
    result, error = _fused_parts(a, b, c)
    result = directed(result, error, mode)
    usual = _in_safe_range(a, b, c) & (result != 0)
    if usual.all():
        return result
    zero = (a == 0) | (b == 0)
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    # With a product of 0, an infinity or NaN, and for the sign of a 0, the plain sum is right.
    plain = ~usual & (zero | ~finite | (result == 0))
    # A product beyond the largest number is finite all the same: an infinite c stays what it is.
    product = np.where(np.isfinite(a) & np.isfinite(b) & np.isinf(c), 0.0, a * b)
    result = np.where(plain, signed_sum(product, c, mode), result)
    unsafe = ~usual & finite & ~zero
    return patched(result, unsafe, lambda x, y, z: _fused_exactly(x, y, z, mode), a, b, c)


def _fused_parts(a: Doubles, b: Doubles, c: Doubles) -> tuple[Doubles, Doubles]:
    high, low = two_product(a, b)
    lower, lowest = two_sum(c, low)
    upper, middle = two_sum(high, lower)
    return two_sum(upper, to_odd(*two_sum(lowest, middle)))


def _in_safe_range(a: Doubles, b: Doubles, c: Doubles) -> Doubles:
    product = np.abs(a * b)
    factors = (np.abs(a) < _LARGEST_FACTOR) & (np.abs(b) < _LARGEST_FACTOR)
    inside: Bits = (product > _SMALLEST_PRODUCT) & (product < _LARGEST_SUM) & factors
    return inside & (np.abs(c) < _LARGEST_SUM)


def _fused_exactly(a: float, b: float, c: float, mode: str) -> float:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if not exact:
        return -0.0 if mode == "rm" else 0.0
    return rounded(exact, mode)


def multiply(a: Doubles, b: Doubles, mode: str) -> Doubles:
    """a * b in the given rounding mode."""
    return fused(a, b, np.copysign(0.0, a * b), mode)


def divide(a: Doubles, b: Doubles, mode: str) -> Doubles:
    """a / b in the given rounding mode."""
    quotient = a / b
    if mode == "rn":
        return quotient
    residue = -fused(quotient, b, -a, "rn") * np.sign(b)
    usual = _usual(a) & _usual(b) & _usual(quotient)
    unusual = np.isfinite(a) & np.isfinite(b) & (a != 0) & (b != 0) & ~usual
    result = directed(quotient, np.where(usual, residue, 0.0), mode)
    return patched(result, unusual, lambda x, y: rounded(Fraction(x) / Fraction(y), mode), a, b)


def square_root(a: Doubles, mode: str) -> Doubles:
    """The square root of a in the given rounding mode."""
    root = np.sqrt(a)
    if mode == "rn":
        return root
    scaled = np.where(np.abs(a) < 2.0**-600, 2.0**600, 1.0)  # keeps the residue a normal number
    scaled_root = root * np.sqrt(scaled)
    residue = -fused(scaled_root, scaled_root, -(a * scaled), "rn")
    return directed(root, np.where(np.isfinite(root), residue, 0.0), mode)


def _usual(a: Doubles) -> Doubles:
    size = np.abs(a)
    return (size > 2.0**-400) & (size < 2.0**400)


def patched(
    result: Doubles, where: Bits, exactly: Callable[..., float], *inputs: Doubles
) -> Doubles:
    """`result` with the few elements `where` is set computed one by one."""
    if not where.any():
        return result
    where = np.broadcast_to(where, result.shape)
    chosen = [np.broadcast_to(x, result.shape)[where].tolist() for x in inputs]
    result[where] = [exactly(*values) for values in zip(*chosen, strict=True)]
    return result


def rounded(exact: Fraction, mode: str) -> float:
    """A non-zero fraction as a double in the given rounding mode."""
    sign = -1.0 if exact < 0 else 1.0
    try:
        value = exact.numerator / exact.denominator  # correctly rounded by Python
    except OverflowError:
        value = sign * math.inf
    if mode == "rp" or (mode == "rz" and sign < 0):
        value = math.nextafter(value, math.inf) if value < exact else value
    elif mode != "rn":
        value = math.nextafter(value, -math.inf) if value > exact else value
    return math.copysign(value, sign)
