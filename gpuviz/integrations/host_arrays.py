"""Arrays of any library as NumPy arrays: the memory they span, and where results go back to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuviz.base.arrays import Array
from gpuviz.base.errors import InputError


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
