"""The values of arguments: arrays made, drawn, or read from files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from gpuviz.arguments.dtypes import DTYPES
from gpuviz.arguments.from_files import from_file
from gpuviz.arguments.given import ArrayArgument
from gpuviz.arguments.parser import number
from gpuviz.arguments.small_floats import ENCODED
from gpuviz.arguments.specs import UNSET, ArraySpec, BufferSpec, ScalarSpec, Spec, buffers_of
from gpuviz.base.errors import InputError
from gpuviz.processes import free_memory
from gpuviz.words.language import tr

NOBODYS = 0xCD  # every byte of what nobody set: large numbers, that show
_COPIES, _SHUFFLING = 3, 8
_PIECE = 1 << 16  # elements made at a time
_SEEDED = re.compile(r"(\w+)\((\d+)\)")

_Buffer = BufferSpec | ArraySpec
_Values = Callable[[int, int], npt.NDArray[Any]]


def check_room(specs: Iterable[Spec]) -> None:
    """Refuse arguments that this machine has no memory for, before any is made.

    Each is made, placed, and copied when the launch has ended; to be shuffled it takes up to 8
    bytes for each element.

    Raises
    ------
    InputError : says how much they need, and how much there is
    """
    buffers = [one for spec in specs for one in buffers_of(spec)]
    shuffled = max((one.count for one in buffers if one.fill.startswith("shuffle")), default=0)
    needed = sum(spec.size for spec in buffers) * _COPIES + shuffled * _SHUFFLING
    free_memory.check(needed, "the arguments need")


@overload
def materialise(spec: BufferSpec | ArraySpec, seed_index: int = 0) -> npt.NDArray[Any]: ...
@overload
def materialise(spec: ScalarSpec, seed_index: int = 0) -> np.generic: ...
@overload
def materialise(spec: ArrayArgument, seed_index: int = 0) -> npt.NDArray[Any]: ...
def materialise(
    spec: BufferSpec | ArraySpec | ScalarSpec | ArrayArgument, seed_index: int = 0
) -> npt.NDArray[Any] | np.generic:
    """The values: a 1-D array of a buffer or an array, a NumPy scalar else.

    `rand` depends on `seed_index` (the argument's position) alone: floats are uniform in [0, 1),
    integers uniform in [0, count) as far as the type goes, so that they can serve as indices.
    `shuffle` is 0, 1, ... count - 1 in an order that depends on `seed_index` alone. A seed in
    brackets is used in its place. Of `unset` all bytes are `NOBODYS`.
    """
    if isinstance(spec, ArrayArgument):
        return spec.values
    if isinstance(spec, ScalarSpec):
        return _filled(ArraySpec(spec.dtype, 1, str(spec.value)), 0)[0]  # type: ignore[no-any-return]
    if spec.fill.startswith("@"):
        return from_file(spec, Path(spec.fill[1:]))
    try:
        return _filled(spec, seed_index)
    except (MemoryError, ValueError):  # ValueError: beyond what any array may have
        raise InputError(
            tr(
                "Argument {argument}: {n} bytes are more than the memory of this machine.",
                argument=spec,
                n=f"{spec.size:,}",
            )
        ) from None


def _filled(spec: _Buffer, seed: int) -> npt.NDArray[Any]:
    dtype = np.dtype(DTYPES[spec.dtype])
    if spec.dtype in ENCODED and spec.fill != UNSET:
        return ENCODED[spec.dtype](_filled(replace(spec, dtype="f32"), seed))
    fill = spec.fill
    if said := _SEEDED.fullmatch(fill):
        fill, seed = said[1], int(said[2])
    random = np.random.default_rng(seed)
    if fill == "rand":
        draw = _floats(dtype, random) if dtype.kind == "f" else _indices(spec, dtype, random)
        return _in_pieces(spec.count, dtype, draw)
    if fill == "arange":
        return _in_pieces(spec.count, dtype, np.arange)
    if fill == "shuffle":
        values = _in_pieces(spec.count, np.dtype(np.min_scalar_type(-spec.count)), np.arange)
        random.shuffle(values)
        with np.errstate(over="ignore"):  # counts beyond a small type wrap round
            return values.astype(dtype, copy=False)
    if fill == UNSET:
        return np.full(spec.size, NOBODYS, np.uint8).view(dtype)
    if fill in ("zeros", "ones"):
        return np.zeros(spec.count, dtype) if fill == "zeros" else np.ones(spec.count, dtype)
    return _written(spec, fill, dtype)


def _written(spec: _Buffer, fill: str, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """One value for all elements, or one for each."""
    listed = fill[1:-1].split(",") if fill.startswith("[") else [fill]
    values = [number(str(spec), spec.dtype, one) for one in listed]
    with np.errstate(over="ignore"):  # 1e99 as f32 is infinity, as in C
        made = np.array(values, _wide(dtype)).astype(dtype)
        return made if len(made) == spec.count else np.full(spec.count, made, dtype)


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


def _indices(spec: _Buffer, dtype: np.dtype[Any], random: np.random.Generator) -> _Values:
    high = min(spec.count, int(np.iinfo(dtype).max) + 1)
    return lambda first, end: random.integers(0, high, end - first, dtype=np.int64)
