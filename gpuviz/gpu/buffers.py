"""Buffers of launches as they begin: made once on this side, and copied from device memory then.

What is made is what `arguments.materialise` makes, of the same bits as in the emulator.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from gpuviz.arguments import BufferSpec, Recipe, materialise
from gpuviz.base.arrays import Array

_VARIED = ("rand", "shuffle", "arange", "[")  # all others have one value in every element


@dataclass(frozen=True, eq=False)
class InitialContent:
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

    def begun(self, one: Recipe | Array) -> InitialContent:
        """How a buffer begins."""
        if isinstance(one, Recipe):
            return InitialContent(self._cupy, (one.spec.count,), self._content(one))
        return InitialContent(self._cupy, one.shape, one)

    def _content(self, recipe: Recipe) -> Any:
        spec, seed = recipe.spec, recipe.seed
        if not spec.fill.startswith(_VARIED):
            return self._cupy.asarray(materialise(replace(spec, count=1)))
        if spec.size > self._most:
            return materialise(spec, seed)
        # The beginning of a longer one is the same, but where the length decides on the values.
        of_any = replace(spec, count=0) if _prefix(spec) else spec
        key = (of_any, seed) if spec.fill in ("rand", "shuffle") else of_any
        found = self._kept.pop(key, None)
        if found is None or found.size < spec.count:
            found = self._cupy.asarray(materialise(spec, seed))
        self._kept[key] = found
        while sum(one.nbytes for one in self._kept.values()) > self._most:
            del self._kept[next(iter(self._kept))]
        return found[: spec.count]


def _prefix(spec: BufferSpec) -> bool:
    return spec.fill == "arange" or (spec.fill.startswith("rand") and spec.dtype.startswith("f"))
