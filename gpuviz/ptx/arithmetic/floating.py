"""Floating-point arithmetic of every type and rounding mode.

Source: PTX ISA, "Floating Point Instructions" and "Half Precision Floating Point Instructions".
f32 and f64 to nearest run in their own precision; everything else runs in float64, rounded to odd,
and is narrowed once. Approximate instructions give the correctly rounded result, of which the
hardware's differs in its last places.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from gpuviz.ptx.arithmetic import exact
from gpuviz.ptx.arithmetic.bits import select
from gpuviz.ptx.arithmetic.exact import to_odd, two_sum
from gpuviz.ptx.arithmetic.kinds import CONTAINERS, Bits, Builder, Function, Variant
from gpuviz.ptx.arithmetic.rounding import (
    CANONICAL_NAN,
    SIGN,
    bound_of,
    canonical,
    double_of,
    flushed,
    narrow,
    quieted,
    value_of,
)

_DROPPED = np.int64(35)  # 64 - 29: brings the bits that float32 drops to the top
_MIDPOINT = np.iinfo(np.int64).min
_SMALLEST_NORMAL = np.uint32(0x00FFFFFF)  # as magnitude * 2 - 1; a subnormal may round up to it
_TOP, _WRAP = np.iinfo(np.int64).max, np.uint32(0xFFFFFFFF)


def fused_single(a: Bits, b: Bits, c: Bits) -> Bits:
    """a * b + c of float32 arrays, rounded once. Callers silence floating-point warnings."""
    product = a.astype(np.float64) * b.astype(np.float64)
    total = product + c.astype(np.float64)
    result = total.astype(np.float32)
    dropped = np.left_shift(total.view(np.int64), _DROPPED)
    magnitude = np.left_shift(result.view(np.uint32), np.uint32(1))
    magnitude -= np.uint32(1)  # in place; zero wraps to the top
    if np.minimum.reduce(dropped, axis=None, initial=_TOP) == _MIDPOINT:
        _repair(result, dropped == _MIDPOINT, product, c)
    if np.minimum.reduce(magnitude, axis=None, initial=_WRAP) <= _SMALLEST_NORMAL:
        _repair(result, magnitude <= _SMALLEST_NORMAL, product, c)
    return result


def _repair(result: Bits, where: Bits, product: Bits, addend: Bits) -> None:
    """Sum the elements of `result` that `where` marks again, in place."""
    left = np.broadcast_to(product, result.shape)[where]
    right = np.broadcast_to(addend, result.shape)[where].astype(np.float64)
    result[where] = to_odd(*two_sum(left, right)).astype(np.float32)


Values = Callable[..., Bits]  # float arrays to a float array


@dataclass(frozen=True, slots=True)
class Core:
    """An operation on values: to nearest in f32, in any mode in f64, and fit to be narrowed."""

    single: Values
    double: Callable[[str], Values]  # of the rounding mode
    wide: Callable[[str, str], Values]  # of the kind it will be narrowed to, and the mode


def _in(function: Values) -> Callable[[str], Values]:
    def of_mode(mode: str) -> Values:
        return partial(function, mode=mode)

    return of_mode


def _exactly(function: Values) -> Callable[[str, str], Values]:
    return lambda kind, mode: function


def _odd(function: Values) -> Callable[[str, str], Values]:
    return lambda kind, mode: partial(function, mode=mode)


def _fused_odd(a: Bits, b: Bits, c: Bits, mode: str) -> Bits:
    return exact.add_odd(a * b, c, mode)


def _wide_fused(kind: str, mode: str) -> Values:
    # A product of halves and a half span too few bits for float64 to hide a tie of f16.
    if kind == "f16":
        return lambda a, b, c: a * b + c
    return partial(_fused_odd, mode=mode)


def _subtract(function: Values) -> Values:
    def subtract(a: Bits, b: Bits, mode: str) -> Bits:
        return function(a, np.where(np.isnan(b), b, -b), mode)

    return subtract


def _to_nearest(plain: Values, directed: Values) -> Callable[[str], Values]:
    return lambda mode: plain if mode == "rn" else partial(directed, mode=mode)


def reciprocal(a: Bits) -> Bits:
    """1 / a in the precision of a."""
    return np.divide(1, a, dtype=a.dtype)


ADD = Core(np.add, _to_nearest(np.add, exact.add), _odd(exact.add_odd))
SUBTRACT = Core(
    np.subtract, _to_nearest(np.subtract, _subtract(exact.add)), _odd(_subtract(exact.add_odd))
)
MULTIPLY = Core(np.multiply, _to_nearest(np.multiply, exact.multiply), _exactly(np.multiply))
CORES = {"add": ADD, "sub": SUBTRACT, "mul": MULTIPLY}
FUSED = Core(fused_single, _in(exact.fused), _wide_fused)
DIVIDE = Core(np.divide, _in(exact.divide), _exactly(np.divide))
RECIPROCAL = Core(
    reciprocal, lambda mode: lambda a: exact.divide(np.ones_like(a), a, mode), _exactly(reciprocal)
)
SQUARE_ROOT = Core(np.sqrt, _in(exact.square_root), _exactly(np.sqrt))


def rounding(core: Core) -> Builder:
    """The builder of `core` in the type and mode of a variant."""

    def build(variant: Variant) -> Function:
        kind, mode = variant.kind, variant.mode
        if kind == "f64":
            return _pipeline(variant, value_of, core.double(mode), _double_bits)
        if kind == "f32" and mode == "rn":
            return _pipeline(variant, value_of, core.single, canonical)
        return _pipeline(variant, double_of, core.wide(kind, mode), narrow(kind, mode))

    return build


def approximate(function: Values) -> Builder:
    """The builder of a function of float64 values that is narrowed to nearest."""

    def build(variant: Variant) -> Function:
        to_bits = _double_bits if variant.kind == "f64" else narrow(variant.kind)
        return _pipeline(variant, double_of, function, to_bits)

    return build


def _double_bits(values: Bits) -> Bits:
    return values.view(np.uint64)


def _pipeline(
    variant: Variant,
    load: Callable[[Bits, str], Bits],
    compute: Values,
    store: Callable[[Bits], Bits],
) -> Function:
    """Bits to values, the computation, .sat or .relu, and back to bits; .ftz at both ends."""
    kind, flush, bound = variant.kind, variant.has("ftz"), bound_of(variant)

    def function(*bits: Bits) -> Bits:
        if flush:
            bits = tuple(flushed(x, kind) for x in bits)
        with np.errstate(all="ignore"):
            values = compute(*[load(x, kind) for x in bits])
            result = store(bound(values) if bound else values)
        return flushed(result, kind) if flush else result

    return function


def negate(variant: Variant) -> Function:
    """-a: the sign bit toggled; NaN as any arithmetic leaves it."""
    sign = CONTAINERS[variant.kind].type(SIGN[variant.kind])
    return _of_sign(variant, lambda a: a ^ sign)


def absolute(variant: Variant) -> Function:
    """|a|: the sign bit cleared; NaN as any arithmetic leaves it."""
    rest = CONTAINERS[variant.kind].type(SIGN[variant.kind] - 1)
    return _of_sign(variant, lambda a: a & rest)


def _of_sign(variant: Variant, function: Callable[[Bits], Bits]) -> Function:
    kind, flush = variant.kind, variant.has("ftz")

    def apply(a: Bits) -> Bits:
        a = flushed(a, kind) if flush else a
        with np.errstate(invalid="ignore"):
            nan = np.isnan(value_of(a, kind))
        return select(quieted(a, kind), function(a), nan) if nan.any() else function(a)

    return apply


def copy_sign(a: Bits, b: Bits) -> Bits:
    """b with the sign of a."""
    sign = a.dtype.type(1 << (a.dtype.itemsize * 8 - 1))
    result: Bits = (a & sign) | (b & ~sign)
    return result


def extremum(larger: bool) -> Builder:
    """The builder of min or max: the number beats NaN, unless .NaN; -0 is less than +0."""

    def build(variant: Variant) -> Function:
        kind, flush, xorsign = variant.kind, variant.has("ftz"), variant.has("xorsign")
        choose = (np.greater, np.bitwise_and) if larger else (np.less, np.bitwise_or)
        rest = CONTAINERS[kind].type(SIGN[kind] - 1)

        def two(a: Bits, b: Bits) -> Bits:
            if flush:
                a, b = flushed(a, kind), flushed(b, kind)
            if not xorsign:
                return _pick(a, b, kind, choose, variant.has("NaN"))
            sign = (a ^ b) & ~rest
            result = _pick(a & rest, b & rest, kind, choose, variant.has("NaN"))
            return select(result, result | sign, np.isnan(value_of(result, kind)))

        return lambda a, *others: _fold(two, a, *others)

    return build


def _fold(function: Callable[[Bits, Bits], Bits], first: Bits, *others: Bits) -> Bits:
    for other in others:
        first = function(first, other)
    return first


def _pick(
    a: Bits,
    b: Bits,
    kind: str,
    choose: tuple[Callable[..., Bits], Callable[..., Bits]],
    keep_nan: bool,
) -> Bits:
    with np.errstate(invalid="ignore"):
        x, y = value_of(a, kind), value_of(b, kind)
        first, tied = choose[0](x, y), choose[1](a, b)
    x_nan, y_nan = np.isnan(x), np.isnan(y)
    # Equal values differ at most in the sign of a zero, which and/or settle.
    result = select(tied, select(a, b, first | y_nan), x == y)
    bad = (x_nan | y_nan) if keep_nan else (x_nan & y_nan)
    if kind == "f64" or not bad.any():
        return result
    return np.where(bad, result.dtype.type(CANONICAL_NAN[kind]), result)


def reciprocal_root(a: Bits) -> Bits:
    """1 / sqrt(a)."""
    return 1 / np.sqrt(a)


def divide_in_range(a: Bits, b: Bits) -> Bits:
    """a / b as div.approx has it."""
    # div.approx multiplies by a reciprocal that is flushed to 0 when b is beyond 2^126.
    return np.where(np.abs(b) > 2.0**126, a * np.copysign(0.0, b), a / b)


APPROXIMATE: dict[str, Values] = {
    "rcp": reciprocal,
    "sqrt": np.sqrt,
    "rsqrt": reciprocal_root,
    "sin": np.sin,
    "cos": np.cos,
    "ex2": np.exp2,
    "lg2": np.log2,
    "tanh": np.tanh,
}

_HIGH_WORD = np.uint64(0xFFFFFFFF00000000)
_COARSE_NAN = np.uint64(0x7FFFFFFF00000000)


def coarse(function: Values) -> Function:
    """The f64 approximations that see and give the high word only: Newton steps follow them."""

    def high(a: Bits) -> Bits:
        with np.errstate(all="ignore"):
            value = function((flushed(a, "f64") & _HIGH_WORD).view(np.float64))
        result = flushed(value.view(np.uint64) & _HIGH_WORD, "f64")
        return np.where(np.isnan(value), _COARSE_NAN, result)

    return high
