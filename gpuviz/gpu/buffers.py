"""Buffers of launches as they begin, and the textures and surfaces beside them, on the device.

Buffers are made once on this side, and copied from device memory then. What is made is what
`arguments.materialise` makes, of the same bits as in the emulator. Textures and surfaces are CUDA
arrays beside the buffers that hold their texels.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpuviz.arguments import DTYPES, BufferSpec, ImageSpec, Recipe, materialise
from gpuviz.base.arrays import Array
from gpuviz.base.errors import LaunchError
from gpuviz.gpu.wire_arguments import Use

_VARIED = ("rand", "few", "shuffle", "arange", "[")  # all others have one value in every element


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
        key = (of_any, seed) if spec.fill in ("rand", "few", "shuffle") else of_any
        found = self._kept.pop(key, None)
        if found is None or found.size < spec.count:
            found = self._cupy.asarray(materialise(spec, seed))
        self._kept[key] = found
        while sum(one.nbytes for one in self._kept.values()) > self._most:
            del self._kept[next(iter(self._kept))]
        return found[: spec.count]


def _prefix(spec: BufferSpec) -> bool:
    return spec.fill == "arange" or (spec.fill.startswith("rand") and spec.dtype.startswith("f"))


_LAYERED = 1  # cudaArrayLayered, which CuPy has no name for
_KINDS = {"i": "Signed", "u": "Unsigned", "f": "Float"}


class DeviceImage:
    """A texture or surface with the content of `buffer`; `handle` is what the kernel is given.

    Raises
    ------
    LaunchError : there is no way to it through CuPy
    """

    def __init__(self, cupy: Any, spec: ImageSpec, use: Use, buffer: Any) -> None:
        self._cupy, self._spec, self._use, self._buffer = cupy, spec, use, buffer
        layered = "layered" in spec.modes
        if layered and len(spec.shape) < 3:
            raise LaunchError(
                f"{spec} cannot be made on the GPU: CuPy has no layers of one dimension; "
                "it is emulated only"
            )
        runtime, texture = cupy.cuda.runtime, cupy.cuda.texture
        dtype = np.dtype(DTYPES[spec.dtype])
        bits = [8 * dtype.itemsize if n < spec.channels else 0 for n in range(4)]
        kind = getattr(runtime, f"cudaChannelFormatKind{_KINDS[dtype.kind]}")
        channels = texture.ChannelFormatDescriptor(*bits, kind)
        self._array: Any = None
        if use == "linear":
            resource = texture.ResourceDescriptor(
                runtime.cudaResourceTypeLinear,
                arr=buffer,
                chDesc=channels,
                sizeInBytes=buffer.nbytes,
            )
        else:
            flags = runtime.cudaArraySurfaceLoadStore if use == "surface" else 0
            flags |= _LAYERED if layered else 0
            sizes = (*spec.shape, 0, 0)[:3]
            self._array = texture.CUDAarray(channels, *sizes, flags)
            resource = texture.ResourceDescriptor(runtime.cudaResourceTypeArray, self._array)
        if use == "surface":
            self._object = texture.SurfaceObject(resource)
        else:
            self._object = texture.TextureObject(resource, self._looked_at())
        self.fill()

    @property
    def handle(self) -> int:
        """What the kernel is given."""
        return int(self._object.ptr)

    def fill(self) -> None:
        """Take over what the buffer holds."""
        if self._array is not None:
            self._array.copy_from(self._texels())

    def written_back(self) -> None:
        """Put what a kernel left in a surface into the buffer."""
        if self._use == "surface":
            self._array.copy_to(self._texels())

    def _texels(self) -> Any:
        """The buffer as CuPy wants it of an array: the elements of a row side by side."""
        width, *others = self._spec.shape
        return self._buffer.reshape(*reversed(others), width * self._spec.channels)

    def _looked_at(self) -> Any:
        runtime, spec = self._cupy.cuda.runtime, self._spec
        mode = getattr(runtime, f"cudaAddressMode{spec.addressing.capitalize()}")
        linear, floats = "linear" in spec.modes, "float" in spec.modes
        as_float = floats and spec.dtype not in ("f16", "f32")
        return self._cupy.cuda.texture.TextureDescriptor(
            addressModes=(mode,) * 3,
            filterMode=runtime.cudaFilterModeLinear if linear else runtime.cudaFilterModePoint,
            readMode=(
                runtime.cudaReadModeNormalizedFloat if as_float else runtime.cudaReadModeElementType
            ),
            normalizedCoords=int("normalized" in spec.modes),
        )
