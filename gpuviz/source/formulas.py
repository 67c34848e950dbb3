"""Expressions of the host code with the names left in them that the text gives no value: as they
are evaluated in a launch (see `gpuviz.arguments.expressions`), so that sizes follow from arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuviz.source.constants import Scope
from gpuviz.source.parts import descend, parsed, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_DEPTH = 24  # names that stand for names
_AS_WRITTEN = {"+", "-", "*", "%", "<<", ">>"}
_FUNCTIONS = {"ceil": "ceil", "ceilf": "ceil", "floor": "floor", "min": "min", "max": "max"}
_CASTS = {"int", "size_t", "unsigned", "static_cast"}
_REAL = re.compile(r"\d\.|\.\d|\b(?:float|double)\b")
_ROUNDED_UP = re.compile(r"(?i)(?:i?div_?(?:ceil|up)|ceil_?div|c_?div)$")
_WORD = re.compile(r"[A-Za-z_]\w*")


class NoFormula(ValueError):
    """An expression that is not written as arithmetic of known names."""


@dataclass(frozen=True)
class Formulas:
    """Makes formulas of expressions; `free` are the names that may stay in them."""

    scope: Scope
    free: Collection[str]

    def dimensions(self, node: Node) -> str:
        """One to three formulas, separated by commas; "" where there is none."""
        try:
            return ", ".join(map(_bare, self._each(node, 0)))
        except NoFormula:
            return ""

    def number(self, node: Node) -> str:
        """The formula of a number; "" where there is none."""
        try:
            return _bare(self._one(node, 0))
        except NoFormula:
            return ""

    def _each(self, node: Node, depth: int) -> list[str]:
        name = text_of(node)
        if node.type == "identifier" and name in self.scope.names and depth < _DEPTH:
            return self._each(self.scope.names[name], depth + 1)
        if node.type in ("argument_list", "initializer_list"):
            return [self._one(child, depth) for child in _given(node)]
        if node.type == "compound_literal_expression":
            return self._each(node.named_children[-1], depth)
        if node.type == "call_expression" and _called(node) == "dim3":
            listed = node.child_by_field_name("arguments")
            return self._each(listed, depth) if listed is not None else []
        return [self._one(node, depth)]

    def _one(self, node: Node | None, depth: int) -> str:
        if node is None or depth > _DEPTH:
            raise NoFormula
        value = self.scope.value(node)
        if isinstance(value, int | float):
            return f"{value:g}" if isinstance(value, float) else str(value)
        rule = _RULES.get(node.type)
        if rule is None:
            raise NoFormula
        return rule(self, node, depth + 1)

    def _identifier(self, node: Node, depth: int) -> str:
        name = text_of(node)
        if name in self.free:
            return name
        if name in self.scope.names:
            return self._one(self.scope.names[name], depth)
        macro = self.scope.macros.get(name)
        if macro is None or macro.parameters is not None:
            raise NoFormula
        return self._one(parsed(macro.text), depth)

    def _binary(self, node: Node, depth: int) -> str:
        left, right = (node.child_by_field_name(side) for side in ("left", "right"))
        sign = text_of(node.child_by_field_name("operator"))
        a, b = self._one(left, depth), self._one(right, depth)
        if sign == "/":  # of whole numbers, unless one of them is none
            sign = "/" if any(_REAL.search(text_of(one)) for one in (left, right)) else "//"
        elif sign not in _AS_WRITTEN:
            raise NoFormula
        return f"({a} {sign} {b})"

    def _call(self, node: Node, depth: int) -> str:
        name, given = _called(node), _given(node.child_by_field_name("arguments"))
        if _ROUNDED_UP.match(name) and len(given) == 2:  # whichever way it is written
            return f"ceil({' / '.join(self._one(one, depth) for one in given)})"
        macro = self.scope.macros.get(name)
        if macro is not None and macro.parameters is not None:
            return self._inlined(macro.text, macro.parameters, given, depth)
        function = self.scope.functions.get(name)
        if function is not None:
            returned = list(descend(function, {"return_statement"}))
            if len(returned) != 1 or not returned[0].named_children:
                raise NoFormula
            declared = descend(function, {"parameter_declaration"})
            names = tuple(text_of(next(descend(one, {"identifier"}), None)) for one in declared)
            return self._inlined(text_of(returned[0].named_children[0]), names, given, depth)
        if name in _CASTS and len(given) == 1:
            return self._one(given[0], depth)
        if name not in _FUNCTIONS:
            raise NoFormula
        return f"{_FUNCTIONS[name]}({', '.join(_bare(self._one(one, depth)) for one in given)})"

    def _inlined(self, text: str, names: tuple[str, ...], given: list[Node], depth: int) -> str:
        """A text in whose place its parameters stand as written."""
        values: Mapping[str, str] = dict(zip(names, map(text_of, given), strict=False))
        inlined = _WORD.sub(lambda w: f"({values[w[0]]})" if w[0] in values else w[0], text)
        return self._one(parsed(inlined), depth)

    def _inner(self, node: Node, depth: int) -> str:
        return self._one(node.named_children[-1], depth)


def _bare(formula: str) -> str:
    """Without brackets around all of it."""
    inner, depth = formula[1:-1], 0
    for letter in inner:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth < 0:
            return formula
    return inner if formula.startswith("(") and formula.endswith(")") else formula


def _given(listed: Node | None) -> list[Node]:
    return [one for one in listed.named_children if one.type != "comment"] if listed else []


def _called(node: Node) -> str:
    return text_of(node.child_by_field_name("function")).rpartition("::")[2].partition("<")[0]


_RULES: Mapping[str, Callable[[Formulas, Node, int], str]] = {
    "identifier": Formulas._identifier,
    "binary_expression": Formulas._binary,
    "call_expression": Formulas._call,
    "parenthesized_expression": Formulas._inner,
    "cast_expression": Formulas._inner,
}
