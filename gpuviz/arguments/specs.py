"""What a launch is given, as records that know their text."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

from gpuviz.arguments.dtypes import size_of
from gpuviz.arguments.tensor_maps import TensorMapSpec
from gpuviz.base.arrays import Array


@dataclass(frozen=True, eq=False)
class ArrayArgument:
    """An argument as its values: an array of one dimension or more is a buffer, a zero-dimensional
    one is passed by value. The same array given twice is one buffer.
    """

    values: Array

    def __str__(self) -> str:
        """As a SPEC would begin."""
        kind = self.values.dtype.name
        return f"{kind}[{self.values.size}]" if self.values.ndim else f"{kind}={self.values}"


UNSET = "unset"
ADDRESSING = ("clamp", "wrap", "mirror", "border")
# Of textures: what lies beyond the edges; filtering; coordinates from 0 to 1; integers read as
# floats from 0 (or -1) to 1; the last size counts layers.
MODES = (*ADDRESSING, "point", "linear", "normalized", "float", "layered")
FILLS = ("zeros", "ones", "arange", "rand", "few", "shuffle", UNSET)


@dataclass(frozen=True)
class BufferSpec:
    """A buffer of `count` elements.

    `fill` is one of FILLS, with a seed in brackets if it is random; a number that every element
    gets; numbers in square brackets, as many as elements; or `@` and the name of a file. The
    pointer is to element `offset`.
    """

    dtype: str
    count: int
    fill: str
    offset: int = 0

    @property
    def size(self) -> int:
        """Bytes."""
        return self.count * size_of(self.dtype)

    def __str__(self) -> str:
        after = f"+{self.offset}" if self.offset else ""
        return f"{self.dtype}[{self.count}]{after}={self.fill}"


@dataclass(frozen=True)
class ArraySpec:
    """An array passed by value; see `BufferSpec`."""

    dtype: str
    count: int
    fill: str

    @property
    def size(self) -> int:
        """Bytes."""
        return self.count * size_of(self.dtype)

    def __str__(self) -> str:
        return f"{self.dtype}*{self.count}={self.fill}"


@dataclass(frozen=True)
class ScalarSpec:
    """A scalar passed by value."""

    dtype: str
    value: int | float

    @property
    def size(self) -> int:
        """Bytes."""
        return size_of(self.dtype)

    def __str__(self) -> str:
        return f"{self.dtype}={self.value}"


@dataclass(frozen=True)
class ImageSpec:
    """A texture or surface object: `shape` texels (width, height, depth or layers) of `channels`
    elements, filled as a buffer. `modes` are some of MODES, in that order.
    """

    dtype: str
    channels: int
    shape: tuple[int, ...]
    fill: str
    modes: tuple[str, ...] = ()

    @property
    def texels(self) -> BufferSpec:
        """Its elements, row by row, those of a texel together."""
        return BufferSpec(self.dtype, math.prod(self.shape) * self.channels, self.fill)

    @property
    def addressing(self) -> str:
        """What lies beyond its edges."""
        return next((mode for mode in self.modes if mode in ADDRESSING), "clamp")

    def __str__(self) -> str:
        each = f"*{self.channels}" if self.channels > 1 else ""
        head = f"image {self.dtype}{each}[{','.join(map(str, self.shape))}]"
        return f"{' '.join((head, *self.modes))}={self.fill}"


@dataclass(frozen=True)
class PointerSpec:
    """A pointer into the buffer of argument `number`, so many bytes from its start."""

    number: int
    offset: int = 0

    def __str__(self) -> str:
        return f"&{self.number}+{self.offset}"


Inline = ArraySpec | ScalarSpec  # lies in a structure itself
Elsewhere = BufferSpec | PointerSpec | ImageSpec | ArrayArgument  # of this the address does


@dataclass(frozen=True)
class Field:
    """What lies at byte `offset` of a structure; `name` as in the source, `origin.x` if nested."""

    name: str
    offset: int
    spec: Inline | Elsewhere

    def __str__(self) -> str:
        return f"{self.name}@{self.offset} {self.spec}"


@dataclass(frozen=True)
class StructSpec:
    """A structure of `size` bytes passed by value; bytes between its fields are 0."""

    size: int
    fields: tuple[Field, ...]

    def __str__(self) -> str:
        return "{" + "; ".join((str(self.size), *map(str, self.fields))) + "}"


@dataclass(frozen=True)
class VariableSpec:
    """What a variable of the module holds when the launch begins; `name` is that of the PTX."""

    name: str
    spec: Inline | StructSpec

    def __str__(self) -> str:
        return f"{self.name}:={self.spec}"


Spec = Inline | Elsewhere | StructSpec | TensorMapSpec | VariableSpec
_Spec = TypeVar("_Spec", bound=Spec)


def content_of(spec: TensorMapSpec) -> BufferSpec:
    """The elements of a tensor that is no view of another argument's."""
    return BufferSpec(spec.dtype, spec.count, spec.fill)


def buffers_of(spec: Spec) -> Iterator[BufferSpec]:
    """The buffers that an argument is, or has pointers to."""
    if isinstance(spec, BufferSpec):
        yield spec
    elif isinstance(spec, VariableSpec):
        yield from buffers_of(spec.spec)
    elif isinstance(spec, ImageSpec):
        yield spec.texels
    elif isinstance(spec, TensorMapSpec) and spec.to is None:
        yield content_of(spec)
    elif isinstance(spec, StructSpec):
        for field in spec.fields:
            yield from buffers_of(field.spec)


def renamed(spec: _Spec, how: Callable[[str], str]) -> _Spec:
    """An argument with the files that it is read from under other names."""
    made: Any = spec
    if isinstance(
        spec, BufferSpec | ArraySpec | ImageSpec | TensorMapSpec
    ) and spec.fill.startswith("@"):
        made = replace(spec, fill=f"@{how(spec.fill[1:])}")
    elif isinstance(spec, StructSpec):
        fields = (replace(one, spec=renamed(one.spec, how)) for one in spec.fields)
        made = replace(spec, fields=tuple(fields))
    elif isinstance(spec, VariableSpec):
        made = replace(spec, spec=renamed(spec.spec, how))
    return cast(_Spec, made)
