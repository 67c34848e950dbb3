"""What an expression of the host code comes to, where the text alone says it."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gpuviz.source.parts import descend, parsed, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

Number = int | float
Dim3 = tuple[int, int, int]
Value = Number | Dim3

_DEPTH = 24  # names that stand for names
_BITS = 1 << 64
_NUMBER = re.compile(r"(-?)(0[xX][\da-fA-F]+|0[bB][01]+|\d+)(?:[uUlLzZ]*)$")
_SIZES = {
    "char": 1, "bool": 1, "uchar": 1, "int8_t": 1, "uint8_t": 1, "short": 2, "half": 2,
    "__half": 2, "nv_bfloat16": 2, "__nv_bfloat16": 2, "int16_t": 2, "uint16_t": 2, "int": 4,
    "unsigned": 4, "unsigned int": 4, "uint": 4, "float": 4, "half2": 4, "int32_t": 4,
    "uint32_t": 4, "long": 8, "long long": 8, "unsigned long": 8, "unsigned long long": 8,
    "double": 8, "size_t": 8, "float2": 8, "int2": 8, "int64_t": 8, "uint64_t": 8, "float3": 12,
    "float4": 16, "int4": 16, "uint4": 16, "double2": 16,
}  # fmt: skip


def _divide(a: Number, b: Number) -> Number:
    if isinstance(a, float) or isinstance(b, float):
        return a / b
    return int(abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1)


def _shift(a: Number, b: Number) -> Number:
    if not (isinstance(a, int) and isinstance(b, int) and 0 <= b < 64):
        raise ValueError
    return a << b


_BINARY: dict[str, Callable[..., Number]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": _divide, "<<": _shift,
    "%": lambda a, b: a - b * _divide(a, b), ">>": operator.rshift, "&": operator.and_,
    "|": operator.or_, "^": operator.xor, "<": operator.lt, ">": operator.gt, "<=": operator.le,
    ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
    "&&": lambda a, b: int(bool(a and b)), "||": lambda a, b: int(bool(a or b)),
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., Number]] = {
    "min": min, "max": max, "ceil": lambda x: -int(-x // 1), "ceilf": lambda x: -int(-x // 1),
    "floor": lambda x: int(x // 1), "sqrt": lambda x: x**0.5, "pow": pow, "abs": abs,
}  # fmt: skip


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

    names: Mapping[str, Node] = field(default_factory=dict)
    macros: Mapping[str, Macro] = field(default_factory=dict)
    functions: Mapping[str, Node] = field(default_factory=dict)

    def value(self, node: Node | None, depth: int = 0) -> Value | None:
        """What an expression comes to; None when the text does not say, or it makes no sense."""
        if node is None or depth > _DEPTH:
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


def _literal(scope: Scope, node: Node, depth: int) -> Value | None:
    text = text_of(node).replace("'", "")
    if match := _NUMBER.match(text):
        digits = match[2]
        octal = digits.startswith("0") and digits.isdigit() and len(digits) > 1
        return int(match[1] + digits, 8 if octal else 0)
    return float(text.rstrip("fFlL"))


def _identifier(scope: Scope, node: Node, depth: int) -> Value | None:
    name = text_of(node).rpartition("::")[2]
    if name in scope.names:
        return _declared(scope, scope.names[name], depth)
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
    found = _BINARY[text_of(node.child_by_field_name("operator"))](left, right)
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
    return _SIZES.get(text_of(node.named_children[0]).strip("() ")) if node.named_children else None


def _field(scope: Scope, node: Node, depth: int) -> Value | None:
    whole = scope.value(node.child_by_field_name("argument"), depth)
    axis = text_of(node.child_by_field_name("field"))
    return whole["xyz".index(axis)] if isinstance(whole, tuple) and axis in "xyz" else None


def _call(scope: Scope, node: Node, depth: int) -> Value | None:
    name = text_of(node.child_by_field_name("function")).rpartition("::")[2].partition("<")[0]
    listed = node.child_by_field_name("arguments")
    given = [child for child in listed.named_children if child.type != "comment"] if listed else []
    if name == "dim3":
        return scope.dim3(given, depth)
    macro = scope.macros.get(name)
    if macro is not None and macro.parameters is not None:
        texts = dict(zip(macro.parameters, map(text_of, given), strict=False))
        text = re.sub(r"\w+", lambda word: f"({texts[word[0]]})" if word[0] in texts else word[0],
                      macro.text)  # fmt: skip
        return scope.value(parsed(text), depth)
    if name in scope.functions:
        return _called(scope, scope.functions[name], given, depth)
    if name in _FUNCTIONS or name in ("int", "size_t", "unsigned", "static_cast"):
        numbers = [scope.number(argument, depth) for argument in given]
        return _FUNCTIONS[name](*numbers) if name in _FUNCTIONS else int(*numbers)
    return None


def _called(scope: Scope, function: Node, given: list[Node], depth: int) -> Value | None:
    """A function that only returns an expression of its parameters."""
    returned = list(descend(function, {"return_statement"}))
    if len(returned) != 1 or not returned[0].named_children:
        return None
    parameters = [
        text_of(next(descend(one, {"identifier"}), None))
        for one in descend(function, {"parameter_declaration"})
    ]
    text = text_of(returned[0].named_children[0])
    values = {
        name: str(scope.number(node, depth)) for name, node in zip(parameters, given, strict=False)
    }
    text = re.sub(r"[A-Za-z_]\w*", lambda word: f"({values.get(word[0], word[0])})", text)
    return scope.value(parsed(text), depth)


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
