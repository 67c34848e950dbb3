"""Integer arithmetic on containers; every result wraps at the width of its container.

Source: PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision Integer Arithmetic".
Division by zero, which PTX leaves unspecified, gives all ones.
"""

import numpy as np

from gpuviz.ptx.arithmetic.kinds import Bits, contained, dtype_of, signed, widened
from gpuviz.ptx.arithmetic.kinds import is_signed as _is_signed

Pair = tuple[Bits, Bits]
_HALF = 32
_LOW = 0xFFFFFFFF


def extend(bits: Bits, kind: str, to: str) -> Bits:
    """Containers of `kind` sign- or zero-extended, or cut, to containers of `to` (a copy)."""
    return contained(bits.view(dtype_of(kind)).astype(dtype_of(to)))


def add_saturated(a: Bits, b: Bits) -> Bits:
    """Signed sum clamped to the range of the type."""
    total = a + b
    overflow = signed((a ^ total) & (b ^ total)) < 0
    return np.where(overflow, _limit_beyond(a), total)


def subtract_saturated(a: Bits, b: Bits) -> Bits:
    """Signed difference clamped to the range of the type."""
    total = a - b
    overflow = signed((a ^ b) & (a ^ total)) < 0
    return np.where(overflow, _limit_beyond(a), total)


def _limit_beyond(a: Bits) -> Bits:
    top = a.dtype.type(np.iinfo(a.dtype).max >> 1)
    limit: Bits = np.where(signed(a) < 0, ~top, top)
    return limit


def add_out(a: Bits, b: Bits) -> Pair:
    """a + b and its carry."""
    total = a + b
    return total, total < a


def add_in(a: Bits, b: Bits, carry: Bits) -> Bits:
    """a + b + carry."""
    total: Bits = a + b + carry.astype(a.dtype)
    return total


def add_in_out(a: Bits, b: Bits, carry: Bits) -> Pair:
    """a + b + carry and the carry out of it."""
    part = a + b
    total = part + carry.astype(a.dtype)
    return total, (part < a) | (total < part)


def subtract_out(a: Bits, b: Bits) -> Pair:
    """a - b and its borrow."""
    return a - b, a < b


def subtract_in(a: Bits, b: Bits, borrow: Bits) -> Bits:
    """a - (b + borrow)."""
    total: Bits = a - b - borrow.astype(a.dtype)
    return total


def subtract_in_out(a: Bits, b: Bits, borrow: Bits) -> Pair:
    """a - (b + borrow) and the borrow out of it."""
    part = a - b
    total = part - borrow.astype(a.dtype)
    return total, (a < b) | (part < total)


def multiply_wide(a: Bits, b: Bits, kind: str) -> Bits:
    """The whole product, in containers of twice the width."""
    wide = widened(kind)
    return extend(a, kind, wide) * extend(b, kind, wide)


def multiply_high(a: Bits, b: Bits, kind: str) -> Bits:
    """The upper half of the whole product."""
    if a.dtype.itemsize < 8:
        return (multiply_wide(a, b, kind) >> (a.dtype.itemsize * 8)).astype(a.dtype)
    high = _high_word(a, b)
    if not _is_signed(kind):
        return high
    # Reading the top bit as -2^63 instead of 2^63 takes 2^64 times the other factor away.
    return high - np.where(signed(a) < 0, b, 0) - np.where(signed(b) < 0, a, 0)


def _high_word(a: Bits, b: Bits) -> Bits:
    a_low, a_high, b_low, b_high = a & _LOW, a >> _HALF, b & _LOW, b >> _HALF
    middle = a_high * b_low + (a_low * b_low >> _HALF)
    cross = a_low * b_high + (middle & _LOW)
    high: Bits = a_high * b_high + (middle >> _HALF) + (cross >> _HALF)
    return high


def multiply_24(a: Bits, b: Bits, kind: str, high: bool) -> Bits:
    """Bits 0..31, or 16..47 when `high`, of the product of the low 24 bits."""
    wide = multiply_wide(_low_24(a, kind), _low_24(b, kind), kind)
    return (wide >> 16 if high else wide).astype(a.dtype)


def _low_24(a: Bits, kind: str) -> Bits:
    top = a << 8
    return contained(signed(top) >> 8) if _is_signed(kind) else top >> 8


def divide(a: Bits, b: Bits) -> Bits:
    """Unsigned quotient."""
    zero = b == 0
    if not zero.any():
        quotient: Bits = a // b
        return quotient
    return np.where(zero, ~a.dtype.type(0), a // np.where(zero, b.dtype.type(1), b))


def remainder(a: Bits, b: Bits) -> Bits:
    """Unsigned remainder."""
    return _without_zero(b, a - divide(a, b) * b)


def divide_signed(a: Bits, b: Bits) -> Bits:
    """Signed quotient, rounded toward zero; the lowest number over -1 wraps."""
    quotient = divide(magnitude(a), magnitude(b))
    return _without_zero(b, np.where(signed(a ^ b) < 0, -quotient, quotient))


def remainder_signed(a: Bits, b: Bits) -> Bits:
    """Signed remainder, with the sign of the dividend."""
    return _without_zero(b, a - divide_signed(a, b) * b)


def _without_zero(b: Bits, result: Bits) -> Bits:
    zero = b == 0
    return np.where(zero, ~b.dtype.type(0), result) if zero.any() else result


def magnitude(a: Bits) -> Bits:
    """The absolute value of signed integers; the lowest number is its own."""
    return contained(np.abs(signed(a)))


def absolute_difference_sum(a: Bits, b: Bits, c: Bits, kind: str) -> Bits:
    """c + |a - b|."""
    x, y = a.view(dtype_of(kind)), b.view(dtype_of(kind))
    return c + contained(np.maximum(x, y) - np.minimum(x, y))


def dot4(a: Bits, b: Bits, c: Bits, a_kind: str, b_kind: str) -> Bits:
    """c plus the dot product of four bytes."""
    total = c
    for index in range(4):
        total = total + byte(a, index, a_kind) * byte(b, index, b_kind)
    return total


def dot2(a: Bits, b: Bits, c: Bits, a_kind: str, b_kind: str, first: int) -> Bits:
    """c plus the dot product of a's two halves with bytes `first` and `first + 1` of b."""
    total = c
    for index in range(2):
        half = extend((a >> (16 * index)).astype(np.uint16), a_kind[0] + "16", a_kind)
        total = total + half * byte(b, first + index, b_kind)
    return total


def byte(a: Bits, index: int, kind: str) -> Bits:
    """Byte `index` of 32-bit containers, extended to 32 bits as `kind` says."""
    return extend((a >> (8 * index)).astype(np.uint8), kind[0] + "8", kind[0] + "32")
