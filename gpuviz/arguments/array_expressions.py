"""Arrays written as arithmetic, `2 * x + roll(y, 1)`, evaluated by NumPy; nothing else is run.

Floats are taken in double precision, so that a difference is the kernel's own; whole numbers stay
what they are, and wrap.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gpuviz.base.arrays import Array
from gpuviz.base.errors import InputError

_LETTERS = 2000  # of one expression
_BYTES = 1 << 31  # of one array on the way
_POWERS = 64  # largest exponent, and shift, of plain numbers
_OPERATORS: Mapping[type, Callable[[Any, Any], Any]] = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Pow: operator.pow},
    **{ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod},
    **{ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor},
    **{ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.MatMult: operator.matmul},
}
_COMPARISONS: Mapping[type, Callable[[Any, Any], Any]] = {
    **{ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge},
    **{ast.Eq: operator.eq, ast.NotEq: operator.ne},
}
_UNARY: Mapping[type, Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
_NAMES = """
abs sqrt cbrt exp exp2 log log2 log10 sin cos tan tanh arctan2 hypot floor ceil rint trunc sign
minimum maximum clip where sum prod mean min max argmin argmax cumsum cumprod sort argsort bincount
dot matmul roll flip transpose diff ravel concatenate isnan float32 float64 int32 int64 uint32 uint8
"""
FUNCTIONS: Mapping[str, Callable[..., Any]] = {n: getattr(np, n) for n in _NAMES.split()}
_MAKERS: Mapping[str, Callable[[Any], Any]] = {
    "zeros": np.zeros,
    "ones": np.ones,
    "arange": np.arange,
}
_WRONG = (ValueError, TypeError, SyntaxError, IndexError, ArithmeticError, AttributeError)
_OPTIONS = ("axis", "axes", "minlength")


def evaluate(text: str, names: Mapping[str, Any]) -> Array:
    """The array of an expression of arithmetic, comparisons, slices, reshape, the functions of
    NumPy that `FUNCTIONS` names, and names.

    Raises
    ------
    InputError : it is no such expression, uses a name there is not, or takes too much memory
    """
    known = {name: _wide(value) for name, value in names.items()}
    try:
        if len(text) > _LETTERS:
            raise ValueError(f"more than {_LETTERS} letters")
        with np.errstate(all="ignore"):
            return np.asarray(_value(ast.parse(text.strip(), mode="eval").body, known))
    except (*_WRONG, RecursionError, MemoryError) as error:
        there = ", ".join(names) or "no names"
        raise InputError(
            f"{text[:200]!r} cannot be evaluated: {error}; there are {there}"
        ) from None


def _wide(value: Any) -> Any:
    """A float in double precision; all else as it is."""
    found = np.asarray(value)
    if found.ndim == 0:
        return found.item()
    return found.astype(np.float64) if found.dtype.kind == "f" else found


def _bounded(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.nbytes > _BYTES:
        raise ValueError(f"an array of {value.nbytes:,} bytes on the way")
    return value


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=int(number) | float(number)):
            return number
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="np"), attr=name) if name in names:
            return names[name]
        case ast.Name(id="pi") | ast.Attribute(value=ast.Name(id="np"), attr="pi"):
            return np.pi
        case ast.Name(id=name):
            raise ValueError(f"there is no {name!r}")
        case ast.Attribute(value=ast.Name(id=of), attr=part) if f"{of}.{part}" in names:
            return names[f"{of}.{part}"]
        case ast.Attribute(value=of, attr="T"):
            return np.transpose(_value(of, names))
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return tuple(_value(part, names) for part in parts)
        case ast.UnaryOp(op=kind, operand=one) if type(kind) in _UNARY:
            return _bounded(_UNARY[type(kind)](_value(one, names)))
        case ast.BinOp(op=kind, left=left, right=right) if type(kind) in _OPERATORS:
            return _combined(kind, _value(left, names), _value(right, names))
        case ast.Compare(left=left, ops=[kind], comparators=[right]) if type(kind) in _COMPARISONS:
            return _COMPARISONS[type(kind)](_value(left, names), _value(right, names))
        case ast.Subscript(value=of, slice=place):
            return _array(_value(of, names))[_index(place, names)]
        case ast.Call(func=func, args=given, keywords=options):
            return _called(func, given, options, names)
    raise ValueError(f"{ast.unparse(node)!r} cannot be here")


def _array(value: Any) -> Array:
    if not isinstance(value, np.ndarray):
        raise ValueError(f"{value!r} is no array")
    return value


def _combined(kind: ast.operator, left: Any, right: Any) -> Any:
    plain = isinstance(left, int | float) and isinstance(right, int | float)
    if plain and isinstance(kind, ast.Pow | ast.LShift) and abs(right) > _POWERS:
        raise ValueError("a number beyond all bounds")
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        shape = _shape(kind, left, right)
        if 8 * np.prod(shape, dtype=np.float64) > _BYTES:
            raise ValueError(f"an array of shape {shape} on the way")
    return _bounded(_OPERATORS[type(kind)](left, right))


def _shape(kind: ast.operator, left: Array, right: Array) -> tuple[int, ...]:
    """The shape of what is combined."""
    if isinstance(kind, ast.MatMult):
        return left.shape[:-1] + right.shape[-1:] if right.ndim > 1 else left.shape[:-1]
    return np.broadcast_shapes(left.shape, right.shape)


def _index(node: ast.expr, names: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Slice):
        ends = (node.lower, node.upper, node.step)
        return slice(*(None if end is None else _value(end, names) for end in ends))
    if isinstance(node, ast.Tuple):
        return tuple(_index(part, names) for part in node.elts)
    if isinstance(node, ast.Constant) and node.value is None:
        return None
    return _value(node, names)


def _called(
    func: ast.expr, given: list[ast.expr], options: list[ast.keyword], names: Mapping[str, Any]
) -> Any:
    arguments = [_value(one, names) for one in given]
    named = {one.arg: _value(one.value, names) for one in options if one.arg in _OPTIONS}
    if len(named) < len(options):
        raise ValueError(f"only {', '.join(_OPTIONS)} can be given by name")
    match func:
        case ast.Attribute(value=of, attr="reshape"):
            return _array(_value(of, names)).reshape(*arguments)
        case ast.Attribute(value=of, attr=name) if not _is_numpy(of) and name in FUNCTIONS:
            return _bounded(FUNCTIONS[name](_value(of, names), *arguments, **named))
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in FUNCTIONS:
            if name == "bincount":
                _check_bins([*arguments[:1], *named.values()])
            return _bounded(FUNCTIONS[name](*arguments, **named))
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in _MAKERS:
            if any(np.prod(one, dtype=np.float64) * 8 > _BYTES for one in arguments):
                raise ValueError(f"{name} of {arguments} takes too much memory")
            return _MAKERS[name](*arguments)
    raise ValueError(f"{ast.unparse(func)!r} is no function here")


def _check_bins(given: list[Any]) -> None:
    """Refuse to count in more bins than there is room for."""
    if any(np.max(one, initial=0) > _BYTES // 8 for one in given):
        raise ValueError("bincount of numbers beyond all bounds")


def _is_numpy(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "np"
