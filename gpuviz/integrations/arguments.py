"""The arguments of a launch: arrays as buffers, numbers as values, texts as on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpuviz.arguments import Spec, parse
from gpuviz.arguments.specs import ArrayArgument
from gpuviz.base.errors import InputError
from gpuviz.integrations.host_arrays import HostArray, host_array, is_array, overlapping
from gpuviz.ptx.text.ir import Variable

_BITS = {1: 8, 2: 16, 4: 32, 8: 64}


class Arguments:
    """Arguments put together one by one; an array that comes again is the same buffer."""

    def __init__(self) -> None:
        self.specs: list[Spec] = []
        self.names: list[str] = []
        self.arrays: dict[str, HostArray] = {}

    def array(self, name: str, value: Any) -> None:
        """A pointer to the elements of an array."""
        self.add(name, ArrayArgument(self.kept(name, value).values))

    def kept(self, name: str, value: Any) -> HostArray:
        """The memory of an array, which is that of an earlier one where they are the same."""
        made = value if isinstance(value, HostArray) else host_array(value, f"argument {name}")
        known = next((a for a in self.arrays.values() if _same(a, made)), made)
        if known is made:
            self.arrays[name] = made
        return known

    def number(self, name: str, value: np.generic) -> None:
        """A value, of the size that it has."""
        self.add(name, ArrayArgument(np.asarray(value)))

    def spec(self, name: str, text: str) -> None:
        """A SPEC, as on the command line."""
        self.add(name, parse(text))

    def add(self, name: str, spec: Spec) -> None:
        """Any argument."""
        self.names.append(name)
        self.specs.append(spec)

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know of them."""
        return tuple(filter(None, [overlapping(list(self.arrays.items()))]))


def _same(one: HostArray, other: HostArray) -> bool:
    return one.span == other.span and one.values.dtype == other.values.dtype


def collected(
    args: Sequence[Any], names: Sequence[str], parameters: Sequence[Variable]
) -> Arguments:
    """Arguments of a kernel with these parameters: arrays, numbers, or SPECs as texts.

    Raises
    ------
    InputError : one is nothing of these, or does not fit its parameter
    """
    if len(args) != len(parameters):
        told = f" ({', '.join(names)})" if names else ""
        raise InputError(
            f"the kernel takes {len(parameters)} arguments{told}, {len(args)} were given"
        )
    made = Arguments()
    for number, (value, parameter) in enumerate(zip(args, parameters, strict=True)):
        name = names[number] if number < len(names) else f"arg{number}"
        if isinstance(value, str):
            made.spec(name, value)
        elif isinstance(value, HostArray) or is_array(value):
            made.array(name, value)
        else:
            made.number(name, scalar(value, parameter, name))
    return made


def scalar(value: Any, parameter: Variable, name: str) -> np.generic:
    """A number as the type of its parameter; NumPy's numbers keep their own.

    Raises
    ------
    InputError : it is no number, or does not fit
    """
    if isinstance(value, np.generic):
        return value
    if isinstance(value, np.ndarray):  # without dimensions
        return value.dtype.type(value[()])  # type: ignore[no-any-return]
    if not isinstance(value, bool | int | float):
        raise InputError(
            f"argument {name} is a {type(value).__name__}: give an array, a number, or a text such "
            "as f32[1024]=rand"
        )
    bits = _BITS.get(parameter.size)
    if bits is None:
        raise InputError(
            f"argument {name} takes {parameter.size} bytes: give a NumPy value of that type"
        )
    floating = parameter.type.startswith("f") or isinstance(value, float)
    kinds = [f"float{bits}"] if floating else [f"int{bits}", f"uint{bits}"]
    for kind in kinds:
        if floating and bits == 8:
            break
        dtype = np.dtype(kind)
        if floating or np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
            return dtype.type(value)  # type: ignore[no-any-return]
    raise InputError(f"argument {name} is {value!r}: its parameter has {bits} bits")
