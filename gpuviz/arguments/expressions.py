"""Numbers written as arithmetic, `ceil(1024 / x)`, evaluated exactly; nothing else is run."""

import ast
import operator
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import islice
from math import ceil, floor

from gpuviz.base.errors import InputError

_LETTERS = 200  # of one expression
_LARGEST = 2**64
_FINEST = 2**1100  # the denominator of the smallest float
_OPERATORS: Mapping[type, Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: lambda a, b: Fraction(a // b),
    ast.Mod: operator.mod,
    ast.LShift: lambda a, b: _shifted(a, b),
    ast.RShift: lambda a, b: Fraction(floor(_shifted(a, -b))),
    ast.Pow: lambda a, b: _power(a, b),
}
_FUNCTIONS: Mapping[str, Callable[..., Fraction | int]] = {
    "ceil": ceil,
    "floor": floor,
    "min": min,
    "max": max,
}
_NAMED = 24  # that a message lists
_BRACES = re.compile(r"\{([^{}=;@]*)\}")  # those of a structure, {n=4}, stay


def evaluate(text: str, names: Mapping[str, Fraction | int]) -> int:
    """The whole number of an expression of + - * / // % << >> **, ceil, floor, min, max and names.

    Raises
    ------
    InputError : it is no such expression, uses a name there is not, or is no whole number
    """
    found = number(text, names)
    if found.denominator != 1:
        raise InputError(
            f"{text!r} is {float(found):g}: use ceil(...) or //, as a whole number is needed"
        )
    return int(found)


def number(text: str, names: Mapping[str, Fraction | int]) -> Fraction:
    """The number of such an expression, exactly; InputError as `evaluate`."""
    try:
        if len(text) > _LETTERS:
            raise ValueError(f"more than {_LETTERS} letters")
        return _value(ast.parse(text.strip(), mode="eval").body, names)
    except ZeroDivisionError:
        raise InputError(f"{text[:_LETTERS]!r} divides by zero") from None
    except InputError:
        raise
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        known = ", ".join((*_FUNCTIONS, *islice(names, _NAMED)))
        raise InputError(
            f"{text[:_LETTERS]!r} is no arithmetic: {str(error)[:_LETTERS]}; there are + - * / // "
            f"% and {known}"
        ) from None


def filled(text: str, names: Mapping[str, Fraction | int]) -> str:
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


def _shifted(a: Fraction, b: Fraction) -> Fraction:
    return a * _power(Fraction(2), b)


def _power(a: Fraction, b: Fraction) -> Fraction:
    if b.denominator != 1 or abs(b) > 64:
        raise ValueError(f"a power of {float(b):g}")
    return Fraction(a**b)


def _value(node: ast.expr, names: Mapping[str, Fraction | int]) -> Fraction:
    match node:
        case ast.Constant(value=int(given)) if not isinstance(given, bool):
            found = Fraction(given)
        case ast.Constant(value=float(real)):
            found = Fraction(repr(real))  # 0.1 as written; ValueError for infinity
        case ast.Name() | ast.Attribute():
            found = _named(node, names)
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
    if abs(found) > _LARGEST or found.denominator > _FINEST:
        raise ValueError("a number beyond 64 bits")
    return found


def _named(node: ast.expr, names: Mapping[str, Fraction | int]) -> Fraction:
    """What a name, or one with points in it, stands for."""
    inner = node
    while isinstance(inner, ast.Attribute):
        inner = inner.value
    name = ast.unparse(node)
    if not isinstance(inner, ast.Name):
        raise ValueError(f"{name!r} cannot be here")
    if name not in names:
        raise ValueError(f"there is no {name!r}")
    return Fraction(names[name])
