"""Which lane and register of a warp holds which element of a matrix.

One formula gives the figures of all shapes: a lane is in group g = lane / 4 with place t = lane % 4
in it; a register holds E consecutive elements. Rows of A and of the sum, and columns of B, go with
g; the other direction goes with t, E elements a lane, and begins anew with every further register.
Source: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions", the figures of each shape but
m8n8k4 with f16: these are four products of 8 x 8 x 4 a warp, each held by a pair of quads: lanes
4p to 4p + 3 and 16 + 4p to 19 + 4p hold product p. Made for Volta; how later architectures round
it was not compared with hardware, and is taken as that of their other products.
"""

from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import I64, Array

_LANE = np.arange(32)[:, None, None]
_GROUP, _PLACE = _LANE >> 2, _LANE & 3


@dataclass(frozen=True, eq=False)
class Fragment:
    """The row and the column of each element, (32, registers, elements of a register).

    `bits` are an element's; `container` those of a register.
    """

    row: I64
    column: I64
    bits: int
    container: int

    @property
    def registers(self) -> int:
        """How many of a lane hold the matrix."""
        return int(self.row.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """Of the matrix."""
        return int(self.row.max()) + 1, int(self.column.max()) + 1

    def matrix(self, registers: Array) -> Array:
        """(N, 32, registers) bits to the matrices they hold, (N, rows, columns) unsigned."""
        each = self.row.shape[2]
        wide = registers[..., None]
        if each > 1:
            shift = (np.arange(each) * self.bits).astype(registers.dtype)
            wide = (wide >> shift) & registers.dtype.type((1 << self.bits) - 1)
        made = np.zeros((len(registers), *self.shape), registers.dtype)
        made[:, self.row, self.column] = wide
        return made

    def hold(self, matrices: Array) -> Array:
        """(N, rows, columns) elements to the registers that hold them, (N, 32, registers)."""
        kind = np.uint64 if self.container == 64 else np.uint32
        parts: Array = matrices[:, self.row, self.column].astype(kind)
        shift: Array = (np.arange(self.row.shape[2]) * self.bits).astype(kind)
        held: Array = np.bitwise_or.reduce(parts << shift, axis=-1)
        return held


def left(rows: int, inner: int, bits: int) -> Fragment:
    """A of `rows` x `inner` elements: registers go down 8 rows first, then along."""
    each, down = _each(bits), rows // 8
    register = np.arange(rows * inner // (32 * each))[None, :, None]
    element = np.arange(each)
    row = _GROUP + 8 * (register % down) + 0 * element
    column = 4 * each * (register // down) + _PLACE * each + element
    return Fragment(row, column, bits, _container(bits))


def right(inner: int, columns: int, bits: int) -> Fragment:
    """B of `inner` x 8 elements."""
    each = _each(bits)
    register = np.arange(inner * columns // (32 * each))[None, :, None]
    element = np.arange(each)
    row = 4 * each * register + _PLACE * each + element
    return Fragment(row, _GROUP + 0 * row, bits, _container(bits))


def total(rows: int, bits: int) -> Fragment:
    """C and D of `rows` x 8 elements: two neighbours a lane in each 8 rows."""
    each = _each(bits)
    held = np.arange(rows // 4 // each)[None, :, None] * each + np.arange(each)
    row, column = _GROUP + 8 * (held // 2), _PLACE * 2 + held % 2
    return Fragment(row, column, bits, _container(bits))


def wide_total(rows: int, columns: int, bits: int) -> Fragment:
    """C and D of more than 8 columns: `total` for each 8 of them, one after the other."""
    return beside(total(rows, bits), columns // 8)


def high_left(rows: int, inner: int, bits: int) -> Fragment:
    """A of more than 16 rows: `left` for each 16 of them, one after the other."""
    return transposed(beside(transposed(left(min(rows, 16), inner, bits)), -(-rows // 16)))


def wide_right(inner: int, columns: int, bits: int) -> Fragment:
    """B of more than 8 columns: `right` for each 8 of them, one after the other."""
    return beside(right(inner, 8, bits), columns // 8)


def beside(one: Fragment, count: int) -> Fragment:
    """A matrix that is `count` times as wide, part by part."""
    column = [one.column + one.shape[1] * number for number in range(count)]
    row = np.tile(one.row, (1, count, 1))
    return Fragment(row, np.hstack(column), one.bits, one.container)


def element_by_element(fragment: Fragment) -> Fragment:
    """The same elements in the same order, each in a register of its own."""
    row, column = (x.reshape(len(_LANE), -1, 1) for x in (fragment.row, fragment.column))
    return Fragment(row, column, fragment.bits, fragment.container)


def in_pairs(fragment: Fragment) -> Fragment:
    """The same elements, two neighbours at a time."""
    row, column = (x.reshape(len(_LANE), -1, 2) for x in (fragment.row, fragment.column))
    return Fragment(row, column, fragment.bits, fragment.container)


def transposed(fragment: Fragment) -> Fragment:
    """Of the matrix whose rows are columns."""
    return Fragment(fragment.column, fragment.row, fragment.bits, fragment.container)


def _each(bits: int) -> int:
    """Elements of a register."""
    return max(1, 32 // bits)


def _container(bits: int) -> int:
    return 64 if bits == 64 else 32


# --- mma.m8n8k4 of f16 --------------------------------------------------------------------------

PRODUCTS = 4
_QUAD_LANE = np.arange(32)[:, None]
_OWN, _HIGH, _PRODUCT = _QUAD_LANE % 4, _QUAD_LANE // 16 * 4, _QUAD_LANE % 16 // 4


@dataclass(frozen=True, eq=False)
class QuadPairs:
    """The row and the column of each element of each lane, (32, elements); bits of an element."""

    row: I64
    column: I64
    bits: int
    container = 32

    @property
    def registers(self) -> int:
        """How many of a lane hold the matrix."""
        return int(self.row.shape[1]) * self.bits // 32

    def matrix(self, registers: Array) -> Array:
        """(N, 32, registers) to the matrices of all products, (N * 4, rows, columns)."""
        each = 32 // self.bits
        shift = (np.arange(each) * self.bits).astype(np.uint32)
        elements = registers[..., None] >> shift & np.uint32((1 << self.bits) - 1)
        shape = int(self.row.max()) + 1, int(self.column.max()) + 1
        made = np.zeros((len(registers), PRODUCTS, *shape), np.uint32)
        made[:, _PRODUCT, self.row, self.column] = elements.reshape(len(registers), 32, -1)
        return made.reshape(-1, *shape)

    def hold(self, matrices: Array) -> Array:
        """(N * 4, rows, columns) to the registers that hold them, (N, 32, registers)."""
        each = 32 // self.bits
        split = matrices.reshape(-1, PRODUCTS, *matrices.shape[1:])
        elements = split[:, _PRODUCT, self.row, self.column].astype(np.uint32)
        parts = elements.reshape(len(split), 32, -1, each)
        shift = (np.arange(each) * self.bits).astype(np.uint32)
        return np.asarray(np.bitwise_or.reduce(parts << shift, axis=-1))


def quad_left(by_rows: bool) -> QuadPairs:
    """A of 8 x 4: a lane holds a row, or by columns half of one."""
    element = np.arange(4)
    across, along = _OWN + _HIGH + 0 * element, element + 0 * _QUAD_LANE
    if by_rows:
        return QuadPairs(across, along, 16)
    return QuadPairs(element + _HIGH, _OWN + 0 * element, 16)


def quad_right(by_rows: bool) -> QuadPairs:
    """B of 4 x 8: what A is when it is turned."""
    turned = quad_left(not by_rows)
    return QuadPairs(turned.column, turned.row, 16)


def quad_total(bits: int) -> QuadPairs:
    """C and D of 8 x 8."""
    element = np.arange(8)
    if bits == 16:
        return QuadPairs(_OWN + _HIGH + 0 * element, element + 0 * _QUAD_LANE, 16)
    row = (_QUAD_LANE & 1) + (element & 2) + _HIGH
    return QuadPairs(row, (element & 4) + (_QUAD_LANE & 2) + (element & 1), 32)
