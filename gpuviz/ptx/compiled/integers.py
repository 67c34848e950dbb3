"""Integers, logic, shifts and bit fields as LLVM IR: the definitions of `arithmetic`, traced.

These are functions of NumPy arrays. They are called with arrays of another kind, whose operations
write code (NumPy enhancement proposals 13 and 18), so what an opcode means is said once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from gpuviz.ptx.arithmetic.kinds import Function, Variant, is_signed
from gpuviz.ptx.compiled.writer import Bailout, Value, Writer, lanes
from gpuviz.traces.trace import LANES

Emit = Callable[..., tuple[Value, ...]]  # writer, variant, operands

_BINARY: dict[Any, str] = {
    **{np.add: "add", np.subtract: "sub", np.multiply: "mul"},
    **{np.bitwise_and: "and", np.bitwise_or: "or", np.bitwise_xor: "xor"},
    **{np.logical_and: "and", np.logical_or: "or", np.logical_xor: "xor"},
}
_LOGICAL = (np.logical_and, np.logical_or, np.logical_xor)
_RELATIONS: dict[Any, str] = {
    **{np.less: "lt", np.less_equal: "le", np.greater: "gt", np.greater_equal: "ge"},
    **{np.equal: "eq", np.not_equal: "ne"},
}
_BOOL = np.dtype(np.bool_)


class LaneArray(NDArrayOperatorsMixin):
    """A value of the lanes as an array, of one element to those who ask for its shape.

    What comes of constants alone is computed at once, by NumPy.
    """

    ndim = 1

    def __init__(self, w: Writer, value: Value, dtype: np.dtype[Any] | None = None) -> None:
        self.w, self.value = w, value
        self.dtype = dtype or (_BOOL if value.bits == 1 else np.dtype(f"u{value.bits // 8}"))

    @property
    def flat(self) -> Sequence[int]:
        """The elements of a constant."""
        if self.value.constant is None:
            raise Bailout("a table that is not a constant")
        return [self.value.constant]

    def any(self) -> bool:
        """Whether something may hold in a lane: nobody knows."""
        return True

    def view(self, dtype: np.dtype[Any]) -> LaneArray:
        """The same bits as another type of this width."""
        return LaneArray(self.w, self.value, np.dtype(dtype))

    def astype(self, dtype: Any, copy: bool = True) -> LaneArray:
        """The same numbers as another type."""
        to, a = np.dtype(dtype), self.value
        if to.kind not in "bui":
            raise Bailout(f"numbers of type {to}")
        if to == _BOOL and self.dtype != _BOOL:
            return self != 0  # type: ignore[no-any-return]
        bits = 1 if to == _BOOL else 8 * to.itemsize
        how = "trunc" if bits < a.bits else "sext" if self.dtype.kind == "i" else "zext"
        return LaneArray(self.w, self.w.cast(how, a, bits), to)

    def _like(self, other: Any, dtype: np.dtype[Any]) -> LaneArray:
        """Another operand as one of this kind and of a type."""
        if isinstance(other, LaneArray):
            return other.astype(dtype)
        bits = 1 if dtype == _BOOL else 8 * dtype.itemsize
        numbers = [int(x) for x in np.asarray(other).reshape(-1)]
        if len(numbers) == LANES:
            return LaneArray(self.w, self.w.vector(lanes(numbers, bits), bits), dtype)
        return LaneArray(self.w, self.w.number(numbers[0], bits), dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any) -> LaneArray:
        dtype = _BOOL if ufunc in _LOGICAL else _common(inputs)
        operands = [self._like(x, dtype) for x in inputs]
        if dtype.kind not in "bui" or method != "__call__":
            raise Bailout(f"{ufunc.__name__} of {dtype}")
        if all(x.value.constant is not None for x in operands):
            found = ufunc(*(np.array(x.flat, np.uint64).astype(dtype) for x in operands))
            return self._like(found, found.dtype)
        values, signed = [x.value for x in operands], dtype.kind == "i"
        if ufunc in _RELATIONS:
            relation = _RELATIONS[ufunc]
            letter = "" if relation in ("eq", "ne") else "s" if signed else "u"
            return LaneArray(self.w, self.w.compare(letter + relation, *values))
        return LaneArray(self.w, _computed(self.w, ufunc, signed, *values), dtype)

    def __array_function__(
        self, function: Any, types: Any, given: Sequence[Any], more: dict[str, Any]
    ) -> LaneArray:
        if function not in _FUNCTIONS:
            raise Bailout(f"the function {function.__name__}")
        return _FUNCTIONS[function](self, *given, **more)

    def _where(self, holds: LaneArray, a: Any, b: Any) -> LaneArray:
        dtype, p = _common((a, b)), holds.astype(_BOOL).value
        a, b = (self._like(x, dtype).value for x in (a, b))
        return LaneArray(self.w, self.w.select(p, a, b), dtype)

    def _clip(self, a: Any, low: int, high: int) -> Any:
        limits = np.iinfo(a.dtype)
        if low > limits.min:
            a = np.maximum(a, low)
        return np.minimum(a, high) if high < limits.max else a

    def _choose(self, index: LaneArray, table: Any) -> Any:
        found: Any = self._like(table[0], table.dtype)
        for number, entry in enumerate(table[1:], 1):
            found = np.where(index == number, entry, found)
        return found


_FUNCTIONS: dict[Any, Callable[..., LaneArray]] = {
    np.where: LaneArray._where,
    np.clip: LaneArray._clip,
    np.choose: LaneArray._choose,
}


def _common(inputs: Sequence[Any]) -> np.dtype[Any]:
    return np.result_type(*(x.dtype if isinstance(x, LaneArray) else x for x in inputs))


def _computed(w: Writer, ufunc: np.ufunc, signed: bool, a: Value, *more: Value) -> Value:
    """The result of an operation on integers of one type."""
    if ufunc is np.negative:
        return w.op("sub", w.number(0, a.bits), a)
    if ufunc is np.invert:
        return w.op("xor", a, w.number(-1, a.bits))
    if ufunc is np.absolute:
        return w.intrinsic("abs", a, more="i1 false")
    if ufunc in _BINARY:
        name, (b,) = _BINARY[ufunc], more
        nothing = name in ("add", "or", "xor")
        return b if nothing and a.constant == 0 else w.op(name, a, b)
    if ufunc in (np.minimum, np.maximum):
        name = ("s" if signed else "u") + ("min" if ufunc is np.minimum else "max")
        return w.intrinsic(name, a, *more)
    if ufunc is np.left_shift:
        return _shift(w, "shl", a, *more)
    if ufunc is np.right_shift:
        return _shift(w, "ashr" if signed else "lshr", a, *more)
    if ufunc is np.floor_divide and not signed:
        return _quotient(w, a, *more)
    raise Bailout(ufunc.__name__)


def _shift(w: Writer, name: str, a: Value, count: Value) -> Value:
    """By the width or more gives 0, or the sign, as NumPy has it."""
    most = w.number(a.bits - 1, a.bits)
    if count.constant is not None and count.constant >= a.bits:
        return w.op(name, a, most) if name == "ashr" else w.number(0, a.bits)
    if count.constant is not None:
        return w.op(name, a, count) if count.constant else a
    if name == "ashr":
        return w.op(name, a, w.intrinsic("umin", count, most))
    inside = w.compare("ule", count, most)
    return w.select(inside, w.op(name, a, count), w.number(0, a.bits))


def _quotient(w: Writer, a: Value, b: Value) -> Value:
    """Up to 32 bits through doubles, which hold the floor exactly."""
    if a.bits > 32 or (a.same and b.same):
        return w.op("udiv", a, b)
    found = w.real("fdiv", *(w.from_integer("uitofp", x, 64) for x in (a, b)))
    return w.cast("trunc", w.to_integer("fptoui", found, 64), a.bits)


def apply(w: Writer, function: Function, *values: Value) -> tuple[Value, ...]:
    """Write the code of a function of containers, all of them integers; its results."""
    found = function(*(LaneArray(w, x) for x in values))
    return tuple(x.value for x in (found if isinstance(found, tuple) else (found,)))


def traced(function: Function) -> Emit:
    """That of an opcode that is such a function."""
    return lambda w, v, *values: apply(w, function, *values)


# --- what LLVM has instructions for ---------------------------------------------------------------


def _reverse(w: Writer, v: Variant, a: Value) -> tuple[Value, ...]:
    return (w.intrinsic("bitreverse", a),)


def _population(w: Writer, v: Variant, a: Value) -> tuple[Value, ...]:
    return (w.cast("trunc", w.intrinsic("ctpop", a), 32),)


def _leading_zeros(w: Writer, v: Variant, a: Value) -> tuple[Value, ...]:
    return (w.cast("trunc", w.intrinsic("ctlz", a, more="i1 false"), 32),)


def _highest(w: Writer, v: Variant, a: Value) -> tuple[Value, ...]:
    if is_signed(v.kind):
        a = w.op("xor", a, w.op("ashr", a, w.number(a.bits - 1, a.bits)))
    (zeros,) = _leading_zeros(w, v, a)
    place = zeros if v.has("shiftamt") else w.op("sub", w.number(a.bits - 1, 32), zeros)
    return (w.select(w.compare("eq", a, w.number(0, a.bits)), w.number(-1, 32), place),)


TABLE: dict[str, Emit] = {
    "brev": _reverse,
    "popc": _population,
    "clz": _leading_zeros,
    "bfind": _highest,
}


# --- pairs ----------------------------------------------------------------------------------------


def halves(w: Writer, word: Value) -> tuple[Value, Value]:
    """The lower and the upper half of a word."""
    half = word.bits // 2
    upper = w.op("lshr", word, w.number(half, word.bits))
    return w.cast("trunc", word, half), w.cast("trunc", upper, half)


def joined(w: Writer, low: Value, high: Value) -> Value:
    """Two halves as a word."""
    bits = 2 * low.bits
    upper = w.op("shl", w.cast("zext", high, bits), w.number(low.bits, bits))
    return w.op("or", upper, w.cast("zext", low, bits))


def pairs(emit: Emit) -> Emit:
    """For kinds that end in x2: both halves, each by itself."""

    def of_pairs(w: Writer, v: Variant, *operands: Value) -> tuple[Value, ...]:
        if not v.kind.endswith("x2"):
            return emit(w, v, *operands)
        one = v.of(v.kind[:-2])
        low, high = zip(*(halves(w, x) for x in operands), strict=True)
        return (joined(w, emit(w, one, *low)[0], emit(w, one, *high)[0]),)

    return of_pairs
