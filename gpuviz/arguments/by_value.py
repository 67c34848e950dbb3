"""Arguments as an engine takes them: arrays are buffers, NumPy scalars are passed by value, and
what is passed by value and has pointers in it is a `ByValue`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gpuviz.arguments.dtypes import size_of
from gpuviz.arguments.filling import materialise
from gpuviz.arguments.specs import (
    UNSET,
    ArrayArgument,
    BufferSpec,
    Elsewhere,
    Field,
    ImageSpec,
    Inline,
    PointerSpec,
    ScalarSpec,
    Spec,
    StructSpec,
    VariableSpec,
    content_of,
)
from gpuviz.arguments.tensor_maps import ADDRESS_AT, TensorMapSpec
from gpuviz.base.arrays import Array


@dataclass(frozen=True)
class Recipe:
    """A buffer that is not made yet; see `materialise`."""

    spec: BufferSpec
    seed: int

    @cached_property
    def values(self) -> Array:
        """The buffer, made once."""
        return np.asarray(materialise(self.spec, self.seed))


@dataclass(frozen=True, eq=False)
class Pointer:
    """At byte `at` of what is passed lies the address of a buffer, `offset` bytes from its start.

    `to` is the buffer, or the number of the argument that it is. `name` is that of the field, ""
    where the whole argument is the pointer. A handle of an `image` is the address of its texels.
    """

    at: int
    to: Recipe | Array | int
    offset: int = 0
    name: str = ""
    unset: bool = False
    image: ImageSpec | None = None


@dataclass(frozen=True, eq=False)
class ByValue:
    """Bytes passed by value, with addresses to be filled in; `values` are its fields by name.

    Those of a `tensor_map` are the emulator's: a device wants others.
    """

    data: bytes
    pointers: tuple[Pointer, ...] = ()
    values: tuple[tuple[str, int | float], ...] = ()
    tensor_map: TensorMapSpec | None = None


def passed(specs: Sequence[Spec]) -> list[Array | ByValue]:
    """The arguments of a kernel; without the variables, which come after them."""
    return [one.values if isinstance(one, Recipe) else one for one in described(specs)]


def described(specs: Sequence[Spec]) -> list[Recipe | Array | ByValue]:
    """As `passed`, where the buffers are not made yet."""
    given = (spec for spec in specs if not isinstance(spec, VariableSpec))
    return [_one(spec, number) for number, spec in enumerate(given)]


def variables(specs: Sequence[Spec]) -> Mapping[str, ByValue]:
    """What variables of the module hold, by name."""
    return {
        spec.name: _bytes(spec.spec, number)
        for number, spec in enumerate(specs)
        if isinstance(spec, VariableSpec)
    }


def _one(spec: Spec, number: int) -> Recipe | Array | ByValue:
    if isinstance(spec, ArrayArgument):
        return spec.values
    if isinstance(spec, BufferSpec) and not spec.offset:
        return Recipe(spec, number)
    if isinstance(spec, ScalarSpec):
        return np.asarray(materialise(spec, number))
    return _bytes(spec, number)


def _bytes(spec: Spec, number: int) -> ByValue:
    """An argument as bytes. The buffers of a structure are drawn each for itself."""
    assert not isinstance(spec, VariableSpec)
    if isinstance(spec, TensorMapSpec):
        return _tensor_map(spec, number)
    if isinstance(spec, StructSpec):
        seeds = range(number + 31, number + 31 * (len(spec.fields) + 1), 31)
        return _laid_out(spec.size, spec.fields, seeds)
    size = spec.size if isinstance(spec, Inline) else 8
    return _laid_out(size, (Field("", 0, spec),), (number,))


def _laid_out(size: int, fields: Sequence[Field], seeds: Sequence[int]) -> ByValue:
    content, pointers, values = bytearray(size), list[Pointer](), []
    for field, seed in zip(fields, seeds, strict=True):
        spec, at = field.spec, field.offset
        if isinstance(spec, Inline):
            made = np.asarray(materialise(spec, seed))
            content[at : at + made.nbytes] = made.tobytes()
            if isinstance(spec, ScalarSpec):
                values.append((field.name, made.item()))
        else:
            pointers.append(_pointer(at, spec, seed, field.name))
    return ByValue(bytes(content), tuple(pointers), tuple(values))


def _tensor_map(spec: TensorMapSpec, seed: int) -> ByValue:
    """As the emulator knows it; `tensor_map` says what it is."""
    to = Recipe(content_of(spec), seed) if spec.to is None else spec.to
    pointer = Pointer(ADDRESS_AT, to, spec.offset, "", spec.fill == UNSET)
    return ByValue(spec.map_at(spec.offset).encoded(), (pointer,), (), spec)


def _pointer(at: int, spec: Elsewhere, seed: int, name: str) -> Pointer:
    if isinstance(spec, PointerSpec):
        return Pointer(at, spec.number, spec.offset, name)
    if isinstance(spec, ArrayArgument):
        return Pointer(at, spec.values, 0, name)
    if isinstance(spec, ImageSpec):
        return Pointer(at, Recipe(spec.texels, seed), 0, name, spec.fill == UNSET, spec)
    offset, whole = spec.offset * size_of(spec.dtype), replace(spec, offset=0)
    return Pointer(at, Recipe(whole, seed), offset, name, spec.fill == UNSET)
