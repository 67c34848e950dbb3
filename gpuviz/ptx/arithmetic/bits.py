"""Logic, shifts, bit fields and bytes of containers.

Source: PTX ISA, "Logic and Shift Instructions" and the bit-field part of "Integer Arithmetic".
NumPy shifts by the width or more give 0 (or the sign), which is what PTX means by clamping.
"""

from functools import cache

import numpy as np

from gpuviz.ptx.arithmetic.kinds import Bits, contained, signed

_ONES = np.uint32(0xFFFFFFFF)


def select(a: Bits, b: Bits, predicate: Bits) -> Bits:
    """a where the predicate holds, else b.

    By masks: as fast for an irregular predicate as for a regular one, which np.where is not.
    """
    ones = np.negative(predicate.astype(a.dtype))
    result: Bits = (ones & (a ^ b)) ^ b
    return result


def shift_left(a: Bits, amount: Bits) -> Bits:
    """a << amount; `amount` is u32."""
    return np.left_shift(a, _amount(a, amount))


def shift_right(a: Bits, amount: Bits) -> Bits:
    """a >> amount, filled with zeros."""
    return np.right_shift(a, _amount(a, amount))


def shift_right_signed(a: Bits, amount: Bits) -> Bits:
    """a >> amount, filled with the sign."""
    return contained(np.right_shift(signed(a), signed(_amount(a, amount))))


def _amount(a: Bits, amount: Bits) -> Bits:
    if a.dtype.itemsize == 2:
        amount = np.minimum(amount, 16)
    return amount.astype(a.dtype, copy=False)


def _ones_below(length: Bits, like: Bits) -> Bits:
    one = like.dtype.type(1)
    mask: Bits = (one << length.astype(like.dtype, copy=False)) - one
    return mask


def _place(a: Bits, number: Bits) -> Bits:
    """A position or length as the hardware reads it: 8 bits of it, but all for 64-bit fields."""
    return np.minimum(number, 255) if a.dtype.itemsize == 8 else number & 0xFF


def extract(a: Bits, position: Bits, length: Bits) -> Bits:
    """Bit field extract, zero-extended."""
    return shift_right(a, _place(a, position)) & _ones_below(_place(a, length), a)


def extract_signed(a: Bits, position: Bits, length: Bits) -> Bits:
    """Bit field extract, sign-extended from the field's (or the word's) highest bit."""
    first, count = _place(a, position), _place(a, length)
    last = np.minimum(first + count - 1, a.dtype.itemsize * 8 - 1)
    negative = (shift_right(a, last) & 1).astype(np.bool_) & (count != 0)
    mask = _ones_below(count, a)
    return (shift_right_signed(a, first) & mask) | np.where(negative, ~mask, 0)


def insert(a: Bits, b: Bits, position: Bits, length: Bits) -> Bits:
    """b with `length` bits from `position` on replaced by the low bits of a."""
    first = _place(a, position)
    mask = shift_left(_ones_below(_place(a, length), a), first)
    return (shift_left(a, first) & mask) | (b & ~mask)


def reverse(a: Bits) -> Bits:
    """The bits in opposite order."""
    result = a.byteswap()
    for step, mask in ((4, 0x0F), (2, 0x33), (1, 0x55)):
        pattern = int.from_bytes(bytes([mask]) * a.dtype.itemsize)
        result = ((result >> step) & pattern) | ((result & pattern) << step)
    return result


def population(a: Bits) -> Bits:
    """The number of ones, as u32."""
    return np.bitwise_count(a).astype(np.uint32)


def leading_zeros(a: Bits) -> Bits:
    """The number of zeros above the highest one, as u32."""
    smeared, width = a, a.dtype.itemsize * 8
    for step in (1, 2, 4, 8, 16, 32)[: width.bit_length() - 1]:
        smeared = smeared | (smeared >> step)
    return np.uint32(width) - population(smeared)


def highest(a: Bits, as_shift: bool) -> Bits:
    """The place of the highest one, or the shift that would bring it to the top; all ones of 0."""
    zeros, top = leading_zeros(a), np.uint32(a.dtype.itemsize * 8 - 1)
    return np.where(a == 0, _ONES, zeros if as_shift else top - zeros)


def highest_signed(a: Bits, as_shift: bool) -> Bits:
    """As `highest`, for the highest bit that differs from the sign."""
    return highest(contained(signed(a) ^ (signed(a) >> (a.dtype.itemsize * 8 - 1))), as_shift)


def is_zero(a: Bits) -> Bits:
    """Logical not: 1 of 0, else 0."""
    result: Bits = (a == 0).astype(a.dtype)
    return result


@cache
def _minterms(table: int) -> tuple[int, ...]:
    return tuple(row for row in range(8) if table >> row & 1)


def logic(a: Bits, b: Bits, c: Bits, table: Bits) -> Bits:
    """Any function of three bits; `table` is one immediate, bit 4a+2b+c the value at (a, b, c)."""
    value = int(table.flat[0]) & 0xFF
    result = np.zeros((1,) * a.ndim, a.dtype)
    for row in _minterms(value):
        result = result | ((a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c))
    return result


def funnel_left(low: Bits, high: Bits, amount: Bits) -> Bits:
    """The upper word of high:low << amount, for amounts of 0 to 32."""
    return (high << amount) | (low >> (np.uint32(32) - amount))


def funnel_right(low: Bits, high: Bits, amount: Bits) -> Bits:
    """The lower word of high:low >> amount, for amounts of 0 to 32."""
    return (low >> amount) | (high << (np.uint32(32) - amount))


def wrapped(amount: Bits) -> Bits:
    """A shift amount modulo 32."""
    return amount & np.uint32(31)


def clamped(amount: Bits) -> Bits:
    """A shift amount, at most 32."""
    return np.minimum(amount, np.uint32(32))


def mask_of(position: Bits, length: Bits) -> Bits:
    """`length` ones from `position` on."""
    return _ones_below(length, position) << position


def extend_zero(a: Bits, length: Bits) -> Bits:
    """The low `length` bits of a."""
    return a & _ones_below(length, a)


def extend_sign(a: Bits, length: Bits) -> Bits:
    """The low `length` bits of a as a signed number; 0 when there are none."""
    unused = np.uint32(32) - length
    return np.where(length == 0, np.uint32(0), contained(signed(a << unused) >> signed(unused)))


def nth_set(mask: Bits, base: Bits, offset: Bits) -> Bits:
    """The place of the |offset|-th one of `mask` from bit `base` up or down; all ones if none."""
    count = signed(offset)
    result = np.where((count == 0) & ((mask >> base) & 1).astype(np.bool_), base, _ONES)
    for direction, places in ((1, range(32)), (-1, range(31, -1, -1))):
        seen = np.zeros((1,) * mask.ndim, np.int32)
        for place in places:
            reached = (base <= place) if direction > 0 else ((base >= place) & (base < 32))
            one = ((mask >> place) & 1).astype(np.bool_) & reached
            seen = seen + one
            result = np.where(one & (seen * direction == count), np.uint32(place), result)
    return result


# Selectors of d's bytes 3..0 for c & 3 = 0, 1, 2, 3, as hexadecimal digits.
PERMUTATIONS: dict[str, tuple[int, int, int, int]] = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543),
    "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333),
    "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210),
    "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}


def permute(a: Bits, b: Bits, selector: Bits) -> Bits:
    """Four bytes of b:a, each chosen by a selector digit whose top bit asks for the sign only."""
    pool = a.astype(np.uint64) | (b.astype(np.uint64) << 32)
    result: Bits = np.zeros((1,) * a.ndim, np.uint32)
    for place in range(4):
        digit = selector >> (4 * place)
        chosen = (pool >> ((digit & 7) * 8)).astype(np.uint32) & 0xFF
        chosen = np.where(digit & 8, (chosen >> 7) * 0xFF, chosen)
        result = result | (chosen << (8 * place))
    return result


def permute_as(mode: str, a: Bits, b: Bits, selector: Bits) -> Bits:
    """Four bytes of b:a by a named permutation."""
    return permute(a, b, np.choose(selector & 3, np.array(PERMUTATIONS[mode], np.uint32)))
