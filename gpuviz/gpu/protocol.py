"""What gpuviz and the process that owns the GPU say to each other, over a pair of pipes.

A message is: four bytes of magic, the length of a JSON header, the header, then the arrays it
announces, raw. Nothing is pickled, and nothing received is executed but the kernels sent to be run.
Both sides are of one version: the magic changes with the protocol.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from hashlib import sha256
from typing import IO, Annotated, Any, Literal

import numpy as np
from msgspec import Meta

from gpuviz.arguments import BufferSpec, Recipe, parse
from gpuviz.base import records
from gpuviz.base.arrays import Array
from gpuviz.base.errors import FormatError
from gpuviz.gpu.counters import Which
from gpuviz.gpu.wire_arguments import Parameter
from gpuviz.traces.geometry import Triple

Arrays = tuple[Array, ...]
Mode = Literal["warm", "flushed", "rotated"]

_MAGIC = b"gpv3"
_FRAME = struct.Struct("<4sI")
_PIECE = 1 << 24  # bytes read at once
_HEADER_LIMIT = 16 << 20
_NOTHING = np.zeros(0, np.uint8)
_DAMAGED = "a message of the GPU's process is damaged"


@dataclass(frozen=True)
class Describe:
    """What GPUs are there?"""


@dataclass(frozen=True)
class BufferOrigin:
    """A buffer that the worker makes by its SPEC (`gpuviz.arguments`); "": one that travels."""

    spec: str = ""
    seed: int = 0

    @property
    def recipe(self) -> Recipe:
        """FormatError where it is none, or read from a file: files are nothing of the worker's."""
        spec = parse(self.spec)
        if not isinstance(spec, BufferSpec) or spec.fill.startswith("@"):
            raise FormatError(f"{_DAMAGED}: {self.spec!r} is no buffer that can be made")
        return Recipe(spec, self.seed)


@dataclass(frozen=True, eq=False)
class Load:
    """Keep a launch under a key. Arrays: the code (bytes), then the buffers that travel, in order.

    `made`, `parameters` and `variables` are those of `WireArguments`. `form` says what the code is:
    a cubin, or PTX for the driver to assemble. The reply's `resident_blocks` is how many of its
    blocks the driver says fit on one multiprocessor, `registers` how many it gives a thread.
    """

    key: str
    form: Literal["cubin", "ptx"]
    entry: str
    grid: Triple
    block: Triple
    dynamic_shared: int
    made: tuple[BufferOrigin, ...]
    parameters: tuple[Parameter, ...]
    variables: tuple[tuple[str, Parameter], ...]
    arrays: Arrays

    @property
    def buffers(self) -> tuple[Recipe | Array, ...]:
        """In order: what is made here by its SPEC, and what was sent."""
        travelled = iter(self.arrays[1:])
        return tuple(one.recipe if one.spec else next(travelled) for one in self.made)


@dataclass(frozen=True)
class Drop:
    """Forget a launch and free its memory."""

    key: str


@dataclass(frozen=True)
class Run:
    """Launch once on fresh buffers; the reply's arrays are the buffers afterwards.

    Those whose digest is the one in `known` do not come back: in their place is an empty array,
    and the reply's `same` has their numbers.
    """

    key: str
    known: tuple[str, ...] = ()

    def reply(self, outputs: Arrays) -> Reply:
        """Of the buffers that the launch left."""
        pairs = zip(self.known, outputs, strict=False)
        same = [number for number, (known, got) in enumerate(pairs) if digest(got) == known]
        left = (_NOTHING if number in same else got for number, got in enumerate(outputs))
        return Reply({"same": same}, tuple(left))


def digest(array: Array) -> str:
    """By what the bytes of an array are known to be those of another one."""
    return sha256(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data).hexdigest()


@dataclass(frozen=True)
class Time:
    """Launch `count` times after a warm-up; the reply's array is the durations in microseconds.

    `flushed` empties the L2 cache before each launch, `rotated` goes through copies of the buffers
    that together exceed it.
    """

    key: str
    count: int
    warmup_ms: float
    mode: Mode


@dataclass(frozen=True)
class Count:
    """Read the counters of a set of `gpuviz.gpu.counters.SETS`, of one launch."""

    key: str
    which: Which


@dataclass(frozen=True)
class Place:
    """Launch once code that notes where blocks run (see `gpuviz.gpu.placement`)."""

    key: str
    blocks: int


@dataclass(frozen=True)
class Peaks:
    """What do a plain copy and a loop of multiply-adds reach on this GPU?"""


@dataclass(frozen=True)
class Sense:
    """Clocks, temperature, power."""


@dataclass(frozen=True, eq=False)
class Reply:
    """An answer: plain values, and arrays."""

    values: Mapping[str, Any] = field(default_factory=dict)
    arrays: Arrays = ()


@dataclass(frozen=True, eq=False)
class Failure:
    """An error (see `gpuviz.gpu.faults`); after a fatal one the process ends itself."""

    error: Mapping[str, Any]
    fatal: bool


Request = Describe | Load | Drop | Run | Time | Count | Place | Peaks | Sense
Message = Request | Reply | Failure
_KINDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (Describe, Load, Drop, Run, Time, Count, Place, Peaks, Sense, Reply, Failure)
}


@dataclass(frozen=True)
class _ArrayHeader:
    """An array that follows."""

    dtype: str
    shape: tuple[Annotated[int, Meta(ge=0)], ...]


@dataclass(frozen=True)
class _Header:
    kind: str
    fields: Mapping[str, Any]
    arrays: tuple[_ArrayHeader, ...]


def send(stream: IO[bytes], message: Message) -> None:
    """Write one message and flush."""
    plain = {f.name: getattr(message, f.name) for f in fields(message)}
    arrays = [np.asarray(array) for array in plain.pop("arrays", ())]
    announced = tuple(_ArrayHeader(array.dtype.str, array.shape) for array in arrays)
    header = records.text(_Header(type(message).__name__, plain, announced)).encode()
    stream.write(_FRAME.pack(_MAGIC, len(header)) + header)
    for array in arrays:
        stream.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    stream.flush()


def receive(stream: IO[bytes]) -> Message:
    """Read one message.

    Raises
    ------
    EOFError : the other side is gone
    FormatError : what arrived is no message of this protocol
    """
    magic, size = _FRAME.unpack(_exactly(stream, _FRAME.size))
    if magic != _MAGIC or size > _HEADER_LIMIT:
        raise FormatError(f"what the GPU's process sent is not of this protocol: {magic!r}")
    header = records.read(_exactly(stream, size), _Header, _DAMAGED)
    if (kind := _KINDS.get(header.kind)) is None:
        raise FormatError(f"{_DAMAGED}: there is no message {header.kind!r}")
    dtypes = [_dtype(announced.dtype) for announced in header.arrays]
    arrays = [
        _array(stream, dtype, announced.shape)
        for dtype, announced in zip(dtypes, header.arrays, strict=True)
    ]
    return _message(kind, header.fields, tuple(arrays))


def _message(kind: type[Any], plain: Mapping[str, Any], arrays: Arrays) -> Message:
    names = {f.name for f in fields(kind)}
    good, wrong = records.fields(plain, kind)
    for said in wrong.values():
        raise FormatError(f"{_DAMAGED}: {kind.__name__}/{said}")
    if "arrays" in names:
        good["arrays"] = arrays
    if missing := names - good.keys():
        raise FormatError(f"{_DAMAGED}: {kind.__name__} has no {', '.join(sorted(missing))}")
    made: Message = kind(**good)
    return made


def _dtype(name: str) -> np.dtype[Any]:
    """The type of an array; FormatError when there is none of this name, or it holds objects."""
    try:
        found: np.dtype[Any] = np.dtype(name)
    except (TypeError, ValueError):
        raise FormatError(f"{_DAMAGED}: there are no arrays of {name!r}") from None
    if found.hasobject:
        raise FormatError(f"{_DAMAGED}: arrays of objects are not sent")
    return found


def _array(stream: IO[bytes], dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    try:
        found = np.empty(shape, dtype)
    except (MemoryError, ValueError):
        raise FormatError(f"{_DAMAGED}: there is no room for an array of {shape}") from None
    place, done = found.reshape(-1).view(np.uint8).data, 0
    while done < found.nbytes:
        if not (more := stream.readinto(place[done : done + _PIECE])):  # type: ignore[attr-defined]
            raise EOFError
        done += more
    return found


def _exactly(stream: IO[bytes], size: int) -> bytes:
    parts, missing = [], size
    while missing:
        part = stream.read(min(missing, 1 << 24))
        if not part:
            raise EOFError
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)
