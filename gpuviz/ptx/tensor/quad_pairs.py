"""mma.m8n8k4 of f16: four products of 8 x 8 x 4 a warp, each held by a pair of quads.

Lanes 4p to 4p + 3 and 16 + 4p to 19 + 4p hold product p. Source: PTX ISA, "Matrix Fragments for
mma.m8n8k4 with .f16 floating point type". Made for Volta; how later architectures round it was not
compared with hardware, and is taken as that of their other products.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import I64, Array

PRODUCTS = 4
_LANE = np.arange(32)[:, None]
_OWN, _HIGH, _PRODUCT = _LANE % 4, _LANE // 16 * 4, _LANE % 16 // 4


@dataclass(frozen=True, eq=False)
class QuadPairs:
    """The row and the column of each element of each lane, (32, elements); bits of an element."""

    row: I64
    column: I64
    bits: int

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
    across, along = _OWN + _HIGH + 0 * element, element + 0 * _LANE
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
        return QuadPairs(_OWN + _HIGH + 0 * element, element + 0 * _LANE, 16)
    row = (_LANE & 1) + (element & 2) + _HIGH
    return QuadPairs(row, (element & 4) + (_LANE & 2) + (element & 1), 32)
