"""The arguments of a launch: arrays as buffers, numbers as values, texts as on the command line."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuviz.arguments import Spec, parse
from gpuviz.arguments.specs import ArrayArgument
from gpuviz.base.arrays import Array
from gpuviz.base.errors import InputError
from gpuviz.ptx.text.ir import Variable


@dataclass(frozen=True, eq=False)
class HostArray:
    """The memory of an array argument, copied: `values` has the array's own shape where it fills
    its memory without gaps, and is flat where it does not. `restore` writes such values back to the
    array; None where that lies on a GPU.
    """

    values: Array
    restore: Callable[[Array], None] | None = None
    span: tuple[int, int] = (0, 0)  # the addresses it was copied from


def is_array(value: object) -> bool:
    """Whether it is passed as a pointer to its elements."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    # In this order: torch's tensors that need gradients raise when asked for the other.
    return not isinstance(value, np.generic) and (
        hasattr(value, "__dlpack__") or hasattr(value, "__cuda_array_interface__")
    )


def host_array(value: Any, name: str) -> HostArray:
    """The memory of an array, copied; `name` is what errors call it.

    Raises
    ------
    InputError : it has no elements, holds objects, or its elements do not follow each other
    """
    owner = type(value).__module__.partition(".")[0]
    if isinstance(value, np.ndarray):
        return _of_numpy(value, name)
    if owner == "torch":
        return _of_torch(value, name)
    if not hasattr(value, "__cuda_array_interface__"):
        return _of_numpy(np.from_dlpack(value), name)
    read = next((r for r in ("copy_to_host", "get") if hasattr(value, r)), "")
    if not read:
        raise InputError(
            f"{name} is a {type(value).__module__}.{type(value).__name__} on a GPU: give it as a "
            "CuPy array, a torch tensor or a Numba device array"
        )
    described = value.__cuda_array_interface__
    if described.get("strides") is not None and not _dense(described):
        raise InputError(f"{name} has gaps between its elements: give a copy that has none")
    start, values = described["data"][0], np.ascontiguousarray(getattr(value, read)())
    return HostArray(_checked(values, name), span=(start, start + values.nbytes))


def _dense(described: Any) -> bool:
    """Whether the elements follow each other as in C."""
    step = np.dtype(described["typestr"]).itemsize
    for size, stride in zip(described["shape"][::-1], described["strides"][::-1], strict=True):
        if size > 1 and stride != step:
            return False
        step *= size
    return True


def _of_numpy(value: Array, name: str) -> HostArray:
    _checked(value, name)
    low, high = np.lib.array_utils.byte_bounds(value)
    if value.flags.c_contiguous:
        flat = value
    else:
        if min(value.strides) < 0 or any(s % value.itemsize for s in value.strides):
            raise InputError(
                f"{name} runs backwards or between elements: give numpy.ascontiguousarray of it"
            )
        count = (high - low) // value.itemsize
        flat = np.lib.stride_tricks.as_strided(value, (count,), (value.itemsize,), writeable=False)
    back = None
    if value.flags.writeable:
        spanned = np.lib.stride_tricks.as_strided(value, flat.shape, flat.strides)

        def back(result: Array) -> None:
            spanned[...] = result

    return HostArray(flat.copy(), back, (low, high))


def _of_torch(tensor: Any, name: str) -> HostArray:
    """A tensor's memory; types that NumPy has not, such as bfloat16, as whole numbers."""
    tensor = tensor.detach()
    count = 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True))
    flat = tensor if tensor.is_contiguous() else tensor.as_strided((count,), (1,))
    start, size = tensor.data_ptr(), flat.numel() * tensor.element_size()
    seen = flat
    try:
        values = seen.cpu().numpy()
    except TypeError:
        import torch

        whole = {1: torch.uint8, 2: torch.int16, 4: torch.int32}[tensor.element_size()]
        seen = flat.view(whole)
        values = seen.cpu().numpy()

    def back(result: Array) -> None:
        import torch

        seen.copy_(torch.from_numpy(result))

    on_host = tensor.device.type == "cpu"
    return HostArray(
        _checked(values, name).copy(), back if on_host else None, (start, start + size)
    )


def _checked(values: Array, name: str) -> Array:
    if values.size == 0:
        raise InputError(f"{name} has no elements (its shape is {values.shape}): give at least one")
    if values.dtype.hasobject:
        raise InputError(f"{name} holds Python objects: give an array of numbers")
    return values


def overlapping(arrays: Sequence[tuple[str, HostArray]]) -> str:
    """Which arrays share some of their memory but not all of it, in words; "" where none do.

    In the emulator each has a memory of its own.
    """
    ordered = sorted(arrays, key=lambda one: one[1].span)
    for (name, one), (other, next_) in zip(ordered, ordered[1:], strict=False):
        if one.span != next_.span and next_.span[0] < one.span[1]:
            return (
                f"{name} and {other} share some of their memory: here each has its own, and what "
                "is written to one is not seen in the other"
            )
    return ""


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
