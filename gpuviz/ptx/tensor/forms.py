"""The products that mma can be asked for: types, how registers hold them, how they are summed.

Source: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gpuviz.ptx.tensor.formats import FORMATS
from gpuviz.ptx.tensor.fragments import Fragment, left, right, total
from gpuviz.ptx.tensor.sums import Adder, adder_of

BITS = {**{name: form.bits for name, form in FORMATS.items()}, "f64": 64, "s32": 32}
BITS |= {"u8": 8, "s8": 8, "u4": 4, "s4": 4, "b1": 1}
_SHAPE = re.compile(r"m(\d+)n8k(\d+)$")
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
    shape = next((found for mod in mods if (found := _SHAPE.match(mod))), None)
    kinds = [mod for mod in mods if mod in BITS]
    rows, inner = (int(shape[1]), int(shape[2])) if shape else (0, 0)
    if len(kinds) != 4 or (rows, inner) not in _SHAPES[BITS[kinds[1]]]:
        raise ValueError("this shape of matrices")
    if mods[0] != "sync" or tuple(m for m in mods if m in ("row", "col")) != ("row", "col"):
        raise ValueError("this form")
    result, first, second, _ = kinds
    rule = rule_of(mods, (first, second, result), adder_of(sm, first, inner))
    a, b = left(rows, inner, BITS[first]), right(inner, 8, BITS[second])
    return Product(a, b, total(rows, BITS[result]), rule)
