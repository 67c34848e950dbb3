"""Builders: from the functions of containers to the function of one variant of a family."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gpuviz.ptx.arithmetic import bits, compare, convert, integer
from gpuviz.ptx.arithmetic.floating import Core, rounding
from gpuviz.ptx.arithmetic.kinds import Bits, contained, dtype_of, is_signed
from gpuviz.ptx.arithmetic.variant import Builder, Function, Variant


def same(function: Function) -> Builder:
    """One function for all the variants of a family."""
    return lambda variant: function


def by_value(function: Callable[..., Any]) -> Builder:
    """A function of numbers, applied to containers seen as the variant's integers."""

    def build(variant: Variant) -> Function:
        if not is_signed(variant.kind):
            return function
        dtype = dtype_of(variant.kind)
        return lambda *operands: contained(function(*[x.view(dtype) for x in operands]))

    return build


def by_sign(unsigned: Function, signed: Function) -> Builder:
    """Two functions of containers, for unsigned and for signed types."""
    return lambda variant: signed if is_signed(variant.kind) else unsigned


def with_kind(function: Callable[..., Any], **given: Any) -> Builder:
    """A function that takes the type as `kind`."""
    return lambda variant: partial(function, kind=variant.kind, **given)


def added(product: Builder, combine: Callable[..., Any] = np.add) -> Builder:
    """Multiply-add: the product of the first two operands combined with the rest."""

    def build(variant: Variant) -> Function:
        multiply = product(variant)
        return lambda a, b, *rest: combine(multiply(a, b), *rest)

    return build


def identity(a: Bits) -> Bits:
    """mov: the very operand."""
    return a


def relu(function: Callable[..., Any]) -> Builder:
    """A function of numbers whose result .relu keeps from being negative."""
    clamp = by_value(lambda *operands: np.maximum(function(*operands), 0))
    plain = by_value(function)
    return lambda variant: (clamp if variant.has("relu") else plain)(variant)


def dot2(variant: Variant) -> Function:
    """dp2a.lo and .hi."""
    first = 2 if variant.has("hi") else 0
    a_kind, b_kind = variant.kinds
    return partial(integer.dot2, a_kind=a_kind, b_kind=b_kind, first=first)


def dot4(variant: Variant) -> Function:
    """dp4a."""
    a_kind, b_kind = variant.kinds
    return partial(integer.dot4, a_kind=a_kind, b_kind=b_kind)


def funnel(function: Callable[..., Any]) -> Builder:
    """shf: the shift amount wraps or clamps at 32."""

    def build(variant: Variant) -> Function:
        amount = bits.wrapped if variant.has("wrap") else bits.clamped
        return lambda low, high, n: function(low, high, amount(n))

    return build


def limited(unsigned: Function, signed: Function | None = None) -> Builder:
    """bmsk and szext: the last operand wraps or clamps; bmsk's position does too."""

    def build(variant: Variant) -> Function:
        limit = bits.wrapped if variant.has("wrap") else bits.clamped
        if signed is None:
            return lambda position, length: unsigned(limit(position), limit(length))
        function = signed if is_signed(variant.kind) else unsigned
        return lambda a, length: function(a, limit(length))

    return build


def highest(variant: Variant) -> Function:
    """bfind."""
    function = bits.highest_signed if is_signed(variant.kind) else bits.highest
    return partial(function, as_shift=variant.has("shiftamt"))


def permute(variant: Variant) -> Function:
    """prmt, with or without a named permutation."""
    mode = next((mod for mod in variant.mods if mod in bits.PERMUTATIONS), None)
    return partial(bits.permute_as, mode) if mode else bits.permute


def mixed(core: Core) -> Builder:
    """add.f32.f16 and its like: all but the last operand are widened, which is exact."""

    def build(variant: Variant) -> Function:
        narrow = variant.kind
        widen = convert.float_to_float(Variant(("f32", narrow)))
        function = rounding(core)(Variant(tuple(mod for mod in variant.mods if mod != narrow)))
        return lambda *operands: function(*map(widen, operands[:-1]), operands[-1])

    return build


def logic_predicate(variant: Variant) -> Function:
    """lop3 d|p: also whether the result is not 0, combined with a predicate."""
    combine = compare.COMBINATIONS[variant.mods[0]]

    def function(a: Bits, b: Bits, c: Bits, table: Bits, q: Bits) -> tuple[Bits, Bits]:
        result = bits.logic(a, b, c, table)
        return result, combine(result != 0, q)

    return function
