"""Kernel arguments as text: `f32[64]=rand` is a buffer, `i32=7` a scalar.

    SPEC is  TYPE[COUNT]=zeros|ones|arange|rand|shuffle|unset|VALUE|@file.npy   or   TYPE=VALUE

A buffer filled with a VALUE has it in every element: `f32[15]=2`. One that is `unset` is as
cudaMalloc gives it: what is read before it is written is nobody's value. The same texts are used
on the command line, in lessons and in files of launches.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from gpuviz import free_memory, npy
from gpuviz.errors import InputError
from gpuviz.given import Given

DTYPES: dict[str, type[np.generic]] = {
    "i8": np.int8,
    "u8": np.uint8,
    "i16": np.int16,
    "u16": np.uint16,
    "i32": np.int32,
    "u32": np.uint32,
    "i64": np.int64,
    "u64": np.uint64,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
}
_LARGEST = 1 << 40  # bytes of a file of numbers: the count of the SPEC says how many are read
UNSET, NOBODYS = "unset", 0xCD  # every byte of what nobody set: large numbers, that show
FILLS = ("zeros", "ones", "arange", "rand", "shuffle", UNSET)
_COPIES, _SHUFFLING = 3, 8
_PIECE = 1 << 16  # elements made at a time

_SPEC = re.compile(r"\s*(\w+)\s*(?:\[\s*([\w+-]*)\s*\])?\s*=(.*)$", re.DOTALL)
_FORM = (
    "TYPE[COUNT]=zeros|ones|arange|rand|shuffle|unset|VALUE|@file.npy or TYPE=VALUE, "
    "as in f32[64]=rand, f32[64]=2 or i32=7"
)


@dataclass(frozen=True)
class BufferSpec:
    """A buffer of `count` elements.

    `fill` is one of FILLS, a number that every element gets, or `@` and the name of a .npy file.
    """

    dtype: str
    count: int
    fill: str

    @property
    def size(self) -> int:
        """Bytes."""
        return self.count * np.dtype(DTYPES[self.dtype]).itemsize

    def __str__(self) -> str:
        return f"{self.dtype}[{self.count}]={self.fill}"


@dataclass(frozen=True)
class ScalarSpec:
    """A scalar passed by value."""

    dtype: str
    value: int | float

    def __str__(self) -> str:
        return f"{self.dtype}={self.value}"


Spec = BufferSpec | ScalarSpec | Given
_Values = Callable[[int, int], npt.NDArray[Any]]


def parse(text: str) -> Spec:
    """The argument a SPEC describes; InputError says what is wrong with it."""
    match = _SPEC.match(text)
    if match is None:
        raise InputError(f"Argument {text!r} is not understood: write {_FORM}.")
    dtype, count, value = match[1], match[2], match[3].strip()
    if dtype not in DTYPES:
        raise InputError(f"Argument {text!r}: type {dtype!r} is none of {', '.join(DTYPES)}.")
    if count is None:
        return _scalar(text, dtype, value)
    return BufferSpec(dtype, _count(text, count), _fill(text, dtype, value))


def _count(text: str, count: str) -> int:
    if not count.isascii() or not count.isdecimal() or int(count) == 0:
        raise InputError(f"Argument {text!r}: the count {count!r} is not a whole number above 0.")
    return int(count)


def _fill(text: str, dtype: str, value: str) -> str:
    if value in FILLS or (value.startswith("@") and len(value) > 1):
        return value
    try:
        return str(_number(text, dtype, value))
    except ValueError:
        raise InputError(
            f"Argument {text!r}: a buffer is filled with {', '.join(FILLS)}, a "
            f"{_kind(dtype)} or @file.npy, not with {value!r}."
        ) from None


def _scalar(text: str, dtype: str, value: str) -> ScalarSpec:
    if value in FILLS or value.startswith("@"):
        raise InputError(f"Argument {text!r} lacks a count: write {dtype}[COUNT]={value}.")
    try:
        return ScalarSpec(dtype, _number(text, dtype, value))
    except ValueError:
        raise InputError(
            f"Argument {text!r}: the value {value!r} is not a {_kind(dtype)}."
        ) from None


def _kind(dtype: str) -> str:
    """What a value of the type is called."""
    return "number" if dtype[0] == "f" else "whole number"


def _number(text: str, dtype: str, value: str) -> int | float:
    """A value of the type; ValueError when it is no number at all."""
    return float(value) if dtype[0] == "f" else _integer(text, dtype, value)


def _integer(text: str, dtype: str, value: str) -> int:
    number, limits = int(value, 0), np.iinfo(np.dtype(DTYPES[dtype]))
    if not limits.min <= number <= limits.max:
        raise InputError(
            f"Argument {text!r}: {number} does not fit {dtype} ({limits.min} to {limits.max})."
        )
    return number


def check_room(specs: Iterable[Spec]) -> None:
    """Refuse arguments that this machine has no memory for, before any is made.

    Each is made, placed, and copied when the launch has ended; to be shuffled it takes up to 8
    bytes for each element.

    Raises
    ------
    InputError : says how much they need, and how much there is
    """
    buffers = [spec for spec in specs if isinstance(spec, BufferSpec)]
    shuffled = max((spec.count for spec in buffers if spec.fill == "shuffle"), default=0)
    needed = sum(spec.size for spec in buffers) * _COPIES + shuffled * _SHUFFLING
    free_memory.check(needed, "the arguments need")


@overload
def materialise(spec: BufferSpec, seed_index: int = 0) -> npt.NDArray[Any]: ...
@overload
def materialise(spec: ScalarSpec, seed_index: int = 0) -> np.generic: ...
@overload
def materialise(spec: Given, seed_index: int = 0) -> npt.NDArray[Any]: ...
def materialise(spec: Spec, seed_index: int = 0) -> npt.NDArray[Any] | np.generic:
    """The values: a 1-D array of a buffer, a NumPy scalar else.

    `rand` depends on `seed_index` (the argument's position) alone: floats are uniform in [0, 1),
    integers uniform in [0, count) as far as the type goes, so that they can serve as indices.
    `shuffle` is 0, 1, ... count - 1 in an order that depends on `seed_index` alone. Of `unset` all
    bytes are `NOBODYS`.
    """
    if isinstance(spec, Given):
        return spec.values
    if isinstance(spec, ScalarSpec):
        with np.errstate(over="ignore"):  # 1e99 as f32 is infinity, as in C
            return DTYPES[spec.dtype](spec.value)
    if spec.fill.startswith("@"):
        return _from_file(spec, Path(spec.fill[1:]))
    try:
        return _filled(spec, np.dtype(DTYPES[spec.dtype]), seed_index)
    except (MemoryError, ValueError):  # ValueError: beyond what any array may have
        raise InputError(
            f"Argument {spec}: {spec.size:,} bytes are more than the memory of this machine."
        ) from None


def _filled(spec: BufferSpec, dtype: np.dtype[Any], seed_index: int) -> npt.NDArray[Any]:
    random = np.random.default_rng(seed_index)
    if spec.fill == "rand":
        draw = _floats(dtype, random) if dtype.kind == "f" else _indices(spec, dtype, random)
        return _in_pieces(spec.count, dtype, draw)
    if spec.fill == "arange":
        return _in_pieces(spec.count, dtype, np.arange)
    if spec.fill == "shuffle":
        values = _in_pieces(spec.count, np.dtype(np.min_scalar_type(-spec.count)), np.arange)
        random.shuffle(values)
        with np.errstate(over="ignore"):  # counts beyond a small type wrap round
            return values.astype(dtype, copy=False)
    if spec.fill == UNSET:
        return np.full(spec.size, NOBODYS, np.uint8).view(dtype)
    if spec.fill == "zeros":
        return np.zeros(spec.count, dtype)
    if spec.fill == "ones":
        return np.ones(spec.count, dtype)
    value = _number(str(spec), spec.dtype, spec.fill)
    with np.errstate(over="ignore"):  # as a scalar: 1e99 as f32 is infinity
        return np.full(spec.count, np.array(value, _wide(dtype)).astype(dtype), dtype)


def _wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type that a fill's number is first read as."""
    return np.dtype(np.float64) if dtype.kind == "f" else dtype


def _in_pieces(count: int, dtype: np.dtype[Any], values: _Values) -> npt.NDArray[Any]:
    """`values(first, end)` for all of the count: what is wider than `dtype` stays in the caches."""
    made = np.empty(count, dtype)
    with np.errstate(over="ignore"):  # counts beyond a small type wrap round
        for first in range(0, count, _PIECE):
            end = min(first + _PIECE, count)
            made[first:end] = values(first, end).astype(dtype, copy=False)
    return made


def _floats(dtype: np.dtype[Any], random: np.random.Generator) -> _Values:
    below_one = np.nextafter(dtype.type(1), dtype.type(0))  # rounding to f16 reaches 1

    def drawn(first: int, end: int) -> npt.NDArray[Any]:
        return np.asarray(np.minimum(random.random(end - first).astype(dtype), below_one))

    return drawn


def _indices(spec: BufferSpec, dtype: np.dtype[Any], random: np.random.Generator) -> _Values:
    high = min(spec.count, int(np.iinfo(dtype).max) + 1)
    return lambda first, end: random.integers(0, high, end - first, dtype=np.int64)


def _from_file(spec: BufferSpec, path: Path) -> npt.NDArray[Any]:
    wanted = np.dtype(DTYPES[spec.dtype])
    try:
        with npy.opened(path, _LARGEST) as stored:
            if stored.dtype == wanted and stored.count == spec.count:
                return np.ascontiguousarray(stored.values()).reshape(-1)
    except InputError as error:
        raise InputError(f"Argument {spec}: {error}.") from None
    raise InputError(
        f"Argument {spec}: {path} holds {stored.count} elements of {stored.dtype}, "
        f"not {spec.count} of {wanted}."
    )
