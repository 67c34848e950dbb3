"""Arguments as an engine takes them: arrays are buffers, NumPy scalars are passed by value, and
what is passed by value and has pointers in it is a `Passed`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gpuviz.arguments.filling import materialise
from gpuviz.arguments.specs import (
    UNSET,
    BufferSpec,
    ImageSpec,
    PointerSpec,
    ScalarSpec,
    Spec,
    StructSpec,
    VariableSpec,
    size_of,
)
from gpuviz.arrays import Array
from gpuviz.given import Given


@dataclass(frozen=True, eq=False)
class Pointer:
    """At byte `at` of what is passed lies the address of a buffer, `offset` bytes from its start.

    `to` is the buffer, or the number of the argument that it is. `name` is that of the field, ""
    where the whole argument is the pointer. A handle of an `image` is the address of its texels.
    """

    at: int
    to: Array | int
    offset: int = 0
    name: str = ""
    unset: bool = False
    image: ImageSpec | None = None


@dataclass(frozen=True, eq=False)
class Passed:
    """Bytes passed by value, with addresses to be filled in; `values` are its fields by name."""

    data: bytes
    pointers: tuple[Pointer, ...] = ()
    values: tuple[tuple[str, int | float], ...] = ()


def passed(specs: Sequence[Spec]) -> list[Array | Passed]:
    """The arguments of a kernel; without the variables, which come after them."""
    given = (spec for spec in specs if not isinstance(spec, VariableSpec))
    return [_one(spec, number) for number, spec in enumerate(given)]


def variables(specs: Sequence[Spec]) -> Mapping[str, Passed]:
    """What variables of the module hold, by name."""
    return {
        spec.name: _bytes(spec.spec, number)
        for number, spec in enumerate(specs)
        if isinstance(spec, VariableSpec)
    }


def _one(spec: Spec, number: int) -> Array | Passed:
    if isinstance(spec, Given):
        return spec.values
    if isinstance(spec, ScalarSpec) or (isinstance(spec, BufferSpec) and not spec.offset):
        return np.asarray(materialise(spec, number))
    return _bytes(spec, number)


def _bytes(spec: Spec, number: int) -> Passed:
    """An argument as bytes. The buffers of a structure are drawn each for itself."""
    if isinstance(spec, PointerSpec):
        return Passed(bytes(8), (Pointer(0, spec.number, spec.offset),))
    if isinstance(spec, StructSpec):
        return _struct(spec, number)
    assert not isinstance(spec, VariableSpec | Given)
    if isinstance(spec, BufferSpec | ImageSpec):
        return Passed(bytes(8), (_pointer(0, spec, number, ""),))
    value = np.asarray(materialise(spec, number))
    values = (("", value.item()),) if isinstance(spec, ScalarSpec) else ()
    return Passed(value.tobytes(), (), values)


def _struct(spec: StructSpec, number: int) -> Passed:
    content, pointers, values = bytearray(spec.size), list[Pointer](), []
    for place, field in enumerate(spec.fields):
        inner, at = field.spec, field.offset
        if isinstance(inner, PointerSpec):
            pointers.append(Pointer(at, inner.number, inner.offset, field.name))
            continue
        if isinstance(inner, Given):
            pointers.append(Pointer(at, inner.values, 0, field.name))
            continue
        seed = number + 31 * (place + 1)
        if isinstance(inner, BufferSpec | ImageSpec):
            pointers.append(_pointer(at, inner, seed, field.name))
            continue
        made = np.asarray(materialise(inner, seed))
        if isinstance(inner, ScalarSpec):
            values.append((field.name, made.item()))
        data = made.tobytes()
        content[at : at + len(data)] = data
    return Passed(bytes(content), tuple(pointers), tuple(values))


def _pointer(at: int, spec: BufferSpec | ImageSpec, seed: int, name: str) -> Pointer:
    if isinstance(spec, ImageSpec):
        texels = np.asarray(materialise(spec.texels, seed))
        return Pointer(at, texels, 0, name, spec.fill == UNSET, spec)
    offset = spec.offset * size_of(spec.dtype)
    return Pointer(at, np.asarray(materialise(spec, seed)), offset, name, spec.fill == UNSET)
