"""Buffers of launches as they begin: made once on this side, and copied from device memory then.

What is made is what `arguments.materialise` makes, of the same bits as in the emulator.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpuviz.arguments import BufferSpec, materialise
from gpuviz.arrays import Array

_SEEDED = ("rand", "shuffle")  # what depends on the position of the argument
_VARIED = (*_SEEDED, "arange")  # all others have one value in every element


@dataclass(frozen=True, eq=False)
class Beginning:
    """What a buffer begins with: `content` is an array on the device, of one element where all
    are alike, or an array in the processor's memory."""

    cupy: Any
    shape: tuple[int, ...]
    content: Any

    def new(self) -> Any:
        """A buffer on the device."""
        made = self.cupy.empty(self.shape, self.content.dtype)
        self.fill(made)
        return made

    def fill(self, buffer: Any) -> None:
        """Make a buffer what it was."""
        if isinstance(self.content, self.cupy.ndarray):
            buffer[...] = self.content
        else:
            buffer.set(self.content)


class Buffers:
    """Keeps what was made, the newest, at most so many bytes of the device's memory."""

    def __init__(self, cupy: Any, most: int) -> None:
        self._cupy, self._most = cupy, most
        self._kept: dict[BufferSpec | tuple[BufferSpec, int], Any] = {}

    def begun(self, argument: BufferSpec | Array, number: int) -> Beginning | np.generic:
        """The argument at a position: how a buffer begins, or a scalar."""
        if isinstance(argument, np.ndarray):
            if argument.ndim == 0:
                scalar: np.generic = argument.dtype.type(argument)
                return scalar
            return Beginning(self._cupy, argument.shape, argument)
        return Beginning(self._cupy, (argument.count,), self._content(argument, number))

    def _content(self, spec: BufferSpec, number: int) -> Any:
        if spec.fill not in _VARIED:
            return self._cupy.asarray(materialise(replace(spec, count=1)))
        if spec.size > self._most:
            return materialise(spec, number)
        # The beginning of a longer one is the same, but where the length decides on the values.
        of_any = replace(spec, count=0) if _prefix(spec) else spec
        key = (of_any, number) if spec.fill in _SEEDED else of_any
        found = self._kept.pop(key, None)
        if found is None or found.size < spec.count:
            found = self._cupy.asarray(materialise(spec, number))
        self._kept[key] = found
        while sum(one.nbytes for one in self._kept.values()) > self._most:
            del self._kept[next(iter(self._kept))]
        return found[: spec.count]


def _prefix(spec: BufferSpec) -> bool:
    return spec.fill == "arange" or (spec.fill == "rand" and spec.dtype.startswith("f"))
