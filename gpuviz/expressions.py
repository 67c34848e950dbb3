"""Whole numbers written as arithmetic, `ceil(1024 / x)`, evaluated exactly; nothing else is run."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import ceil, floor

from gpuviz.errors import InputError

_LETTERS = 200  # of one expression
_LARGEST = 2**64
_OPERATORS: Mapping[type, Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: lambda a, b: Fraction(a // b),
    ast.Mod: operator.mod,
}
_FUNCTIONS: Mapping[str, Callable[..., Fraction | int]] = {
    "ceil": ceil,
    "floor": floor,
    "min": min,
    "max": max,
}
_BRACES = re.compile(r"\{([^{}]*)\}")


def evaluate(text: str, names: Mapping[str, int]) -> int:
    """The whole number of an expression of + - * / // %, ceil, floor, min, max and names.

    Raises
    ------
    InputError : it is no such expression, uses a name there is not, or is no whole number
    """
    try:
        if len(text) > _LETTERS:
            raise ValueError(f"more than {_LETTERS} letters")
        found = _value(ast.parse(text.strip(), mode="eval").body, names)
    except ZeroDivisionError:
        raise InputError(f"{text[:_LETTERS]!r} divides by zero") from None
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        known = ", ".join((*_FUNCTIONS, *names))
        raise InputError(
            f"{text[:_LETTERS]!r} is no arithmetic: {str(error)[:_LETTERS]}; there are + - * / // "
            f"% and {known}"
        ) from None
    if found.denominator != 1:
        raise InputError(
            f"{text!r} is {float(found):g}: use ceil(...) or //, as a whole number is needed"
        )
    return int(found)


def filled(text: str, names: Mapping[str, int]) -> str:
    """A text with each `{expression}` replaced by its value; as `evaluate` raises."""
    return _BRACES.sub(lambda found: str(evaluate(found[1], names)), text)


def names_in(text: str) -> frozenset[str]:
    """The names that the `{expressions}` of a text use; none where one cannot be read."""
    found: set[str] = set()
    for part in _BRACES.findall(text):
        try:
            tree = ast.parse(part.strip(), mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        inner = {
            node.value.id: f"{node.value.id}.{node.attr}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        }
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        found |= {inner.get(name, name) for name in names}
    return frozenset(found - set(_FUNCTIONS))


def _value(node: ast.expr, names: Mapping[str, int]) -> Fraction:
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            found = Fraction(number)
        case ast.Name(id=name) if name in names:
            found = Fraction(names[name])
        case ast.Attribute(value=ast.Name(id=of), attr=part) if (name := f"{of}.{part}") in names:
            found = Fraction(names[name])
        case ast.Name(id=name):
            raise ValueError(f"there is no {name!r}")
        case ast.UnaryOp(op=ast.USub(), operand=one):
            found = -_value(one, names)
        case ast.BinOp(op=kind, left=left, right=right) if type(kind) in _OPERATORS:
            found = _OPERATORS[type(kind)](_value(left, names), _value(right, names))
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as given, keywords=[]) if (
            name in _FUNCTIONS
        ):
            found = Fraction(_FUNCTIONS[name](*(_value(one, names) for one in given)))
        case _:
            raise ValueError(f"{ast.unparse(node)!r} cannot be here")
    if abs(found) > _LARGEST or found.denominator > _LARGEST:
        raise ValueError("a number beyond 64 bits")
    return found
