"""Arrays as CuPy passes them to a kernel: a CArray (pointer, size, shape, strides), a shape as a
CIndexer (include/cupy/carray.cuh), with as few dimensions as can be.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from gpuviz.arguments.specs import ArrayArgument, Field, ScalarSpec, StructSpec
from gpuviz.base.errors import InputError
from gpuviz.integrations.arguments import Arguments

_INDEX_32 = 1 << 31  # bytes below which indices have 32 bits
Shape = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class View:
    """An array with the dimensions that a kernel sees of it; `strides` are in bytes."""

    array: Any
    shape: Shape
    strides: Shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of its elements."""
        found: np.dtype[Any] = np.dtype(self.array.dtype)
        return found

    @property
    def contiguous(self) -> bool:
        """Whether its elements follow each other as in C."""
        steps = contiguous(self.shape, self.dtype.itemsize)
        return all(
            n == 1 or s == t for n, s, t in zip(self.shape, self.strides, steps, strict=True)
        )


def view(array: Any) -> View:
    """An array as it is."""
    steps = contiguous(array.shape, np.dtype(array.dtype).itemsize)
    return View(array, tuple(array.shape), tuple(getattr(array, "strides", None) or steps))


def contiguous(shape: Shape, step: int) -> Shape:
    """The strides of elements of `step` bytes that follow each other as in C."""
    return tuple(step * prod(shape[n + 1 :]) for n in range(len(shape)))


def broadcast(name: str, views: Sequence[View]) -> Shape:
    """The shape that arrays have together."""
    shapes = [view.shape for view in views]
    if not shapes:
        raise InputError(f"{name} needs at least one array that is not raw")
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        told = ", ".join(map(str, shapes))
        raise InputError(f"{name}: arrays of shapes {told} do not go together") from None


def spread(arg: Any, shape: Shape) -> Any:
    """An array as one of that shape: what it repeats has a stride of 0."""
    if not isinstance(arg, View) or arg.shape == shape:
        return arg
    missing = len(shape) - len(arg.shape)
    pairs = zip(arg.shape, arg.strides, strict=True)
    steps = [0 if n == 1 else step for n, step in pairs]
    return View(arg.array, shape, (*[0] * missing, *steps))


def permuted(arg: Any, order: Sequence[int]) -> Any:
    """An array with its dimensions in another order; anything else as it is."""
    if not isinstance(arg, View):
        return arg
    return View(arg.array, tuple(arg.shape[n] for n in order), tuple(arg.strides[n] for n in order))


def reshaped(name: str, arg: Any, shape: Shape) -> View:
    """An output, whose dimensions of one element do not count."""
    if not isinstance(arg, View) or prod(arg.shape) != prod(shape) or not arg.contiguous:
        given = getattr(arg, "shape", type(arg).__name__)
        raise InputError(f"{name} leaves {shape}: its output is {given}")
    return View(arg.array, shape, contiguous(shape, arg.dtype.itemsize))


def merged(args: Sequence[Any], shape: Shape, raw: Sequence[bool]) -> tuple[list[Any], Shape]:
    """The same with as few dimensions as can be, as CuPy reduces them; raw ones stay."""
    views = [arg for arg, r in zip(args, raw, strict=False) if isinstance(arg, View) and not r]
    kept = [n for n, size in enumerate(shape) if size != 1]
    groups: list[list[int]] = []
    for n in kept:
        last = groups[-1][-1] if groups else -1
        if groups and all(v.strides[last] == shape[n] * v.strides[n] for v in views):
            groups[-1].append(n)
        else:
            groups.append([n])
    sizes = tuple(prod(shape[n] for n in group) for group in groups)
    if not sizes and shape:
        groups, sizes = [[len(shape) - 1]], (1,)
    if len(shape) <= 1:
        return list(args), shape
    fewer = [
        View(arg.array, sizes, tuple(arg.strides[group[-1]] for group in groups))
        if isinstance(arg, View) and not r
        else arg
        for arg, r in zip(args, raw, strict=False)
    ]
    return fewer, sizes


def row_length(view: View, out_shape: Shape) -> int:
    """Elements that follow each other along the dimensions that stay."""
    found = 1
    for size, step in zip(out_shape[::-1], view.strides[::-1], strict=False):
        if step != found * view.dtype.itemsize:
            break
        found *= size
    return found


def short(view: View) -> bool:
    """Whether CuPy counts its bytes in 32 bits."""
    return prod(view.shape) * view.dtype.itemsize < _INDEX_32


def carray(made: Arguments, name: str, view: View) -> StructSpec:
    """CuPy's CArray: pointer, size, shape, strides."""
    array = view.array
    if isinstance(array, np.ndarray) and not array.ndim:
        array = array.reshape(1)  # a view of it
    kept = made.kept(f"{name}.data", array)
    size = ("size", prod(view.shape))
    numbers = _numbers(8, [size, *_named("shape", view.shape), *_named("strides", view.strides)])
    return StructSpec(
        8 + 8 * len(numbers), (Field("data", 0, ArrayArgument(kept.values)), *numbers)
    )


def indexer(shape: Shape) -> StructSpec:
    """CuPy's CIndexer: size, shape, and room for an index."""
    size = ("size", prod(shape))
    index = [0] * len(shape)
    numbers = _numbers(0, [size, *_named("shape", shape), *_named("index", index)])
    return StructSpec(8 * len(numbers), numbers)


def _named(what: str, numbers: Sequence[int]) -> list[tuple[str, int]]:
    return [(f"{what}{n}" if len(numbers) > 1 else what, n_) for n, n_ in enumerate(numbers)]


def _numbers(start: int, named: Sequence[tuple[str, int]]) -> tuple[Field, ...]:
    """Numbers of 64 bits one after another."""
    return tuple(
        Field(name, start + 8 * n, ScalarSpec("i64", value))
        for n, (name, value) in enumerate(named)
    )
