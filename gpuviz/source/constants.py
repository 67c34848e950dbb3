"""What an expression of the host code comes to where the text alone says it."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gpuviz.source.parts import parsed, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

Number = int | float
Dim3 = tuple[int, int, int]
Value = Number | Dim3

_DEPTH = 24  # names that stand for names
_STEPS = 1 << 20
_LONGEST = 2000  # letters of a macro, and of what it is given
_BITS = 1 << 64
_WORD = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"(-?)(0[xX][\da-fA-F]+|0[bB][01]+|\d+)(?:[uUlLzZ]*)$")
# C types by how SPECs call them.
_NAMES = {
    "f64": "double",
    "f32": "float",
    "f16": "half, __half",
    "bf16": "nv_bfloat16, __nv_bfloat16",
    "e4m3": "__nv_fp8_e4m3",
    "e5m2": "__nv_fp8_e5m2",
    "i8": "char, signed char, int8_t",
    "u8": "unsigned char, uchar, bool, uint8_t",
    "i16": "short, short int, int16_t",
    "u16": "unsigned short, unsigned short int, ushort, uint16_t",
    "i32": "int, signed, signed int, int32_t",
    "u32": "unsigned, unsigned int, uint, uint32_t",
    "i64": "long, long int, long long, long long int, int64_t, ptrdiff_t, clock_t, intptr_t",
    "u64": "unsigned long, unsigned long int, ulong, unsigned long long, unsigned long long int, "
    "uint64_t, size_t, uintptr_t",
    "texture": "cudaTextureObject_t",
    "surface": "cudaSurfaceObject_t",
}
SCALARS = {name: kind for kind, names in _NAMES.items() for name in names.split(", ")}
_LONG = {"longlong": "i64", "ulonglong": "u64"}
_VECTOR = re.compile(
    r"(float|double|char|uchar|short|ushort|int|uint|long|ulong|longlong|ulonglong)([1234])$"
)
_PAIRS = {
    **dict.fromkeys(("half2", "__half2"), "f16"),
    **dict.fromkeys(("nv_bfloat162", "__nv_bfloat162"), "bf16"),
    **dict.fromkeys(("cuComplex", "cuFloatComplex", "cufftComplex"), "f32"),
    **dict.fromkeys(("cuDoubleComplex", "cufftDoubleComplex"), "f64"),
}


def bytes_of(kind: str) -> int:
    """Of a scalar, as SPECs call it; of a handle."""
    sizes = {"texture": 8, "surface": 8, "e4m3": 1, "e5m2": 1}
    return sizes.get(kind) or int(re.sub(r"\D", "", kind)) // 8


def vector_of(name: str) -> tuple[str, int] | None:
    """The kind and the number of what a vector type of CUDA's (`float4`, `half2`) is made of."""
    if name in _PAIRS:
        return _PAIRS[name], 2
    found = _VECTOR.match(name)
    return (_LONG.get(found[1]) or SCALARS[found[1]], int(found[2])) if found else None


def _divide(a: Number, b: Number) -> Number:
    if isinstance(a, float) or isinstance(b, float):
        return a / b
    return int(abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1)


def _shift(a: Number, b: Number) -> Number:
    if not (isinstance(a, int) and isinstance(b, int) and 0 <= b < 64):
        raise ValueError
    return a << b


def _power(a: Number, b: Number) -> Number:
    made = math.pow(a, b)
    return int(made) if isinstance(a, int) and isinstance(b, int) else made


BINARY: dict[str, Callable[..., Number]] = {
    **{"+": operator.add, "-": operator.sub, "*": operator.mul, "/": _divide},
    **{"%": lambda a, b: a - b * _divide(a, b), "<<": _shift, ">>": operator.rshift},
    **{"&": operator.and_, "|": operator.or_, "^": operator.xor},
    **{"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge},
    **{"==": operator.eq, "!=": operator.ne},
    "&&": lambda a, b: int(bool(a and b)),
    "||": lambda a, b: int(bool(a or b)),
}
_ROUNDED = {"ceil": lambda x: -int(-x // 1), "floor": lambda x: int(x // 1)}
FUNCTIONS: dict[str, Callable[..., Number]] = {
    **_ROUNDED,
    **{"ceilf": _ROUNDED["ceil"], "sqrt": math.sqrt, "pow": _power},
    **{"min": min, "max": max, "abs": abs},
}
CASTS = {"int", "size_t", "unsigned", "static_cast"}


@dataclass(frozen=True)
class Macro:
    """A macro: its parameters (None: it has none, not even brackets) and its text."""

    parameters: tuple[str, ...] | None
    text: str


@dataclass(frozen=True)
class Scope:
    """What names stand for at a place: expressions, dimensions as expressions, macros, functions.

    A name that is given a value in more than one way keeps the last before the place.
    """

    named: Callable[[str], Node | None] = lambda name: None
    macros: Mapping[str, Macro] = field(default_factory=dict)
    functions: Mapping[str, Macro] = field(default_factory=dict)
    # How often may still be looked at an expression, all over the file: one can be of any size.
    steps: Iterator[int] = field(default_factory=lambda: iter(range(_STEPS)), compare=False)

    def value(self, node: Node | None, depth: int = 0) -> Value | None:
        """What an expression comes to; None when the text does not say, or it makes no sense."""
        if node is None or depth > _DEPTH or next(self.steps, None) is None:
            return None
        rule = _RULES.get(node.type)
        try:
            found = rule(self, node, depth + 1) if rule else None
        except (ArithmeticError, ValueError, TypeError):
            return None
        return found if not isinstance(found, int) or abs(found) < _BITS else None

    def number(self, node: Node | None, depth: int) -> Number:
        """A number; ValueError for anything else."""
        found = self.value(node, depth)
        if found is None or isinstance(found, tuple):
            raise ValueError
        return found

    def dim3(self, arguments: Iterable[Node], depth: int = 0) -> Dim3:
        """Dimensions of up to three expressions; ValueError when one is not known."""
        made = [self.number(node, depth) for node in arguments]
        if len(made) > 3:
            raise ValueError
        x, y, z = (*(int(n) for n in made), *([1] * (3 - len(made))))
        return x, y, z

    def stands_for(self, name: str) -> bool:
        """Whether a call of this name stands for another expression: a macro's, a function's."""
        macro = self.macros.get(name)
        return (macro is not None and macro.parameters is not None) or name in self.functions

    def inlined(self, name: str, arguments: Iterable[Node]) -> Node | None:
        """That expression, with the arguments as written in place of parameters; None where a
        function does more than return one, and for long ones.
        """
        macro = self.macros.get(name)
        if macro is None or macro.parameters is None:
            macro = self.functions[name]
        values = dict(zip(macro.parameters or (), map(text_of, arguments), strict=False))
        if max(map(len, (macro.text, *values.values()))) > _LONGEST:
            return None
        text = _WORD.sub(lambda w: f"({values[w[0]]})" if w[0] in values else w[0], macro.text)
        return parsed(text) if len(text) <= _LONGEST else None


def _literal(scope: Scope, node: Node, depth: int) -> Value | None:
    text = text_of(node).replace("'", "")
    if match := _NUMBER.match(text):
        digits = match[2]
        octal = digits.startswith("0") and digits.isdigit() and len(digits) > 1
        return int(match[1] + digits, 8 if octal else 0)
    return float(text.rstrip("fFlL"))


def _identifier(scope: Scope, node: Node, depth: int) -> Value | None:
    name = text_of(node).rpartition("::")[2]
    if (said := scope.named(name)) is not None:
        return _declared(scope, said, depth)
    macro = scope.macros.get(name)
    if macro is None or macro.parameters is not None:
        return None
    return scope.value(parsed(macro.text), depth)


def _declared(scope: Scope, node: Node, depth: int) -> Value | None:
    """What stands behind `x =`, or in the brackets of `dim3 x(...)`."""
    if node.type in ("argument_list", "initializer_list"):
        inner = [one for one in node.named_children if one.type != "comment"]
        return scope.value(inner[0], depth) if len(inner) == 1 else scope.dim3(inner, depth)
    return scope.value(node, depth)


def _binary(scope: Scope, node: Node, depth: int) -> Value | None:
    left = scope.number(node.child_by_field_name("left"), depth)
    right = scope.number(node.child_by_field_name("right"), depth)
    found = BINARY[text_of(node.child_by_field_name("operator"))](left, right)
    return int(found) if isinstance(found, bool) else found


def _unary(scope: Scope, node: Node, depth: int) -> Value | None:
    value = scope.number(node.child_by_field_name("argument"), depth)
    sign = text_of(node.child_by_field_name("operator"))
    return {"-": -value, "+": value, "!": int(not value)}.get(sign)


def _conditional(scope: Scope, node: Node, depth: int) -> Value | None:
    taken = scope.number(node.child_by_field_name("condition"), depth)
    return scope.value(node.child_by_field_name("consequence" if taken else "alternative"), depth)


def _cast(scope: Scope, node: Node, depth: int) -> Value | None:
    value = scope.number(node.child_by_field_name("value"), depth)
    kind = text_of(node.child_by_field_name("type"))
    return value if kind in ("float", "double") else int(value)


def _sizeof(scope: Scope, node: Node, depth: int) -> Value | None:
    name = text_of(node.named_children[0]).strip("() ") if node.named_children else ""
    kind, count = (SCALARS[name], 1) if name in SCALARS else vector_of(name) or ("", 0)
    return bytes_of(kind) * count if count else None


def _field(scope: Scope, node: Node, depth: int) -> Value | None:
    whole = scope.value(node.child_by_field_name("argument"), depth)
    axis = text_of(node.child_by_field_name("field"))
    return whole["xyz".index(axis)] if isinstance(whole, tuple) and axis in "xyz" else None


def called(node: Node) -> str:
    """The name of what a call calls, without its scope and template arguments."""
    return text_of(node.child_by_field_name("function")).rpartition("::")[2].partition("<")[0]


def given_in(listed: Node | None) -> list[Node]:
    """What is in a list of arguments, comments aside."""
    return [one for one in listed.named_children if one.type != "comment"] if listed else []


def _call(scope: Scope, node: Node, depth: int) -> Value | None:
    name, arguments = called(node), given_in(node.child_by_field_name("arguments"))
    if name == "dim3":
        return scope.dim3(arguments, depth)
    if scope.stands_for(name):
        return scope.value(scope.inlined(name, arguments), depth)
    if name in FUNCTIONS or name in CASTS:
        numbers = [scope.number(argument, depth) for argument in arguments]
        return FUNCTIONS[name](*numbers) if name in FUNCTIONS else int(*numbers)
    return None


_RULES: dict[str, Callable[[Scope, Node, int], Value | None]] = {
    "number_literal": _literal,
    "identifier": _identifier,
    "qualified_identifier": _identifier,
    "type_identifier": _identifier,  # as an argument of a template
    "type_descriptor": lambda s, n, d: (
        s.value(n.named_children[0], d) if n.named_children else None
    ),
    "binary_expression": _binary,
    "unary_expression": _unary,
    "conditional_expression": _conditional,
    "parenthesized_expression": lambda s, n, d: s.value(n.named_children[0], d),
    "cast_expression": _cast,
    "sizeof_expression": _sizeof,
    "field_expression": _field,
    "call_expression": _call,
    "compound_literal_expression": lambda s, n, d: s.dim3(n.named_children[-1].named_children, d),
    "initializer_list": lambda s, n, d: s.dim3(n.named_children, d),
    "true": lambda s, n, d: 1,
    "false": lambda s, n, d: 0,
}


def macros(nodes: Iterable[Node]) -> Iterator[tuple[str, Macro]]:
    """Macros of `#define` directives, by name."""
    for node in nodes:
        name, text = node.child_by_field_name("name"), text_of(node.child_by_field_name("value"))
        listed = node.child_by_field_name("parameters")
        given = tuple(map(text_of, listed.named_children)) if listed is not None else None
        yield text_of(name), Macro(given, re.sub(r"//.*|/\*.*?\*/|\\\r?\n", " ", text).strip())
