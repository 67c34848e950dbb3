"""wmma: which matrices there are, how registers hold them, and in which pieces they are moved.

PTX leaves open which lane holds what, and how it gets there; the assembler decides. Here it is as
ptxas of CUDA 13 makes it for sm_75 to sm_90 (read with nvdisasm): A and B lie in registers as for
mma; of 16-bit types the four bytes of a register are loaded at once, whichever way the matrix lies
in memory (where it lies the other way it is turned in registers), in shared memory by ldmatrix; C
and D move two neighbours at a time. Where neighbours are not side by side in memory, elements are
loaded one by one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import I64
from gpuviz.ptx.arithmetic.formats import shape_of
from gpuviz.ptx.tensor.fragments import (
    Fragment,
    element_by_element,
    high_left,
    in_pairs,
    left,
    transposed,
    wide_right,
    wide_total,
)
from gpuviz.ptx.tensor.mma import BITS, Rule, rule_of
from gpuviz.ptx.tensor.sums import Adder, adder_of
from gpuviz.traces.trace import LANES

# PTX ISA, "wmma": the shapes, by the bits of an element of A.
_SHAPES = {
    64: {(8, 8, 4)},
    32: {(16, 16, 8)},
    16: {(16, 16, 16), (32, 8, 16), (8, 32, 16)},
    8: {(16, 16, 16), (32, 8, 16), (8, 32, 16)},
    4: {(8, 8, 32)},
    1: {(8, 8, 128)},
}
_LINES = 16  # bytes of a row that ldmatrix loads


@dataclass(frozen=True)
class Matrix:
    """One of the four of a product: `role` a, b, c or d; how it lies in memory."""

    role: str
    rows: int
    columns: int
    kind: str
    by_rows: bool
    sm: int

    @property
    def bits(self) -> int:
        """Of an element."""
        return BITS[self.kind]

    @property
    def held(self) -> Fragment:
        """How it lies in registers."""
        if self.role == "a":
            return high_left(self.rows, self.columns, self.bits)
        if self.role == "b":
            if self.columns == 32:
                return transposed(high_left(self.columns, self.rows, self.bits))
            return wide_right(self.rows, self.columns, self.bits)
        if self._across:
            return transposed(wide_total(self.columns, self.rows, self.bits))
        return wide_total(self.rows, self.columns, self.bits)

    @property
    def _across(self) -> bool:
        """Where columns are many a product is made as that of the transposed matrices."""
        return self.columns == 32 and not (self.kind == "s32" and self.sm < 80)

    @property
    def moved(self) -> Fragment:
        """The pieces that are loaded or stored at once: line in memory, and place there."""
        lines, along = (self.rows, self.columns) if self.by_rows else (self.columns, self.rows)
        if self.role in "ab":
            if self.bits == 16 or self.by_rows == (self.role == "a"):
                return left(lines, along, self.bits)
            fragment = self.held if self.by_rows else transposed(self.held)
            return element_by_element(fragment)
        if self.by_rows != self._across:
            return in_pairs(wide_total(lines, along, self.bits))
        if self.bits == 16:
            return left(lines, along, self.bits)
        return element_by_element(self.held if self.by_rows else transposed(self.held))


def matrix_of(mods: Sequence[str], role: str, kind: str, by_rows: bool, sm: int) -> Matrix:
    """One of the matrices of an instruction, for a compute capability times ten.

    Raises
    ------
    ValueError : there is no such shape
    """
    if (shape := shape_of(mods)) is None:
        raise ValueError("this shape of matrices")
    m, n, k = shape
    rows, columns = {"a": (m, k), "b": (k, n)}.get(role, (m, n))
    return Matrix(role, rows, columns, kind, by_rows, sm)


def moved_matrix(mods: Sequence[str], sm: int) -> Matrix:
    """The matrix that a load or a store is of."""
    role = mods[1] if mods[0] == "load" else "d"
    return matrix_of(mods, role, mods[-1], "row" in mods, sm)


@dataclass(frozen=True, eq=False)
class Moves:
    """The pieces of a warp's loads or stores of a matrix, each of `count` units of `unit` bytes.

    `places` are, piece by piece, the line of each lane (32,) and the place there of its first
    element. Those `by_lines` are rows of 16 bytes that lanes name for ldmatrix.
    """

    matrix: Matrix
    fragment: Fragment
    places: tuple[tuple[I64, I64], ...]
    unit: int
    count: int
    by_lines: bool

    @property
    def elements(self) -> int:
        """Of a piece, in a lane."""
        return self.unit * self.count * 8 // self.matrix.bits


def moves_of(matrix: Matrix, space: str) -> Moves:
    """How a matrix is moved from or to a space."""
    fragment = matrix.moved
    by_lines = space == "shared" and matrix.role in "ab" and matrix.bits == 16
    width = _LINES if by_lines else max(1, fragment.row.shape[2] * matrix.bits // 8)
    unit = min(width, 8)
    places = _named_rows(fragment) if by_lines else _own(fragment)
    return Moves(matrix, fragment, tuple(places), unit, width // unit, by_lines)


def _own(fragment: Fragment) -> list[tuple[I64, I64]]:
    row, column = fragment.row[:, :, 0], fragment.column[:, :, 0]
    return [(row[:, n], column[:, n]) for n in range(row.shape[1])]


def _named_rows(fragment: Fragment) -> list[tuple[I64, I64]]:
    """As lanes name rows of 8 elements for ldmatrix: 16 lines, then the same 8 elements further.

    Then the lines, or the elements, that are left.
    """
    lines, along = fragment.shape
    high, lane = min(lines, LANES // 2), np.arange(LANES)
    count = lines * along // (8 * LANES) or 1
    part = lane % (lines * along // 8)
    if lines > high:
        return [(part % high + high * n, part // high * 8) for n in range(count)]
    return [(part % high, part // high * 8 + 2 * 8 * n) for n in range(count)]


@dataclass(frozen=True, eq=False)
class WholeProduct:
    """One form of wmma.mma: A, B, C and the result, and how they are summed.

    The sum is of the rule's type: C of another one is brought to it, and the result from it.
    """

    a: Matrix
    b: Matrix
    start: Matrix
    result: Matrix
    rule: Rule


def whole_product(mods: Sequence[str], sm: int) -> WholeProduct:
    """The form of wmma.mma with these modifiers, for a compute capability times ten.

    Raises
    ------
    ValueError : it is not executed, and why
    """
    kinds = [mod for mod in mods if mod in BITS]
    result, start = kinds[0], kinds[-1]
    first, second = (kinds[1], kinds[2]) if len(kinds) == 4 else ("f16", "f16")
    a, b = matrix_of(mods, "a", first, True, sm), matrix_of(mods, "b", second, True, sm)
    if (a.rows, b.columns, a.columns) not in _SHAPES[a.bits]:
        raise ValueError("this shape of matrices")
    summed = "f32" if (start, result) == ("f32", "f16") else result
    rule = rule_of(mods, (first, second, summed), _adder(sm, first, a.columns))
    c, d = (matrix_of(mods, r, kind, True, sm) for r, kind in (("c", start), ("d", result)))
    return WholeProduct(a, b, c, d, rule)


def _adder(sm: int, kind: str, inner: int) -> Adder:
    """k is walked in steps of what an instruction of the hardware takes: HMMA.1688, 16816, 1684."""
    step = {"tf32": 4, "f16": 8 if sm < 80 else 16}.get(kind, inner)
    one = adder_of(sm, kind, step)
    return Adder(one.kept, one.parts * inner // step, one.cut)
