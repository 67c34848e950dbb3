"""Products of matrices in registers as LLVM IR: a routine for each form that a kernel asks for.

What `tensor.sums` computes, 32 sums at a time: those of one register of the result. Which lane and
register has what a sum needs is read off the fragments, so that all shapes are one piece of code.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuviz.ptx.arithmetic.formats import FORMATS, ZERO, Format
from gpuviz.ptx.arithmetic.kinds import Bits, Variant
from gpuviz.ptx.compiled import floats
from gpuviz.ptx.compiled.conversions import as_half
from gpuviz.ptx.compiled.integers import apply
from gpuviz.ptx.compiled.routines import Code, Routine, Term, vector
from gpuviz.ptx.compiled.writer import Bailout, Value, lanes
from gpuviz.ptx.tensor.fragments import Fragment
from gpuviz.ptx.tensor.mma import Rule
from gpuviz.ptx.tensor.sums import NO_NUMBER
from gpuviz.traces.trace import LANES

_EXACT = 8  # products that are added in 32 bits
_FUSED = Variant(("rn", "f64"))


def product_routine(
    name: str, a: Fragment, b: Fragment, c: Fragment, rule: Rule, result: Fragment | None = None
) -> Routine:
    """A function from the registers of A, B and C to those of the result, which lie as those of C
    where nothing else is told. C or a result of halves are brought to, or from, sums of f32.
    """
    d = c if result is None else result
    summed = max(c, d, key=lambda x: x.bits)
    if rule.kinds[0] == "b1":
        a, b = (_by_words(x, k) for x, k in ((a, 1), (b, 0)))
    kinds = [vector(x.container) for x in (a, b, c) for _ in range(x.registers)]
    kind = vector(d.container)
    returned = "{ " + ", ".join([kind] * d.registers) + " }"

    def write(w: Code, *given: Term) -> None:
        values = [w.vector(one.name, x) for one, x in zip(given, _widths(a, b, c), strict=True)]
        ends = a.registers, a.registers + b.registers
        parts = values[: ends[0]], values[ends[0] : ends[1]], values[ends[1] :]
        left, right, start = (_Matrix(w, x, p) for x, p in zip((a, b, c), parts, strict=True))
        if c.bits < summed.bits:
            start = _Matrix(w, summed, [_single(w, x) for x in start.elements])
        sums = _sums(w, rule)(left, right, start)
        if d.bits < summed.bits:
            sums = [w.cast("zext", floats.narrowed(w, x, "f16"), 32) for x in sums]
        found = "poison"
        for number, value in enumerate(_packed(w, d, sums)):
            piece = f"{kind} {value.name}"
            found = w.let(f"insertvalue {returned} {found}, {piece}, {number}")
        w.line(f"ret {returned} {found}")
        w.ended = True

    return Routine(name, returned, tuple(kinds), write)


def _single(w: Code, half: Value) -> Value:
    """The f32 of the bits of f16 in 32 bits; elements of both lie in the same order."""
    return floats.widened(w, w.cast("trunc", half, 16), "f16", 32)


def _widths(*fragments: Fragment) -> list[int]:
    return [x.container for x in fragments for _ in range(x.registers)]


def _by_words(fragment: Fragment, along: int) -> Fragment:
    """Of single bits: a register as one element."""
    row, column = fragment.row[:, :, :1], fragment.column[:, :, :1]
    where = (row, column // 32) if along else (row // 32, column)
    return Fragment(*where, 32, 32)


def _packed(w: Code, fragment: Fragment, sums: list[Value]) -> list[Value]:
    """Elements, register by register, as registers."""
    each = fragment.row.shape[2]
    made = []
    for at in range(0, len(sums), each):
        value = sums[at]
        for number in range(1, each):
            amount = w.number(number * fragment.bits, fragment.container)
            value = w.op("or", value, w.op("shl", sums[at + number], amount))
        made.append(value)
    return made


@dataclass(eq=False)
class _Matrix:
    """A matrix in registers, element by element."""

    w: Code
    fragment: Fragment
    registers: list[Value]

    @cached_property
    def elements(self) -> list[Value]:
        """(register, element of it) in order: their bits."""
        w, bits, whole = self.w, self.fragment.bits, self.fragment.container
        if bits == whole:
            return self.registers
        top, found = w.number((1 << bits) - 1, whole), []
        for register in self.registers:
            for at in range(0, whole, bits):
                shifted = w.op("lshr", register, w.number(at, whole)) if at else register
                found.append(w.op("and", shifted, top) if at + bits < whole else shifted)
        return found

    @cached_property
    def _places(self) -> np.ndarray:
        """(rows, columns): lane and number of an element."""
        x = self.fragment
        each = x.row.shape[2]
        found = np.zeros((*x.shape, 2), np.int64)
        number = np.arange(x.registers * each).reshape(1, x.registers, each)
        found[x.row, x.column, 0] = np.arange(LANES)[:, None, None]
        found[x.row, x.column, 1] = np.broadcast_to(number, x.row.shape)
        return found

    def choices(self, rows: np.ndarray, columns: np.ndarray) -> tuple[int, tuple[int, ...]]:
        """Which of the elements has what 32 places hold, and in which lane."""
        where = self._places[rows, columns]
        number = int(where[0, 1])
        if (where[:, 1] != number).any():
            raise Bailout("these matrices")
        return number, tuple(where[:, 0].tolist())


class _Shuffles:
    """Values of the elements, brought to the lanes that need them."""

    def __init__(self, w: Code, values: list[Value]) -> None:
        self._w, self._values = w, values
        self._made: dict[tuple[int, tuple[int, ...]], Value] = {}

    def __getitem__(self, choice: tuple[int, tuple[int, ...]]) -> Value:
        if choice not in self._made:
            value = self._values[choice[0]]
            kind, order = vector(value.bits), lanes(choice[1], 32)
            text = f"shufflevector {kind} {value.name}, {kind} poison, <32 x i32> {order}"
            self._made[choice] = self._w.vector(self._w.let(text), value.bits)
        return self._made[choice]


@dataclass(eq=False)
class _Sums:
    """What the rules have in common: which elements each register of the result is made of."""

    w: Code
    rule: Rule

    def __call__(self, a: _Matrix, b: _Matrix, c: _Matrix) -> list[Value]:
        """The elements of the result."""
        row, column = (x.reshape(LANES, -1) for x in (c.fragment.row, c.fragment.column))
        inner = range(a.fragment.shape[1])
        pairs = [
            [
                (
                    a.choices(row[:, n], row[:, n] * 0 + k),
                    b.choices(column[:, n] * 0 + k, column[:, n]),
                )
                for k in inner
            ]
            for n in range(row.shape[1])
        ]
        return self.made(a, b, c, pairs)

    def made(self, a: _Matrix, b: _Matrix, c: _Matrix, pairs: list[list[_Pair]]) -> list[Value]:
        """`pairs` of choices along k, for each element of the result."""
        raise NotImplementedError


_Choice = tuple[int, tuple[int, ...]]
_Pair = tuple[_Choice, _Choice]


class _Integers(_Sums):
    """Products are exact in f32, and so are their sums."""

    def made(self, a: _Matrix, b: _Matrix, c: _Matrix, pairs: list[list[_Pair]]) -> list[Value]:
        """Wrapped or clamped sums."""
        w, kinds = self.w, self.rule.kinds
        left, right = (
            _Shuffles(w, [self._real(x, k) for x in m.elements])
            for m, k in zip((a, b), kinds, strict=False)
        )
        found = []
        for start, along in zip(c.elements, pairs, strict=True):
            value = w.number(0, 32)
            for x, y in along:
                value = w.real_intrinsic("fma", left[x], right[y], value)
            whole = w.to_integer("fptosi", value, 32)
            add = w.intrinsic("sadd.sat", whole, start) if self.rule.clamp else None
            found.append(add or w.op("add", whole, start))
        return found

    def _real(self, element: Value, kind: str) -> Value:
        w, spare = self.w, self.w.number(32 - int(kind[1:]), 32)
        if kind[0] == "s":
            element = w.op("ashr", w.op("shl", element, spare), spare)
        return w.from_integer("sitofp", element, 32)


class _Bits(_Sums):
    """Words of 32 bits."""

    def made(self, a: _Matrix, b: _Matrix, c: _Matrix, pairs: list[list[_Pair]]) -> list[Value]:
        """How many bits are set."""
        w, name = self.w, "and" if self.rule.both else "xor"
        left, right = _Shuffles(w, a.elements), _Shuffles(w, b.elements)
        found = []
        for start, along in zip(c.elements, pairs, strict=True):
            for x, y in along:
                start = w.op("add", start, w.intrinsic("ctpop", w.op(name, left[x], right[y])))
            found.append(start)
        return found


class _Doubles(_Sums):
    """Fused multiply-adds in order."""

    def made(self, a: _Matrix, b: _Matrix, c: _Matrix, pairs: list[list[_Pair]]) -> list[Value]:
        """Sums of f64."""
        w = self.w
        left, right = _Shuffles(w, a.elements), _Shuffles(w, b.elements)
        found = []
        for start, along in zip(c.elements, pairs, strict=True):
            for x, y in along:
                start = self._fused(left[x], right[y], start)
            found.append(start)
        return found

    def _fused(self, a: Value, b: Value, c: Value) -> Value:
        """Of several NaN that of B counts, then that of the sum so far."""
        w, quiet = self.w, self.w.number(1 << 51, 64)
        (found,) = floats.TABLE["fma"](w, _FUSED, a, b, c)
        for one in (a, c, b):
            found = w.select(floats.is_nan(w, one), w.op("or", one, quiet), found)
        return found


@dataclass(frozen=True, eq=False)
class _Numbers:
    """Floats as whole numbers (bits of f32, with their sign) times a power of two.

    `exponent` is what the hardware sees, of the unit of significands. `special` are those that are
    infinite or no number, `endless` those that are infinite.
    """

    number: Value
    exponent: Value
    special: Value
    endless: Value

    @classmethod
    def of(cls, w: Code, bits: Value, form: Format) -> _Numbers:
        """What an element means."""
        top, size = (1 << form.exponent) - 1, form.exponent + form.fraction

        def parts(bits: Bits) -> tuple[Bits, ...]:
            raw = bits >> form.dropped
            magnitude = raw & ((1 << size) - 1)
            stored, fraction = magnitude >> form.fraction, magnitude & ((1 << form.fraction) - 1)
            whole = np.where(stored != 0, fraction | 1 << form.fraction, fraction)
            exponent = np.where(magnitude == 0, ZERO, np.maximum(stored, 1) - form.bias)
            if form.finite:
                special = magnitude == (1 << size) - 1
                return whole, raw >> size << 31, exponent, special, special & False
            endless = magnitude == top << form.fraction
            return whole, raw >> size << 31, exponent, stored == top, endless

        whole, sign, *rest = apply(w, parts, bits)
        exponent, special, endless = rest
        number = w.op("or", w.from_integer("sitofp", whole, 32), sign)
        return cls(number, exponent, special, w.spread(endless))

    def double(self, w: Code, form: Format) -> Value:
        """Bits of f64 of the same value; NaN where it is no number."""
        wide = w.cast("sext", self.exponent, 64)
        power = w.op("add", wide, w.number(1023 - form.fraction, 64))
        scale = w.op("shl", power, w.number(52, 64))
        value = w.real("fmul", w.real_cast("fpext", self.number, 64), scale)
        sign = w.op("and", value, w.number(1 << 63, 64))
        odd = w.select(self.endless, w.number(0x7FF << 52, 64), w.number(0x7FF8 << 48, 64))
        return w.select(self.special, w.op("or", odd, sign), value)


@dataclass(eq=False)
class _Floats(_Sums):
    """Aligned, cut off, added, cut off: see `tensor.sums`."""

    def made(self, a: _Matrix, b: _Matrix, c: _Matrix, pairs: list[list[_Pair]]) -> list[Value]:
        """One part of k after the other."""
        w, adder, kind = self.w, self.rule.adder, self.rule.kinds[2]
        sums = [w.spread(w.number(0, 32))] * len(pairs) if adder.pairs else c.elements
        for among in adder.steps(len(pairs[0])):
            sums = self._part(a, b, sums, [[along[k] for k in among] for along in pairs])
        if not adder.pairs:
            return sums
        add, width = floats.TABLE["add"], FORMATS[kind].bits
        plain = Variant(("rn", kind))
        both = [[w.cast("trunc", x, width) for x in one] for one in (sums, c.elements)]
        found = (floats.settled(w, add(w, plain, x, y)[0]) for x, y in zip(*both, strict=True))
        return [w.cast("zext", value, 32) for value in found]

    def _part(
        self, a: _Matrix, b: _Matrix, sums: list[Value], pairs: list[list[_Pair]]
    ) -> list[Value]:
        w, kinds = self.w, self.rule.kinds
        factors = (a.elements, b.elements)
        if self.rule.adder.pairs:
            left_halves = [as_half(w, x, kinds[0]) for x in factors[0]]
            factors = left_halves, [as_half(w, x, kinds[1]) for x in factors[1]]
            kinds = "f16", "f16", kinds[2]
        forms = [FORMATS[kind] for kind in kinds]
        left, right, start = (
            [_Numbers.of(w, bits, form) for bits in elements]
            for elements, form in zip((*factors, sums), forms, strict=True)
        )
        numbers = [_Shuffles(w, [x.number for x in one]) for one in (left, right)]
        exponents = [_Shuffles(w, [x.exponent for x in one]) for one in (left, right)]
        unit = forms[0].fraction + forms[1].fraction
        found = [
            self._sum(own, along, numbers, exponents, unit)
            for own, along in zip(start, pairs, strict=True)
        ]
        odd = w.ops("or", *(x.special for one in (left, right, start) for x in one))
        return self._with_specials(found, (left, right, start), forms, pairs, odd)

    def _sum(
        self,
        own: _Numbers,
        along: list[_Pair],
        numbers: list[_Shuffles],
        exponents: list[_Shuffles],
        unit: int,
    ) -> Value:
        """Whole numbers of the last bit that is kept."""
        w, kept = self.w, self.rule.adder.kept
        each = [w.op("add", exponents[0][x], exponents[1][y]) for x, y in along]
        top = own.exponent
        for exponent in each:
            top = w.intrinsic("smax", top, exponent)
        start = FORMATS[self.rule.kinds[2]].fraction
        total = w.cast("sext", self._aligned(own.number, own.exponent, top, start), 64)
        for first in range(0, len(along), _EXACT):
            some = None
            for (x, y), exponent in zip(along[first : first + _EXACT], each[first:], strict=False):
                value = w.real("fmul", numbers[0][x], numbers[1][y])
                cut = self._aligned(value, exponent, top, unit)
                some = cut if some is None else w.op("add", some, cut)
            assert some is not None
            total = w.op("add", total, w.cast("sext", some, 64))
        wide = w.from_integer("sitofp", total, 64)
        power = w.op("add", w.cast("sext", top, 64), w.number(1023 - kept, 64))
        return self._rounded(w.real("fmul", wide, w.op("shl", power, w.number(52, 64))))

    def _aligned(self, value: Value, exponent: Value, top: Value, unit: int) -> Value:
        """Cut off to a whole number of the last bit that is kept."""
        w = self.w
        most = w.op("sub", top, w.number(self.rule.adder.kept - unit + 127, 32))
        power = w.intrinsic("smax", w.op("sub", exponent, most), w.number(0, 32))
        scale = w.op("shl", power, w.number(23, 32))
        return w.to_integer("fptosi", w.real("fmul", value, scale), 32)

    def _rounded(self, value: Value) -> Value:
        w = self.w
        if self.rule.kinds[2] == "f16":
            return self._positive(w.cast("zext", floats.narrowed(w, value, "f16"), 32), 15)
        near = w.real_cast("fptrunc", value, 32)
        size = w.number((1 << 63) - 1, 64)
        back, own = (w.op("and", x, size) for x in (w.real_cast("fpext", near, 64), value))
        less = w.op(
            "and", w.compare("ugt", back, own), w.compare("ult", own, w.number(1151 << 52, 64))
        )
        found = w.op("sub", near, w.cast("zext", less, 32))
        cut = self.rule.adder.cut
        found = w.op("and", found, w.number(-1 << cut, 32)) if cut else found
        return self._positive(found, 31)

    def _positive(self, value: Value, sign: int) -> Value:
        """No sum is -0."""
        minus = self.w.compare("eq", value, self.w.number(1 << sign, 32))
        return self.w.select(minus, self.w.number(0, 32), value)

    def _with_specials(
        self,
        found: list[Value],
        given: tuple[list[_Numbers], ...],
        forms: list[Format],
        pairs: list[list[_Pair]],
        odd: Value,
    ) -> list[Value]:
        """Where an operand is infinite or no number, sums of f64 say what becomes of it."""
        w = self.w
        results = [w.variable(Term(w, vector(32), one.name)) for one in found]
        some = Term(w, "i32", w.mask(odd))
        with w.when(some.ne(0), rare=True):
            left, right = (
                _Shuffles(w, [x.double(w, form) for x in one])
                for one, form in zip(given[:2], forms[:2], strict=True)
            )
            for own, along, result in zip(given[2], pairs, results, strict=True):
                value = own.double(w, forms[2])
                for x, y in along:
                    value = w.real("fadd", value, w.real("fmul", left[x], right[y]))
                result.set(Term(w, vector(32), self._special(value, result.value).name))
        return [w.vector(one.value.name, 32) for one in results]

    def _special(self, value: Value, other: Term) -> Value:
        """Infinity with its sign, the one pattern of no number, or what was found."""
        kind = self.rule.kinds[2]
        width, endless = (16, 0x7C00) if kind == "f16" else (32, 0x7F800000)

        def special(value: Bits, other: Bits) -> Bits:
            signed = (value >> 63).astype(np.uint32) << (width - 1) | endless
            size = value & ((1 << 63) - 1)
            found = np.where(size == 0x7FF << 52, signed, other)
            return np.where(size > 0x7FF << 52, NO_NUMBER[kind], found)

        return apply(self.w, special, value, self.w.vector(other.name, 32))[0]


def _sums(w: Code, rule: Rule) -> _Sums:
    kind, _, result = rule.kinds
    made = {"f64": _Doubles, "b1": _Bits}.get(kind, _Integers if result == "s32" else _Floats)
    return made(w, rule)
