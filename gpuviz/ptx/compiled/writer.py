"""Writing LLVM IR: values of the 32 lanes of a warp, and the operations on them.

A value is a vector of 32, or a scalar that stands for all lanes: lane i holds the scalar plus
`pattern[i]`. What is computed from scalars alone stays one.
"""

from dataclasses import dataclass, replace

from gpuviz.traces.trace import LANES

Pattern = tuple[int, ...]
SAME: Pattern = (0,) * LANES


@dataclass(frozen=True, slots=True)
class PatternCount:
    """How requests of an instruction are counted: their pattern, and the histogram of their phases.

    That is the one of the instruction `first`, which starts `ahead` bytes before this one.
    """

    pattern: Pattern
    first: int
    ahead: int = 0


class Bailout(Exception):
    """Something that the compiled engine leaves to the NumPy engine: says what."""


@dataclass(frozen=True, slots=True)
class Value:
    """An integer of `bits` bits (1: a predicate) in each lane, under a name of the IR.

    `pattern` None is a vector. `constant` is known while compiling. `loose` are bits of an f32
    whose NaN is any NaN, `flat` those of one that is never subnormal.
    """

    name: str
    bits: int
    pattern: Pattern | None = None
    constant: int | None = None
    loose: bool = False
    flat: bool = False

    @property
    def same(self) -> bool:
        """Whether all lanes hold the scalar."""
        return self.pattern == SAME


FLOATS = {16: "half", 32: "float", 64: "double"}


class Writer:
    """Writes the body of one function."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.declared: dict[str, str] = {}
        self._number = 0

    def temp(self) -> str:
        """A fresh name."""
        self._number += 1
        return f"%t{self._number}"

    def label(self, stem: str) -> str:
        """A fresh name of a block of code."""
        self._number += 1
        return f"{stem}{self._number}"

    def line(self, text: str) -> None:
        """One statement."""
        self.lines.append("  " + text)

    def at(self, label: str) -> None:
        """What follows stands under a label."""
        self.lines.append(f"{label}:")

    def let(self, text: str) -> str:
        """A statement with a result: its name."""
        name = self.temp()
        self.lines.append(f"  {name} = {text}")
        return name

    def call(self, result: str, name: str, *arguments: str) -> str:
        """Call a function of LLVM, declared at the first use."""
        kinds = ", ".join(
            a.rsplit(" ", 1)[0] if not a.startswith("<") else _type(a) for a in arguments
        )
        self.declared[name] = f"declare {result} @{name}({kinds})"
        text = f"call {result} @{name}({', '.join(arguments)})"
        if result == "void":
            self.line(text)
            return ""
        return self.let(text)

    # --- values ---------------------------------------------------------------------------

    def number(self, value: int, bits: int) -> Value:
        """A constant, the same in all lanes."""
        if bits == 1:
            return Value("true" if value else "false", 1, SAME, int(bool(value)))
        value &= (1 << bits) - 1
        return Value(str(value), bits, SAME, value)

    def scalar(self, name: str, bits: int) -> Value:
        """A value that all lanes share."""
        return Value(name, bits, SAME)

    def vector(self, name: str, bits: int) -> Value:
        """A value of each lane."""
        return Value(name, bits)

    def wide(self, value: Value) -> str:
        """The name of the value as a vector."""
        if value.pattern is None:
            return value.name
        kind, bits = f"<32 x i{value.bits}>", value.bits
        if value.constant is not None and value.same:
            return lanes([value.constant] * LANES, bits)
        one = self.let(f"insertelement {kind} poison, i{bits} {value.name}, i64 0")
        every = self.let(f"shufflevector {kind} {one}, {kind} poison, <32 x i32> zeroinitializer")
        if value.same:
            return every
        return self.let(f"add {kind} {every}, {lanes(value.pattern, bits)}")

    def spread(self, value: Value) -> Value:
        """The value as a vector."""
        return replace(value, name=self.wide(value), pattern=None, constant=None)

    def one_of(self, value: Value, lane: str = "0") -> Value:
        """The value of one lane, for all."""
        vector = f"<32 x i{value.bits}> {value.name}"
        return replace(value, name=self.let(f"extractelement {vector}, i32 {lane}"), pattern=SAME)

    def _level(self, *values: Value) -> tuple[bool, list[str]]:
        """Whether all values are the same in all lanes, and their names, all scalars or vectors."""
        if all(v.same for v in values):
            return True, [v.name for v in values]
        return False, [self.wide(v) for v in values]

    def _made(self, text: str, bits: int, same: bool) -> Value:
        return Value(self.let(text), bits, SAME if same else None)

    def op(self, name: str, a: Value, b: Value) -> Value:
        """A binary operation on integers."""
        same, (x, y) = self._level(a, b)
        return self._made(f"{name} {kind(a.bits, same)} {x}, {y}", a.bits, same)

    def ops(self, name: str, first: Value, *others: Value) -> Value:
        """A binary operation, folded."""
        for other in others:
            first = self.op(name, first, other)
        return first

    def compare(self, relation: str, a: Value, b: Value) -> Value:
        """icmp."""
        same, (x, y) = self._level(a, b)
        return self._made(f"icmp {relation} {kind(a.bits, same)} {x}, {y}", 1, same)

    def select(self, predicate: Value, a: Value, b: Value) -> Value:
        """a where the predicate holds, else b."""
        if predicate.constant is not None:
            return a if predicate.constant else b
        same, (p, x, y) = self._level(predicate, a, b)
        one, many = kind(1, same), kind(a.bits, same)
        return self._made(f"select {one} {p}, {many} {x}, {many} {y}", a.bits, same)

    def cast(self, how: str, a: Value, bits: int) -> Value:
        """zext, sext or trunc (nothing when it has that width already)."""
        if a.bits == bits:
            return a
        if a.constant is not None:
            value = a.constant
            if how == "sext" and value >> (a.bits - 1):
                value -= 1 << a.bits
            return self.number(value, bits)
        same, (x,) = self._level(a)
        return self._made(f"{how} {kind(a.bits, same)} {x} to {kind(bits, same)}", bits, same)

    def intrinsic(self, name: str, *values: Value, more: str = "") -> Value:
        """An intrinsic of LLVM on integers, all of one type."""
        bits = values[0].bits
        same, names = self._level(*values)
        one = kind(bits, same)
        suffix = f"i{bits}" if same else f"v32i{bits}"
        arguments = [f"{one} {n}" for n in names] + ([more] if more else [])
        return Value(
            self.call(one, f"llvm.{name}.{suffix}", *arguments), bits, SAME if same else None
        )

    # --- floating point: bits in, bits out -------------------------------------------------

    def _floats(self, values: tuple[Value, ...]) -> tuple[bool, str, list[str]]:
        same, names = self._level(*values)
        bits = values[0].bits
        whole, real = kind(bits, same), real_kind(bits, same)
        return same, real, [self.let(f"bitcast {whole} {n} to {real}") for n in names]

    def _bits(self, name: str, bits: int, same: bool) -> Value:
        text = f"bitcast {real_kind(bits, same)} {name} to {kind(bits, same)}"
        return self._made(text, bits, same)

    def real(self, name: str, *values: Value) -> Value:
        """fadd, fsub, fmul, fdiv or fneg."""
        same, real, names = self._floats(values)
        return self._bits(self.let(f"{name} {real} {', '.join(names)}"), values[0].bits, same)

    def real_intrinsic(self, name: str, *values: Value) -> Value:
        """fma, sqrt, fabs and the like."""
        same, real, names = self._floats(values)
        bits = values[0].bits
        suffix = f"f{bits}" if same else f"v32f{bits}"
        found = self.call(real, f"llvm.{name}.{suffix}", *[f"{real} {n}" for n in names])
        return self._bits(found, bits, same)

    def real_compare(self, relation: str, a: Value, b: Value) -> Value:
        """fcmp."""
        same, real, (x, y) = self._floats((a, b))
        return self._made(f"fcmp {relation} {real} {x}, {y}", 1, same)

    def real_cast(self, how: str, a: Value, bits: int) -> Value:
        """fpext and fptrunc."""
        same, real, (x,) = self._floats((a,))
        return self._bits(self.let(f"{how} {real} {x} to {real_kind(bits, same)}"), bits, same)

    def from_integer(self, how: str, a: Value, bits: int) -> Value:
        """sitofp and uitofp."""
        same, (x,) = self._level(a)
        text = f"{how} {kind(a.bits, same)} {x} to {real_kind(bits, same)}"
        return self._bits(self.let(text), bits, same)

    def to_integer(self, how: str, a: Value, bits: int) -> Value:
        """fptosi and fptoui; the value must fit."""
        same, real, (x,) = self._floats((a,))
        return self._made(f"{how} {real} {x} to {kind(bits, same)}", bits, same)

    def mask(self, predicate: Value) -> str:
        """A predicate of each lane as the bits of an i32."""
        return self.let(f"bitcast <32 x i1> {self.wide(predicate)} to i32")


def kind(bits: int, same: bool) -> str:
    """The type of integers."""
    return f"i{bits}" if same else f"<32 x i{bits}>"


def real_kind(bits: int, same: bool) -> str:
    """The type of floating-point numbers."""
    return FLOATS[bits] if same else f"<32 x {FLOATS[bits]}>"


def lanes(values: Pattern | list[int], bits: int) -> str:
    """A constant vector."""
    return f"<{', '.join(f'i{bits} {v}' for v in values)}>"


def _type(argument: str) -> str:
    return argument[: argument.index(">") + 1]
