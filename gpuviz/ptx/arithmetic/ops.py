"""What every arithmetic opcode of PTX does: one row a family.

The pattern of a row is a list of slots: `rn/rz/rm/rp?` is at most one of four, `sat?` may be
absent, a word in capitals names a set. In the types `t` is the last type of the opcode, `d` the
first, `w` the integer of twice the width of `t`; others stand for themselves.

Carries: `add.cc` and its like have a second result of type pred, the carry (or borrow) out; `addc`
and its like take one more operand of type pred, the carry in.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from gpuviz.ptx.arithmetic import bits, compare, convert, floating, integer, packed
from gpuviz.ptx.arithmetic.compare import COMBINATIONS, FLOAT_RELATIONS, INTEGER_RELATIONS
from gpuviz.ptx.arithmetic.floating import Core, approximate, extremum, rounding
from gpuviz.ptx.arithmetic.kinds import (
    Bits,
    Builder,
    Function,
    Variant,
    contained,
    dtype_of,
    is_signed,
    widened,
)
from gpuviz.ptx.arithmetic.video import PARTS, video
from gpuviz.ptx.text.ir import Opcode
from gpuviz.ptx.text.isa import VIDEO


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """A function of containers, and the PTX types of its operands and results."""

    function: Function
    sources: tuple[str, ...]
    results: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One family: the name and modifiers it covers, its types and its builder."""

    name: str
    pattern: str
    sources: str
    results: str
    build: Builder

    def matches(self, mods: tuple[str, ...]) -> bool:
        """Whether the modifiers fill the slots of the pattern, in order."""
        position = 0
        for choices, optional in _slots(self.pattern):
            if position < len(mods) and mods[position] in choices:
                position += 1
            elif not optional:
                return False
        return position == len(mods)


_SETS: dict[str, str] = {
    "INT": "u16/s16/u32/s32/u64/s64",
    "SHORT": "u16/s16/u32/s32",
    "WORD": "u32/s32",
    "CARRY": "u32/s32/u64/s64",
    "BITS": "b16/b32/b64",
    "LONG": "b32/b64",
    "FLOAT": "f16/bf16/f32/f64",
    "HALF": "f16/f16x2/bf16/bf16x2",
    "REAL": "f16/f16x2/bf16/bf16x2/f32/f32x2/f64",
    "TWO": "f16x2/bf16x2",
    "EIGHTS": "e4m3x2/e5m2x2",
    "ONE": "b8/u8/s8/b16/u16/s16/b32/u32/s32/b64/u64/s64/f16/bf16/f32/f64",
    "PAIR": "f16x2/bf16x2/u16x2/s16x2",
    "NUMBER": "u8/s8/u16/s16/u32/s32/u64/s64",
    "ROUND": "rn/rz/rm/rp",
    "INTEGRAL": "rni/rzi/rmi/rpi",
    **{f"{one.upper()}PART": "/".join(f"{one}:{part}" for part in PARTS) for one in "dab"},
    "COMPARE": "/".join(INTEGER_RELATIONS),
    "FCOMPARE": "/".join(FLOAT_RELATIONS),
    "COMBINE": "/".join(COMBINATIONS),
}


@cache
def _slots(pattern: str) -> tuple[tuple[frozenset[str], bool], ...]:
    parts = ((part.rstrip("?"), part.endswith("?")) for part in pattern.split())
    return tuple((_expanded(part), optional) for part, optional in parts)


def _expanded(part: str) -> frozenset[str]:
    return frozenset("/".join(_SETS.get(name, name) for name in part.split("/")).split("/"))


def built(row: Row, mods: tuple[str, ...]) -> Operation:
    """The operation of one opcode of the row's family."""
    variant = Variant(mods)
    return Operation(row.build(variant), _types(row.sources, variant), _types(row.results, variant))


def _types(text: str, variant: Variant) -> tuple[str, ...]:
    return tuple(_type(symbol, variant) for symbol in text.split())


def _type(symbol: str, variant: Variant) -> str:
    if symbol == "w":
        return widened(variant.kind)
    return {"t": variant.kind, "d": variant.kinds[0]}.get(symbol, symbol)


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


_P, _PP, _CHOSEN = packed.pairs, packed.predicates, packed.chosen_pairs
_LOW, _WIDE = same(np.multiply), with_kind(integer.multiply_wide)
_HIGH = with_kind(integer.multiply_high)
_LOW_24 = with_kind(integer.multiply_24, high=False)
_HIGH_24 = with_kind(integer.multiply_24, high=True)

ROWS: tuple[Row, ...] = (
    # integers
    Row("add", "INT/u16x2/s16x2", "t t", "t", _P(same(np.add))),
    Row("add", "sat s32", "t t", "t", same(integer.add_saturated)),
    Row("sub", "INT/u16x2/s16x2", "t t", "t", _P(same(np.subtract))),
    Row("sub", "sat s32", "t t", "t", same(integer.subtract_saturated)),
    Row("mul", "lo INT", "t t", "t", _LOW),
    Row("mul", "hi INT", "t t", "t", _HIGH),
    Row("mul", "wide SHORT", "t t", "w", _WIDE),
    Row("mad", "lo INT", "t t t", "t", added(_LOW)),
    Row("mad", "hi INT", "t t t", "t", added(_HIGH)),
    Row("mad", "hi sat s32", "t t t", "t", added(_HIGH, integer.add_saturated)),
    Row("mad", "wide SHORT", "t t w", "w", added(_WIDE)),
    Row("mul24", "lo WORD", "t t", "t", _LOW_24),
    Row("mul24", "hi WORD", "t t", "t", _HIGH_24),
    Row("mad24", "lo WORD", "t t t", "t", added(_LOW_24)),
    Row("mad24", "hi WORD", "t t t", "t", added(_HIGH_24)),
    Row("add", "cc CARRY", "t t", "t pred", same(integer.add_out)),
    Row("addc", "CARRY", "t t pred", "t", same(integer.add_in)),
    Row("addc", "cc CARRY", "t t pred", "t pred", same(integer.add_in_out)),
    Row("sub", "cc CARRY", "t t", "t pred", same(integer.subtract_out)),
    Row("subc", "CARRY", "t t pred", "t", same(integer.subtract_in)),
    Row("subc", "cc CARRY", "t t pred", "t pred", same(integer.subtract_in_out)),
    Row("mad", "lo cc CARRY", "t t t", "t pred", added(_LOW, integer.add_out)),
    Row("mad", "hi cc CARRY", "t t t", "t pred", added(_HIGH, integer.add_out)),
    Row("madc", "lo CARRY", "t t t pred", "t", added(_LOW, integer.add_in)),
    Row("madc", "hi CARRY", "t t t pred", "t", added(_HIGH, integer.add_in)),
    Row("madc", "lo cc CARRY", "t t t pred", "t pred", added(_LOW, integer.add_in_out)),
    Row("madc", "hi cc CARRY", "t t t pred", "t pred", added(_HIGH, integer.add_in_out)),
    Row("div", "INT", "t t", "t", by_sign(integer.divide, integer.divide_signed)),
    Row("rem", "INT", "t t", "t", by_sign(integer.remainder, integer.remainder_signed)),
    Row("abs", "s16/s32/s64", "t", "t", same(integer.magnitude)),
    Row("neg", "s16/s32/s64", "t", "t", same(np.negative)),
    Row("min", "relu? INT/u16x2/s16x2", "t t", "t", _P(relu(np.minimum))),
    Row("max", "relu? INT/u16x2/s16x2", "t t", "t", _P(relu(np.maximum))),
    Row("sad", "INT", "t t t", "t", with_kind(integer.absolute_difference_sum)),
    Row("dp4a", "WORD WORD", "d t s32", "s32", dot4),
    Row("dp2a", "lo/hi WORD WORD", "d t s32", "s32", dot2),
    *(
        Row(name, "WORD WORD WORD sat? add?", "u32 u32 u32", "u32", packed.bytewise(name))
        for name in packed.BYTEWISE
    ),
    *(
        Row(name, f"WORD WORD WORD sat? {third} APART? BPART?", sources, "u32", video(name))
        for name in VIDEO
        for third, sources in (("", "u32 u32"), ("add/min/max/DPART", "u32 u32 u32"))
    ),
    # logic, shifts, bit fields
    Row("and", "BITS/pred", "t t", "t", same(np.bitwise_and)),
    Row("or", "BITS/pred", "t t", "t", same(np.bitwise_or)),
    Row("xor", "BITS/pred", "t t", "t", same(np.bitwise_xor)),
    Row("not", "BITS/pred", "t", "t", same(np.invert)),
    Row("cnot", "BITS", "t", "t", same(bits.is_zero)),
    Row("shl", "BITS", "t u32", "t", same(bits.shift_left)),
    Row("shr", "BITS/INT", "t u32", "t", by_sign(bits.shift_right, bits.shift_right_signed)),
    Row("shf", "l wrap/clamp b32", "t t u32", "t", funnel(bits.funnel_left)),
    Row("shf", "r wrap/clamp b32", "t t u32", "t", funnel(bits.funnel_right)),
    Row("lop3", "b32", "t t t u32", "t", same(bits.logic)),
    Row("lop3", "and/or b32", "t t t u32 pred", "t pred", logic_predicate),
    Row("bfe", "u32/u64/s32/s64", "t u32 u32", "t", by_sign(bits.extract, bits.extract_signed)),
    Row("bfi", "LONG", "t t u32 u32", "t", same(bits.insert)),
    Row("brev", "LONG", "t", "t", same(bits.reverse)),
    Row("popc", "LONG", "t", "u32", same(bits.population)),
    Row("clz", "LONG", "t", "u32", same(bits.leading_zeros)),
    Row("bfind", "shiftamt? u32/u64/s32/s64", "t", "u32", highest),
    Row("bmsk", "wrap/clamp b32", "t u32", "t", limited(bits.mask_of)),
    Row("szext", "wrap/clamp WORD", "t u32", "t", limited(bits.extend_zero, bits.extend_sign)),
    Row("fns", "b32", "t u32 s32", "t", same(bits.nth_set)),
    Row("prmt", "b32 f4e/b4e/rc8/ecl/ecr/rc16?", "t t u32", "t", permute),
    # comparisons and selection
    Row("setp", "COMPARE INT/BITS", "t t", "pred", compare.set_predicate),
    Row("setp", "COMPARE COMBINE INT/BITS", "t t pred", "pred", compare.set_predicate),
    Row("setp", "FCOMPARE ftz? FLOAT", "t t", "pred", compare.set_predicate),
    Row("setp", "FCOMPARE COMBINE ftz? FLOAT", "t t pred", "pred", compare.set_predicate),
    Row("setp|q", "COMPARE INT/BITS", "t t", "pred pred", compare.set_predicates),
    Row("setp|q", "COMPARE COMBINE INT/BITS", "t t pred", "pred pred", compare.set_predicates),
    Row("setp|q", "FCOMPARE ftz? FLOAT", "t t", "pred pred", compare.set_predicates),
    Row("setp|q", "FCOMPARE COMBINE ftz? FLOAT", "t t pred", "pred pred", compare.set_predicates),
    Row("setp|q", "FCOMPARE ftz? TWO", "t t", "pred pred", _PP(compare.set_predicate)),
    Row("setp|q", "FCOMPARE COMBINE ftz? TWO", "t t pred", "pred pred", _PP(compare.set_predicate)),
    Row("set", "COMPARE WORD/f32 INT/BITS", "t t", "d", compare.set_value),
    Row("set", "COMPARE COMBINE WORD/f32 INT/BITS", "t t pred", "d", compare.set_value),
    Row("set", "FCOMPARE ftz? u16/s16/WORD/FLOAT FLOAT", "t t", "d", compare.set_value),
    Row("set", "FCOMPARE COMBINE ftz? WORD/f32 FLOAT", "t t pred", "d", compare.set_value),
    Row("set", "FCOMPARE ftz? WORD/TWO TWO", "t t", "d", _CHOSEN(compare.set_predicate)),
    Row(
        "set", "FCOMPARE COMBINE ftz? WORD/TWO TWO", "t t pred", "d", _CHOSEN(compare.set_predicate)
    ),
    Row("selp", "BITS/INT/f32/f64", "t t pred", "t", same(bits.select)),
    Row("slct", "ftz? BITS/INT/f32/f64 s32/f32", "d d t", "d", compare.select_by_sign),
    Row("testp", "/".join(compare.PROPERTIES) + " f32/f64", "t", "pred", compare.value_class),
    # moves and conversions
    Row("mov", "pred/ONE/PAIR", "t", "t", same(identity)),
    Row("cvt", "sat? NUMBER NUMBER", "t", "d", convert.integer_to_integer),
    Row("cvt", "ROUND sat? FLOAT NUMBER", "t", "d", convert.integer_to_float),
    Row("cvt", "INTEGRAL ftz? sat? NUMBER FLOAT", "t", "d", convert.float_to_integer),
    Row("cvt", "ROUND/INTEGRAL? ftz? relu? sat? FLOAT FLOAT", "t", "d", convert.float_to_float),
    Row("cvt", "rn/rz relu? tf32 f32", "t", "b32", convert.float_to_float),
    Row("cvt", "rna satfinite? tf32 f32", "t", "b32", convert.away_to_tensor),
    Row("cvt", "rn/rz relu? TWO f32", "t t", "d", convert.two_to_pair),
    Row("cvt", "rn satfinite relu? EIGHTS f32", "f32 f32", "b16", convert.from_singles),
    Row("cvt", "rn satfinite relu? EIGHTS f16x2", "f16x2", "b16", convert.from_halves),
    Row("cvt", "rn relu? f16x2 EIGHTS", "b16", "f16x2", convert.to_halves),
    Row("cvt", "pack sat u16/s16 WORD", "t t", "u32", convert.pack),
    Row("cvt", "pack sat u8/s8 WORD b32", "s32 s32 b32", "u32", convert.pack),
    # floating point
    *(
        row
        for name, core in floating.CORES.items()
        for row in (
            Row(name, "ROUND? ftz? sat? f32/f64/f32x2", "t t", "t", _P(rounding(core))),
            Row(name, "rn? ftz? sat? HALF", "t t", "t", _P(rounding(core))),
        )
    ),
    Row("fma", "ROUND ftz? sat? f32/f64/f32x2", "t t t", "t", _P(rounding(floating.FUSED))),
    Row("fma", "rn ftz? sat/relu? HALF", "t t t", "t", _P(rounding(floating.FUSED))),
    Row("add", "ROUND? sat? f32 f16/bf16", "t d", "d", mixed(floating.ADD)),
    Row("sub", "ROUND? sat? f32 f16/bf16", "t d", "d", mixed(floating.SUBTRACT)),
    Row("fma", "ROUND sat? f32 f16/bf16", "t t d", "d", mixed(floating.FUSED)),
    Row("mad", "ROUND? ftz? sat? f32/f64", "t t t", "t", rounding(floating.FUSED)),
    Row("div", "ROUND ftz? f32/f64", "t t", "t", rounding(floating.DIVIDE)),
    Row("rcp", "ROUND ftz? f32/f64", "t", "t", rounding(floating.RECIPROCAL)),
    Row("sqrt", "ROUND ftz? f32/f64", "t", "t", rounding(floating.SQUARE_ROOT)),
    Row("div", "full ftz? f32", "t t", "t", rounding(floating.DIVIDE)),
    Row("div", "approx ftz? f32", "t t", "t", approximate(floating.divide_in_range)),
    *(
        Row(name, "approx ftz? f32", "t", "t", approximate(function))
        for name, function in floating.APPROXIMATE.items()
    ),
    Row("ex2", "approx ftz? HALF", "t", "t", _P(approximate(np.exp2))),
    Row("tanh", "approx HALF", "t", "t", _P(approximate(np.tanh))),
    Row("rcp", "approx ftz f64", "t", "t", same(floating.coarse(floating.reciprocal))),
    Row("rsqrt", "approx ftz f64", "t", "t", same(floating.coarse(floating.reciprocal_root))),
    Row("rsqrt", "approx f64", "t", "t", approximate(floating.reciprocal_root)),
    Row("abs", "ftz? REAL", "t", "t", _P(floating.absolute)),
    Row("neg", "ftz? REAL", "t", "t", _P(floating.negate)),
    Row("min", "ftz? NaN? xorsign? abs? REAL", "t t", "t", _P(extremum(larger=False))),
    Row("max", "ftz? NaN? xorsign? abs? REAL", "t t", "t", _P(extremum(larger=True))),
    Row("copysign", "f32/f64", "t t", "t", same(floating.copy_sign)),
)


def _by_name() -> dict[str, list[Row]]:
    table: dict[str, list[Row]] = {}
    for row in ROWS:
        table.setdefault(row.name, []).append(row)
    return table


_TABLE = _by_name()


@cache
def operation(opcode: Opcode, results: int = 1) -> Operation | None:
    """What `opcode` computes, or None when it is not a known arithmetic instruction.

    `results` is 2 for setp with two destinations, `p|q`.
    """
    rows = _TABLE.get("setp|q" if opcode.name == "setp" and results == 2 else opcode.name, ())
    return next((built(row, opcode.mods) for row in rows if row.matches(opcode.mods)), None)
