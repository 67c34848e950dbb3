"""Tensor maps: how a tensor lies in global memory, and which boxes of it bulk copies move.

`tensormap(f16[128,256]=rand, box=64x64, swizzle=128)` stands for a `CUtensorMap` that
cuTensorMapEncodeTiled made: sizes and boxes as in C, the last one along memory. Options:

    box=64x64          elements that a copy moves, in each direction
    swizzle=128        32, 64 or 128 bytes; none where it is left out
    stride=256         elements from one to the next in all directions but the last, where the
                       tensor is no whole array
    step=1x2           every second element only (elementStrides)
    outside=nan        what is read beyond the edges, in place of zeros

`f16[128,256]=&1+0` is a view of the buffer of argument 1 (counted from 0), so many bytes on.

The 128 bytes are opaque, and NVIDIA's are not known. The emulator's own hold the same numbers.
Source: CUDA Driver API, "Tensor Map Object Management".
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuviz.arguments.dtypes import DTYPES, FLOATS, size_of
from gpuviz.base.errors import InputError

SIZE = 128  # bytes of a CUtensorMap
_ALIGNMENT = 64
ADDRESS_AT = 8  # where that of the tensor lies in ours
SWIZZLES = (0, 32, 64, 128)
MAGIC = b"gTMA"
_LAYOUT = struct.Struct("<4sBBBBQ5I4Q5H5B2B")
# Where the fields of ours lie, by their names in PTX, and their bytes.
FIELDS = {
    "elemtype": (4, 1),
    "rank": (5, 1),
    "swizzle_mode": (6, 1),
    "fill_mode": (7, 1),
    "global_address": (8, 8),
    "global_dim": (16, 4),
    "global_stride": (36, 8),
    "box_dim": (68, 2),
    "element_stride": (78, 1),
    "interleave_layout": (83, 1),
    "swizzle_atomicity": (84, 1),
}
SEVERAL = {"global_dim": 5, "global_stride": 4, "box_dim": 5, "element_stride": 5}  # numbers
ZERO_ALONE = frozenset({"interleave_layout", "swizzle_atomicity"})  # none, and pieces of 16 bytes
_TYPES = ("u8", "u16", "u32", "i32", "u64", "i64", "f16", "f32", "f32", "f64", "bf16")  # of CUDA
_DIRECTIONS = 5
_BOX = 256  # elements, at most
_STEP = 8
_SIZE, _STRIDE = 1 << 32, 1 << 40  # elements, and bytes, that are too many
_MOVED = 1 << 18  # bytes of a box: no shared memory has more
_KINDS = tuple(DTYPES)
_MAP = re.compile(r"\s*tensormap\s*\(\s*(\w+)\s*\[([\d, ]+)\]\s*=(.*)\)\s*$", re.DOTALL)
_OPTION = re.compile(r",\s*(box|swizzle|stride|step|outside)\s*=\s*(\w+)\s*$")
_POINTER = re.compile(r"&(\d{1,4})\+(\d{1,18})$")
_FORM = "tensormap(TYPE[ROWS,COLUMNS]=FILL, box=ROWSxCOLUMNS, swizzle=128)"


@dataclass(frozen=True)
class TensorMap:
    """What a tensor map says; as the hardware counts, the direction along memory first.

    `strides` are bytes, of all directions but the first; `step` the elements from one that is moved
    to the next; `nan`: so is what is read beyond the edges.
    """

    dtype: str
    address: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    step: tuple[int, ...]
    swizzle: int = 0
    nan: bool = False

    @property
    def unit(self) -> int:
        """Bytes of an element."""
        return size_of(self.dtype)

    @cached_property
    def moved(self) -> tuple[int, ...]:
        """Elements that a copy moves in each direction."""
        return tuple(-(-b // s) for b, s in zip(self.box, self.step, strict=True))

    @property
    def moved_bytes(self) -> int:
        """Of a box in shared memory."""
        return math.prod(self.moved) * self.unit

    def encoded(self) -> bytes:
        """As the emulator's kernels are given it."""
        rank, fill = len(self.sizes), _DIRECTIONS - len(self.sizes)
        return _LAYOUT.pack(
            MAGIC,
            _KINDS.index(self.dtype),
            rank,
            SWIZZLES.index(self.swizzle),
            self.nan,
            self.address,
            *self.sizes,
            *(0,) * fill,
            *self.strides,
            *(0,) * fill,
            *self.box,
            *(0,) * fill,
            *self.step,
            *(0,) * fill,
            0,
            0,
        ).ljust(SIZE, b"\0")

    @classmethod
    def decoded(cls, data: bytes) -> TensorMap | None:
        """From the bytes of `encoded`; None of others, or of fields that make no sense."""
        magic, kind, rank, swizzle, nan, address, *rest = _LAYOUT.unpack(data[: _LAYOUT.size])
        sizes = 0 < rank <= _DIRECTIONS and all(
            (*rest[:rank], *rest[9 : 9 + rank], *rest[14 : 14 + rank])
        )
        if (
            magic != MAGIC
            or any(rest[19:])
            or not sizes
            or kind >= len(_KINDS)
            or swizzle >= len(SWIZZLES)
        ):
            return None
        made = cls(
            _KINDS[kind],
            address,
            tuple(rest[:rank]),
            tuple(rest[5 : 4 + rank]),
            tuple(rest[9 : 9 + rank]),
            tuple(rest[14 : 14 + rank]),
            SWIZZLES[swizzle],
            bool(nan),
        )
        return made if made._makes_sense else None

    @property
    def _makes_sense(self) -> bool:
        """Whether its numbers are such as a map can have."""
        boxes = max(self.box) <= _BOX and max(self.step) <= _STEP and self.moved_bytes <= _MOVED
        lines = not self.box[0] * self.unit % 16 and max(self.strides, default=0) < _STRIDE
        return boxes and lines and self.address < 1 << 62


def maps_in(data: bytes) -> Iterator[slice]:
    """Where maps lie that a kernel of the emulator made."""
    at = data.find(MAGIC)
    while at >= 0:
        if at % _ALIGNMENT == 0:
            yield slice(at, at + SIZE)
        at = data.find(MAGIC, at + 1)


@dataclass(frozen=True)
class TensorMapSpec:
    """A tensor map as an argument: sizes as in C. `fill` is that of a buffer, or it is a view of
    the buffer of argument `to`, from byte `offset` on.
    """

    dtype: str
    sizes: tuple[int, ...]
    fill: str
    box: tuple[int, ...]
    swizzle: int = 0
    stride: tuple[int, ...] = ()
    step: tuple[int, ...] = ()
    nan: bool = False
    to: int | None = None
    offset: int = 0

    def __str__(self) -> str:
        def times(sizes: tuple[int, ...]) -> str:
            return "x".join(map(str, sizes))

        options = [f"box={times(self.box)}"]
        options += [f"swizzle={self.swizzle}"] * bool(self.swizzle)
        options += [f"stride={times(self.stride)}"] * bool(self.stride)
        options += [f"step={times(self.step)}"] * bool(self.step)
        options += ["outside=nan"] * self.nan
        fill = self.fill if self.to is None else f"&{self.to}+{self.offset}"
        head = f"{self.dtype}[{','.join(map(str, self.sizes))}]={fill}"
        return f"tensormap({', '.join((head, *options))})"

    @property
    def count(self) -> int:
        """Elements from the first to the last."""
        steps = zip(self.sizes, (*self._strides, 1), strict=True)
        return 1 + sum((size - 1) * stride for size, stride in steps)

    @property
    def _strides(self) -> tuple[int, ...]:
        """Elements, of all directions but the last."""
        if self.stride:
            return self.stride
        return tuple(math.prod(self.sizes[n + 1 :]) for n in range(len(self.sizes) - 1))

    def map_at(self, address: int = 0) -> TensorMap:
        """What it says, with the tensor at an address."""
        unit = size_of(self.dtype)
        return TensorMap(
            self.dtype,
            address,
            self.sizes[::-1],
            tuple(s * unit for s in self._strides[::-1]),
            self.box[::-1],
            (self.step or (1,) * len(self.sizes))[::-1],
            self.swizzle,
            self.nan,
        )


def is_tensor_map(text: str) -> bool:
    """Whether a text is meant to be one."""
    return text.lstrip().startswith("tensormap")


def parse_tensor_map(text: str) -> TensorMapSpec:
    """The tensor map of a text.

    Raises
    ------
    InputError : it is not understood, or cuTensorMapEncodeTiled would not take it
    """
    match = _MAP.match(text)
    if match is None:
        raise InputError(f"Argument {text!r} is no tensor map: write {_FORM}.")
    fill, options = match[3], dict[str, str]()
    while found := _OPTION.search(fill):
        options[found[1]], fill = found[2], fill[: found.start()]
    dtype, pointer = match[1], _POINTER.match(fill.strip())
    try:
        sizes = tuple(int(size) for size in match[2].split(","))
        box, stride, step = (
            tuple(int(n) for n in options.get(name, "").split("x") if n)
            for name in ("box", "stride", "step")
        )
        swizzle = int(options.get("swizzle", "0"))
    except ValueError:
        raise InputError(f"Argument {text!r} is no tensor map: write {_FORM}.") from None
    spec = TensorMapSpec(
        dtype,
        sizes,
        "" if pointer else fill.strip(),
        box,
        swizzle,
        stride,
        step,
        options.get("outside", "zeros") == "nan",
        int(pointer[1]) if pointer else None,
        int(pointer[2]) if pointer else 0,
    )
    if why := _refused(spec):
        raise InputError(f"Argument {text!r}: {why}.")
    return spec


def _refused(spec: TensorMapSpec) -> str:
    """Why cuTensorMapEncodeTiled would not take it; "" if it does."""
    if spec.dtype not in DTYPES:
        return f"type {spec.dtype!r} is none of {', '.join(DTYPES)}"
    rank = len(spec.sizes)
    if not 1 <= rank <= _DIRECTIONS or min(spec.sizes) < 1:
        return f"a tensor has 1 to {_DIRECTIONS} sizes, each at least 1"
    if len(spec.box) != rank or not all(1 <= b <= _BOX for b in spec.box):
        return f"the box needs {rank} sizes from 1 to {_BOX}"
    if spec.stride and len(spec.stride) != rank - 1:
        return f"stride needs {rank - 1} numbers"
    if max(spec.sizes) >= _SIZE or max(spec.map_at().strides, default=0) >= _STRIDE:
        return f"sizes are below {_SIZE:,}, and strides below {_STRIDE:,} bytes"
    if spec.step and (len(spec.step) != rank or not all(1 <= s <= _STEP for s in spec.step)):
        return f"step needs {rank} numbers from 1 to {_STEP}"
    if spec.step and spec.step[-1] != 1:
        return "along memory every element is moved: the last step is 1"
    if spec.swizzle not in SWIZZLES:
        return "a swizzle is of 32, 64 or 128 bytes"
    if spec.nan and spec.dtype not in FLOATS:
        return f"{spec.dtype} has no NaN"
    if spec.map_at().moved_bytes > _MOVED:
        return f"the box is larger than shared memory can be, {_MOVED:,} bytes"
    line = spec.box[-1] * size_of(spec.dtype)
    if line % 16:
        return f"a line of the box takes {line} bytes, which is no multiple of 16"
    if spec.swizzle and line > spec.swizzle:
        return f"a line of the box takes {line} bytes, more than the swizzle of {spec.swizzle}"
    if any(s % 16 for s in spec.map_at().strides):
        return "lines of the tensor are not a multiple of 16 bytes apart"
    if spec.offset % 16:
        return "a tensor begins at a multiple of 16 bytes"
    return ""


def kind_number(elemtype: int) -> int:
    """The type that a CUtensorMapDataType is, as ours has it; one too many for what is none."""
    return _KINDS.index(_TYPES[elemtype]) if elemtype < len(_TYPES) else len(_KINDS)


def no_number(dtype: str) -> np.generic:
    """The bits of the NaN that is read beyond the edges, as an unsigned number."""
    bits = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "f64": 0x7FFFFFFFFFFFFFFF}
    unit = size_of(dtype)
    found: np.generic = np.dtype(f"u{unit}").type(bits.get(dtype, 0x7F))
    return found
