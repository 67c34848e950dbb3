"""What textures and surfaces give, by the formulas of the CUDA programming guide.

"Texture Fetching", an appendix of the guide: filtering, addressing, the 8 bits of a weight's
fraction; "Texture and Surface Memory": read modes, boundary modes. How these bits are rounded was
read from an H200 (tests/data/h200_textures.npz, equal in every bit): a fraction to the nearest of
its 256ths, upwards from the middle; of two, their product likewise, the other corners being what is
left; a mean of bytes to the nearest of 65,535 parts. With three, the third multiplies these: that
was not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuviz.arguments import DTYPES, ImageSpec
from gpuviz.base.arrays import F32, F64, I64, Array, Bool

_FRACTIONS = 256  # of a weight
_PARTS = 65535.0  # of a mean of bytes
_FAR = np.float32(2**30)  # beyond any size; what is further is as far


@dataclass(frozen=True)
class Image:
    """Texels in memory, as (depth, height, width, channels), and how they are looked at; `start` is
    the byte of the memory that they begin at.
    """

    spec: ImageSpec
    texels: Array
    start: int

    @classmethod
    def of(cls, spec: ImageSpec, memory: Array, start: int) -> Image:
        """The image whose texels begin at a byte."""
        flat = memory[start : start + spec.texels.size].view(DTYPES[spec.dtype])
        width, height, depth = (*spec.shape, 1, 1)[:3]
        return cls(spec, flat.reshape(depth, height, width, spec.channels), start)

    @property
    def axes(self) -> int:
        """Coordinates that are filtered and addressed: a layer is not."""
        return len(self.spec.shape) - ("layered" in self.spec.modes)

    @property
    def floats(self) -> bool:
        """Whether a read gives floats."""
        return self.spec.dtype in ("f16", "f32") or "float" in self.spec.modes

    def sampled(self, coordinates: Sequence[F32], layer: I64) -> Array:
        """(N, channels) what a texture gives at N places; each coordinate (N,)."""
        linear = "linear" in self.spec.modes
        axes = [self._along(axis, value, linear) for axis, value in enumerate(coordinates)]
        if not linear:
            return self._at([low for low, _, _ in axes], layer)
        index = ([axis[corner >> n & 1] for n, axis in enumerate(axes)] for corner in range(8))
        corners = zip(_weights([share for _, _, share in axes]), index, strict=False)
        if self.spec.dtype == "u8":
            parts = (w[:, None] * np.rint(self._at(at, layer) * _PARTS) for w, at in corners)
            return (np.floor(sum(parts) + 0.5) / _PARTS).astype(np.float32)
        made: Array = np.zeros((len(layer), self.spec.channels), np.float32)
        for weight, at in corners:
            made = made + weight.astype(np.float32)[:, None] * self._at(at, layer)
        return made

    def gathered(self, coordinates: Sequence[F32], layer: I64, channel: int) -> Array:
        """(N, 4) one channel of the four texels that linear filtering would mix, anticlockwise
        from the lower left (where y is larger).
        """
        x, y = (self._along(axis, value, True) for axis, value in enumerate(coordinates))
        corners = [(x[0], y[1]), (x[1], y[1]), (x[1], y[0]), (x[0], y[0])]
        return np.stack([self._at(list(one), layer)[:, channel] for one in corners], axis=1)

    def fetched(self, index: Sequence[Array]) -> Array:
        """(N, channels) texels by whole numbers; 0 outside, as of linear memory."""
        inside = np.ones(len(index[0]), bool)
        for value, size in zip(index, self.spec.shape, strict=False):
            inside &= (value >= 0) & (value < size)
        found = [np.where(inside, value, -1).astype(np.int64) for value in index]
        return self._at(found, np.zeros_like(found[0]))

    def _along(self, axis: int, value: F32, linear: bool) -> tuple[I64, I64, I64]:
        """The texels before and after a coordinate (-1: outside), and 256ths of the second."""
        size, mode = self.spec.shape[axis], self.spec.addressing
        x = np.clip(np.where(np.isnan(value), np.float32(0), value), -_FAR, _FAR)
        if "normalized" in self.spec.modes:
            whole = np.floor(x)
            if mode == "wrap":
                x = x - whole
            elif mode == "mirror":
                x = np.where(whole % 2 == 0, x - whole, 1 - (x - whole))
            x = (x * np.float32(size)).astype(np.float32)
        elif mode in ("wrap", "mirror"):  # these are of normalized coordinates only
            mode = "clamp"
        x = np.clip(x - np.float32(0.5) if linear else x, -_FAR, _FAR).astype(np.float32)
        low = np.floor(x)
        share = np.floor((x - low) * _FRACTIONS + np.float32(0.5)).astype(np.int64)
        first = low.astype(np.int64)
        return self._inside(first, size, mode), self._inside(first + 1, size, mode), share

    @staticmethod
    def _inside(index: I64, size: int, mode: str) -> I64:
        if mode == "wrap":
            return index % size
        if mode == "border":
            return np.where((index >= 0) & (index < size), index, -1)
        return np.clip(index, 0, size - 1)

    def _at(self, index: Sequence[I64], layer: I64) -> Array:
        """Texels by index, 0 where one is -1; as the read mode gives them."""
        outside: Bool = np.zeros(len(layer), bool)
        for one in index:
            outside = outside | (one < 0)
        zero = np.zeros_like(layer)
        x, y, z = (*index, zero, zero)[:3]
        if "layered" in self.spec.modes:
            last = np.clip(layer, 0, self.spec.shape[-1] - 1)
            y, z = (last, z) if self.axes == 1 else (y, last)
        found = self.texels[z, y, x]
        read: Array = self._read(found)
        read[outside] = 0
        return read

    def _read(self, found: Array) -> Array:
        """Elements as numbers of 32 bits."""
        if not self.floats:
            return found.astype(np.int32 if found.dtype.kind == "i" else np.uint32)
        if found.dtype.kind == "f":
            return found.astype(np.float32)
        most = np.float32(np.iinfo(found.dtype).max)
        return np.asarray(np.maximum(found.astype(np.float32) / most, np.float32(-1)))


def _weights(shares: Sequence[I64]) -> list[F64]:
    """(N,) of each corner, by the 256ths of the upper texel on each axis."""
    x, *others = shares
    made: list[Array] = [_FRACTIONS - x, x]
    if others:
        y = others[0]
        both = (2 * x * y + _FRACTIONS) // (2 * _FRACTIONS)
        made = [_FRACTIONS - x - y + both, x - both, y - both, both]
    for z in others[1:]:
        made = [w * part / _FRACTIONS for part in (_FRACTIONS - z, z) for w in made]
    return [w / _FRACTIONS for w in made]
