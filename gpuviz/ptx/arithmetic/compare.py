"""Comparisons, selection and tests of values.

Source: PTX ISA, "Comparison and Selection Instructions" and `testp`.
"""

from collections.abc import Callable

import numpy as np

from gpuviz.ptx.arithmetic.bits import select
from gpuviz.ptx.arithmetic.kinds import (
    CONTAINERS,
    Bits,
    Function,
    Variant,
    dtype_of,
    is_float,
    is_signed,
)
from gpuviz.ptx.arithmetic.rounding import EXPONENT, flushed, value_of

Relation = Callable[[Bits, Bits], Bits]

_PLAIN: dict[str, Relation] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_UNSIGNED: dict[str, Relation] = {
    "lo": np.less,
    "ls": np.less_equal,
    "hi": np.greater,
    "hs": np.greater_equal,
}
# True when either operand is NaN: the negation of the opposite ordered relation.
_UNORDERED: dict[str, Relation] = {
    "equ": lambda a, b: ~((a < b) | (a > b)),
    "neu": np.not_equal,
    "ltu": lambda a, b: ~(a >= b),
    "leu": lambda a, b: ~(a > b),
    "gtu": lambda a, b: ~(a <= b),
    "geu": lambda a, b: ~(a < b),
}
_ORDERED: dict[str, Relation] = {
    **_PLAIN,
    "ne": lambda a, b: (a < b) | (a > b),
    "num": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "nan": lambda a, b: np.isnan(a) | np.isnan(b),
}
_INTEGER, _FLOAT = {**_PLAIN, **_UNSIGNED}, {**_ORDERED, **_UNORDERED}
INTEGER_RELATIONS, FLOAT_RELATIONS = tuple(_INTEGER), tuple(_FLOAT)
COMBINATIONS: dict[str, Relation] = {
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
}


def relation(variant: Variant) -> Relation:
    """The comparison a variant names, on containers."""
    name, kind = variant.mods[0], variant.kind
    if is_float(kind):
        return _float_relation(_FLOAT[name], kind, variant.has("ftz"))
    if is_signed(kind):
        dtype, ordered = dtype_of(kind), _INTEGER[name]
        return lambda a, b: ordered(a.view(dtype), b.view(dtype))
    return _INTEGER[name]


def _float_relation(compare: Relation, kind: str, flush: bool) -> Relation:
    def function(a: Bits, b: Bits) -> Bits:
        if flush:
            a, b = flushed(a, kind), flushed(b, kind)
        with np.errstate(invalid="ignore"):
            return compare(value_of(a, kind), value_of(b, kind))

    return function


def set_predicate(variant: Variant) -> Function:
    """setp p: the comparison, combined with a third predicate when one is named."""
    compare = relation(variant)
    combine = _combination(variant)
    if combine is None:
        return compare
    return lambda a, b, c: combine(compare(a, b), c)


def set_predicates(variant: Variant) -> Function:
    """setp p|q: the comparison and its negation, each combined with the third predicate."""
    compare = relation(variant)
    combine = _combination(variant) or (lambda result, *_: result)

    def function(a: Bits, b: Bits, *third: Bits) -> tuple[Bits, Bits]:
        result = compare(a, b)
        return combine(result, *third), combine(~result, *third)

    return function


def _combination(variant: Variant) -> Relation | None:
    return next((COMBINATIONS[mod] for mod in variant.mods if mod in COMBINATIONS), None)


_TRUE = {"u32": 0xFFFFFFFF, "s32": 0xFFFFFFFF, "f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}


def set_value(variant: Variant) -> Function:
    """set: as setp, but all ones (an integer) or 1.0 for true, 0 for false."""
    predicate = set_predicate(variant)
    kind = variant.kinds[0]
    true = CONTAINERS[kind].type(_TRUE.get(kind, 0xFFFF))
    return lambda *operands: select(true, true.dtype.type(0), predicate(*operands))


def select_by_sign(variant: Variant) -> Function:
    """slct: a where c >= 0, else b (also when c is NaN)."""
    at_least = relation(Variant(("ge", *variant.mods[:-2], variant.kind)))
    return lambda a, b, c: select(a, b, at_least(c, np.zeros_like(c)))


def value_class(variant: Variant) -> Function:
    """testp: the class of a floating-point value."""
    kind = variant.kind
    exponent, property_of = EXPONENT[kind], _PROPERTIES[variant.mods[0]]
    magnitude = (1 << (CONTAINERS[kind].itemsize * 8 - 1)) - 1
    one = exponent & -exponent
    return lambda a: property_of(a & magnitude, exponent, one)


# Of the bits without sign, those of infinity, and those of the least normal number; 0 is normal.
_PROPERTIES: dict[str, Callable[[Bits, int, int], Bits]] = {
    "finite": lambda bits, infinity, _: bits < infinity,
    "infinite": lambda bits, infinity, _: bits == infinity,
    "number": lambda bits, infinity, _: bits <= infinity,
    "notanumber": lambda bits, infinity, _: bits > infinity,
    "normal": lambda bits, infinity, one: ((bits >= one) | (bits == 0)) & (bits < infinity),
    "subnormal": lambda bits, _, one: (bits > 0) & (bits < one),
}
PROPERTIES = tuple(_PROPERTIES)
