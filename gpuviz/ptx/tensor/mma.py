"""The products that mma and mma.sp can be asked for: types, registers, how they are summed.

Of mma.sp half of A's elements are zero and not held. Each row of A is cut into chunks, and 4 bits
of metadata a chunk say which of its elements are there: two numbers of two bits, of elements (8 and
16 bits), of neighbouring pairs (4 bits), or of the halves of an element (32 bits, where one of two
is there). The operands hold the elements that are there, like a matrix half as wide.

Source: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions" and "Matrix
multiply-accumulate operation using mma.sp instruction"; which lane's register tells of which row
and chunk follows the order in which CUTLASS stores metadata (`reorder_meta`); 22 forms were
compared bit by bit with an H200 (tests/data/h200_tensor.npz).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import I64, Array
from gpuviz.ptx.arithmetic.formats import FORMATS, shape_of
from gpuviz.ptx.tensor.fragments import Fragment, left, right, total
from gpuviz.ptx.tensor.sums import Adder, adder_of

BITS = {**{name: form.bits for name, form in FORMATS.items()}, "f64": 64, "s32": 32}
BITS |= {"u8": 8, "s8": 8, "u4": 4, "s4": 4, "b1": 1}
# Which m and k there are, by the bits of an element of A.
_SHAPES = {
    64: {(8, 4), (16, 4), (16, 8), (16, 16)},
    32: {(16, 4), (16, 8)},
    16: {(16, 8), (16, 16)},
    8: {(8, 16), (16, 16), (16, 32)},
    4: {(8, 32), (16, 32), (16, 64)},
    1: {(8, 128), (16, 128), (16, 256)},
}


@dataclass(frozen=True)
class Rule:
    """How elements become sums: the types of A, B and of C and D; integers may be clamped, and
    single bits are counted where `both` are 1, or one of the two alone.
    """

    kinds: tuple[str, str, str]
    adder: Adder = Adder(0)
    clamp: bool = False
    both: bool = False


@dataclass(frozen=True, eq=False)
class Product:
    """One form of mma."""

    left: Fragment
    right: Fragment
    total: Fragment
    rule: Rule


def rule_of(mods: Sequence[str], kinds: tuple[str, str, str], adder: Adder) -> Rule:
    """The rule of an instruction with these modifiers."""
    return Rule(kinds, adder, "satfinite" in mods, "and" in mods)


def product_of(mods: Sequence[str], sm: int) -> Product:
    """The form of mma with these modifiers, for a compute capability times ten.

    Raises
    ------
    ValueError : it is not executed, and why
    """
    rows, columns, inner = shape_of(mods) or (0, 0, 0)
    kinds = [mod for mod in mods if mod in BITS]
    if len(kinds) != 4 or columns != 8 or (rows, inner) not in _SHAPES[BITS[kinds[1]]]:
        raise ValueError("this shape of matrices")
    if mods[0] != "sync" or tuple(m for m in mods if m in ("row", "col")) != ("row", "col"):
        raise ValueError("this form")
    result, first, second, _ = kinds
    rule = rule_of(mods, (first, second, result), adder_of(sm, first, inner))
    a, b = left(rows, inner, BITS[first]), right(inner, 8, BITS[second])
    return Product(a, b, total(rows, BITS[result]), rule)


_ROWS, _TOLD = 16, 4  # rows of A; bits of metadata that tell of a chunk
# Elements of a chunk, by the bits of an element.
_CHUNK = {32: 2, 16: 4, 8: 4, 4: 8}
# Which k there are, by the bits of an element.
_INNER = {32: (8, 16), 16: (16, 32), 8: (32, 64), 4: (64, 128)}


@dataclass(frozen=True, eq=False)
class Metadata:
    """Where the 4 bits of each chunk stand, (16 rows, chunks): the lane and the lowest bit.

    `bits` are an element's.
    """

    lane: I64
    shift: I64
    bits: int

    def columns(self, registers: Array) -> I64:
        """(N, 32) metadata to the columns of the elements that are there, (N, 16, held)."""
        told = registers[:, self.lane] >> self.shift.astype(registers.dtype) & registers.dtype.type(
            (1 << _TOLD) - 1
        )
        pair = np.stack([told & 3, told >> 2], axis=-1).astype(np.int64)
        if self.bits == 32:
            places = pair[..., :1] >> 1
        elif self.bits == 4:
            places = (2 * pair[..., None] + np.arange(2)).reshape(*pair.shape[:-1], 4)
        else:
            places = pair
        found: I64 = np.arange(told.shape[2])[:, None] * _CHUNK[self.bits] + places
        return found.reshape(len(registers), _ROWS, -1)

    def met(self, matrices: Array, registers: Array) -> Array:
        """Of B, (N, k, n): what each row of A meets, (N, 16, held, n). The rest is not read."""
        number = np.arange(len(matrices))[:, None, None]
        found: Array = matrices[number, self.columns(registers)]
        return found


def metadata_of(inner: int, bits: int, selector: int) -> Metadata:
    """Of A with `inner` columns of `bits`; `selector` chooses the lanes of every four.

    Raises
    ------
    ValueError : there is no such selector
    """
    row = np.arange(_ROWS)[:, None]
    chunk = np.arange(inner // _CHUNK[bits])[None, :]
    size, group = _TOLD * chunk.size, 4 * (row % 8)
    several = max(1, size // 16)  # lanes of every four that tell of the matrix
    if not 0 <= selector < 4 // several:
        raise ValueError(f"the sparsity selector {selector}")
    first = group + several * selector
    if bits >= 16:
        lane, shift = first + chunk // 4 + 0 * row, 16 * (row // 8) + _TOLD * (chunk % 4)
    else:
        lane, shift = first + row // 8 + 2 * (chunk // 8), _TOLD * (chunk % 8) + 0 * row
    return Metadata(lane, shift, bits)


@dataclass(frozen=True, eq=False)
class SparseProduct:
    """One form of mma.sp: as a product, with A as it is held, and what A's elements meet."""

    product: Product
    metadata: Metadata


def sparse_product_of(mods: Sequence[str], sm: int, selector: int) -> SparseProduct:
    """The form of mma.sp with these modifiers, for a compute capability times ten.

    Raises
    ------
    ValueError : it is not executed, and why
    """
    rows, columns, inner = shape_of(mods) or (0, 0, 0)
    kinds = [mod for mod in mods if mod in BITS]
    fits = (rows, columns) == (_ROWS, 8) and len(kinds) == 4
    if not fits or inner not in _INNER.get(BITS[kinds[1]], ()):
        raise ValueError("this shape of matrices")
    if tuple(m for m in mods if m in ("row", "col")) != ("row", "col"):
        raise ValueError("this form")
    result, first, second, _ = kinds
    bits = BITS[first]
    rule = rule_of(mods, (first, second, result), adder_of(sm, first, inner // 2))
    held, other = left(_ROWS, inner // 2, bits), right(inner, 8, BITS[second])
    product = Product(held, other, total(_ROWS, BITS[result]), rule)
    return SparseProduct(product, metadata_of(inner, bits, selector))
