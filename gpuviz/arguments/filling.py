"""The values of arguments: arrays made, drawn, or read from files (.npy, raw bytes, images); and as
an engine takes them: arrays are buffers, NumPy scalars are passed by value, and what is passed by
value and has pointers in it is a `ByValue`.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from gpuviz.arguments.dtypes import DTYPES, ENCODED, FLOATS, size_of
from gpuviz.arguments.parser import number
from gpuviz.arguments.specs import (
    UNSET,
    ArrayArgument,
    ArraySpec,
    BufferSpec,
    Elsewhere,
    Field,
    ImageSpec,
    Inline,
    PointerSpec,
    ScalarSpec,
    Spec,
    StructSpec,
    VariableSpec,
    buffers_of,
    content_of,
)
from gpuviz.arguments.tensor_maps import ADDRESS_AT, TensorMapSpec
from gpuviz.base.arrays import Array
from gpuviz.base.errors import InputError
from gpuviz.files import bounded, npy
from gpuviz.processes.memory import check_memory
from gpuviz.words.language import tr

_LARGEST = 1 << 40  # bytes of a file of numbers: the count of the SPEC says how many are read
_PIXELS = 1 << 28  # of an image, at most
_FEW = 8  # values of `few`: lanes of a warp share them
_IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm")
_CHANNELS = {1: "L", 3: "RGB", 4: "RGBA"}

_Buffer = BufferSpec | ArraySpec


def from_file(spec: _Buffer, path: Path) -> npt.NDArray[Any]:
    """The elements of a buffer, from a file that holds as many.

    An image is grey, RGB or RGBA by how many elements there are for each of its pixels, row by row
    from the top, from 0 to 255, of floats from 0 to 1; an element of 4 bytes is a pixel's RGBA.

    Raises
    ------
    InputError : it cannot be read, or holds something else
    """
    suffix = path.suffix.lower()
    read = _image if suffix in _IMAGES else _numbers if suffix == ".npy" else _bytes
    try:
        return read(spec, path)
    except InputError as error:
        raise InputError(f"Argument {spec}: {str(error).rstrip('.')}.") from None


def count_in(path: Path, kind: str, lanes: int = 1) -> int:
    """How many elements of a type a file holds; of an image, for `lanes` of each pixel.

    InputError when it cannot be read.
    """
    suffix = path.suffix.lower()
    if suffix == ".npy":
        with npy.opened(path, _LARGEST) as stored:
            return stored.count
    if suffix in _IMAGES:
        width, height = size_of_image(path)
        return width * height * (lanes if lanes in _CHANNELS else 1)
    try:
        return path.stat().st_size // np.dtype(DTYPES[kind]).itemsize
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None


def size_of_image(path: Path) -> tuple[int, int]:
    """Its width and height in pixels; InputError when it cannot be read."""
    from PIL import Image

    try:
        with bounded.opened(path, _PIXELS) as file, Image.open(file) as image:
            return image.size
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise InputError(f"{path} is no image that can be read: {error}") from None


def _numbers(spec: _Buffer, path: Path) -> npt.NDArray[Any]:
    stored_as = np.dtype(DTYPES[spec.dtype])
    wanted = np.dtype(np.float32) if spec.dtype in ENCODED else stored_as
    with npy.opened(path, _LARGEST) as stored:
        if stored.dtype in (wanted, stored_as) and stored.count == spec.count:
            values = np.ascontiguousarray(stored.values()).reshape(-1)
            encode = ENCODED.get(spec.dtype) if stored.dtype == wanted else None
            return encode(values) if encode else values
    raise InputError(
        f"{path} holds {stored.count} elements of {stored.dtype}, not {spec.count} of {wanted}"
    )


def _bytes(spec: _Buffer, path: Path) -> npt.NDArray[Any]:
    found = bounded.read(path, max(spec.size, bounded.MOST))
    if len(found) != spec.size:
        raise InputError(f"{path} holds {len(found):,} bytes, not {spec.size:,}")
    return np.frombuffer(found, DTYPES[spec.dtype]).copy()


def _image(spec: _Buffer, path: Path) -> npt.NDArray[Any]:
    from PIL import Image

    try:
        with bounded.opened(path, _PIXELS) as file, Image.open(file) as image:
            width, height = image.size
            packed = spec.dtype in ("i32", "u32") and spec.count == width * height
            each = 4 if packed else spec.count // max(width * height, 1)
            if not packed and (each not in _CHANNELS or each * width * height != spec.count):
                raise InputError(
                    f"{path} has {width} x {height} pixels, and {spec.count} elements are neither "
                    "1, 3 nor 4 for each"
                )
            if width * height > _PIXELS:
                raise InputError(f"{path} has more than {_PIXELS:,} pixels")
            values = np.asarray(image.convert(_CHANNELS[each]), np.uint8).reshape(-1)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as e:
        raise InputError(f"{path} is no image that can be read: {e}") from None
    if packed:
        return values.view(DTYPES[spec.dtype])
    if spec.dtype not in FLOATS:
        return values.astype(DTYPES[spec.dtype])
    floats = values.astype(np.float32) / np.float32(255)
    encode = ENCODED.get(spec.dtype)
    return encode(floats) if encode else floats.astype(DTYPES[spec.dtype])


NOBODYS = 0xCD  # every byte of what nobody set: large numbers, that show
_COPIES, _SHUFFLING = 3, 8
_PIECE = 1 << 16  # elements made at a time
_SEEDED = re.compile(r"(\w+)\((\d+)\)")

_Values = Callable[[int, int], npt.NDArray[Any]]


def check_room(specs: Iterable[Spec]) -> None:
    """Refuse arguments that this machine has no memory for, before any is made.

    Each is made, placed, and copied when the launch has ended; to be shuffled it takes up to 8
    bytes for each element.

    Raises
    ------
    InputError : says how much they need, and how much there is
    """
    buffers = [one for spec in specs for one in buffers_of(spec)]
    shuffled = max((one.count for one in buffers if one.fill.startswith("shuffle")), default=0)
    needed = sum(spec.size for spec in buffers) * _COPIES + shuffled * _SHUFFLING
    check_memory(needed, "the arguments need")


@overload
def materialise(spec: BufferSpec | ArraySpec, seed_index: int = 0) -> npt.NDArray[Any]: ...
@overload
def materialise(spec: ScalarSpec, seed_index: int = 0) -> np.generic: ...
@overload
def materialise(spec: ArrayArgument, seed_index: int = 0) -> npt.NDArray[Any]: ...
def materialise(
    spec: BufferSpec | ArraySpec | ScalarSpec | ArrayArgument, seed_index: int = 0
) -> npt.NDArray[Any] | np.generic:
    """The values: a 1-D array of a buffer or an array, a NumPy scalar else.

    `rand` depends on `seed_index` (the argument's position) alone: floats are uniform in [0, 1),
    integers uniform in [0, count) as far as the type goes, so that they can serve as indices.
    `few` are whole numbers below 8, each many times, drawn likewise. `shuffle` is 0, 1, ...
    count - 1 in an order that depends on `seed_index` alone. A seed in brackets is used in its
    place. Of `unset` all bytes are `NOBODYS`.
    """
    if isinstance(spec, ArrayArgument):
        return spec.values
    if isinstance(spec, ScalarSpec):
        return _filled(ArraySpec(spec.dtype, 1, str(spec.value)), 0)[0]  # type: ignore[no-any-return]
    if spec.fill.startswith("@"):
        return from_file(spec, Path(spec.fill[1:]))
    try:
        return _filled(spec, seed_index)
    except (MemoryError, ValueError):  # ValueError: beyond what any array may have
        raise InputError(
            tr(
                "Argument {argument}: {n} bytes are more than the memory of this machine.",
                argument=spec,
                n=f"{spec.size:,}",
            )
        ) from None


def _filled(spec: _Buffer, seed: int) -> npt.NDArray[Any]:
    dtype = np.dtype(DTYPES[spec.dtype])
    if spec.dtype in ENCODED and spec.fill != UNSET:
        return ENCODED[spec.dtype](_filled(replace(spec, dtype="f32"), seed))
    fill = spec.fill
    if said := _SEEDED.fullmatch(fill):
        fill, seed = said[1], int(said[2])
    random = np.random.default_rng(seed)
    if fill == "rand":
        draw = _floats(dtype, random) if dtype.kind == "f" else _indices(spec, dtype, random)
        return _in_pieces(spec.count, dtype, draw)
    if fill == "few":
        return _in_pieces(spec.count, dtype, _below(_FEW, random))
    if fill == "arange":
        return _in_pieces(spec.count, dtype, np.arange)
    if fill == "shuffle":
        values = _in_pieces(spec.count, np.dtype(np.min_scalar_type(-spec.count)), np.arange)
        random.shuffle(values)
        with np.errstate(over="ignore"):  # counts beyond a small type wrap round
            return values.astype(dtype, copy=False)
    if fill == UNSET:
        return np.full(spec.size, NOBODYS, np.uint8).view(dtype)
    if fill in ("zeros", "ones"):
        return np.zeros(spec.count, dtype) if fill == "zeros" else np.ones(spec.count, dtype)
    return _written(spec, fill, dtype)


def _written(spec: _Buffer, fill: str, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """One value for all elements, or one for each."""
    listed = fill[1:-1].split(",") if fill.startswith("[") else [fill]
    values = [number(str(spec), spec.dtype, one) for one in listed]
    with np.errstate(over="ignore"):  # 1e99 as f32 is infinity, as in C
        made = np.array(values, _wide(dtype)).astype(dtype)
        return made if len(made) == spec.count else np.full(spec.count, made, dtype)


def _wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type that a fill's number is first read as."""
    return np.dtype(np.float64) if dtype.kind == "f" else dtype


def _in_pieces(count: int, dtype: np.dtype[Any], values: _Values) -> npt.NDArray[Any]:
    """`values(first, end)` for all of the count: what is wider than `dtype` stays in the caches."""
    made = np.empty(count, dtype)
    with np.errstate(over="ignore"):  # counts beyond a small type wrap round
        for first in range(0, count, _PIECE):
            end = min(first + _PIECE, count)
            made[first:end] = values(first, end).astype(dtype, copy=False)
    return made


def _floats(dtype: np.dtype[Any], random: np.random.Generator) -> _Values:
    below_one = np.nextafter(dtype.type(1), dtype.type(0))  # rounding to f16 reaches 1

    def drawn(first: int, end: int) -> npt.NDArray[Any]:
        return np.asarray(np.minimum(random.random(end - first).astype(dtype), below_one))

    return drawn


def _indices(spec: _Buffer, dtype: np.dtype[Any], random: np.random.Generator) -> _Values:
    return _below(min(spec.count, int(np.iinfo(dtype).max) + 1), random)


def _below(high: int, random: np.random.Generator) -> _Values:
    return lambda first, end: random.integers(0, high, end - first, dtype=np.int64)


@dataclass(frozen=True)
class Recipe:
    """A buffer that is not made yet; see `materialise`."""

    spec: BufferSpec
    seed: int

    @cached_property
    def values(self) -> Array:
        """The buffer, made once."""
        return np.asarray(materialise(self.spec, self.seed))


@dataclass(frozen=True, eq=False)
class Pointer:
    """At byte `at` of what is passed lies the address of a buffer, `offset` bytes from its start.

    `to` is the buffer, or the number of the argument that it is. `name` is that of the field, ""
    where the whole argument is the pointer. A handle of an `image` is the address of its texels.
    """

    at: int
    to: Recipe | Array | int
    offset: int = 0
    name: str = ""
    unset: bool = False
    image: ImageSpec | None = None


@dataclass(frozen=True, eq=False)
class ByValue:
    """Bytes passed by value, with addresses to be filled in; `values` are its fields by name.

    Those of a `tensor_map` are the emulator's: a device wants others.
    """

    data: bytes
    pointers: tuple[Pointer, ...] = ()
    values: tuple[tuple[str, int | float], ...] = ()
    tensor_map: TensorMapSpec | None = None


def passed(specs: Sequence[Spec]) -> list[Array | ByValue]:
    """The arguments of a kernel; without the variables, which come after them."""
    return [one.values if isinstance(one, Recipe) else one for one in described(specs)]


def described(specs: Sequence[Spec]) -> list[Recipe | Array | ByValue]:
    """As `passed`, where the buffers are not made yet."""
    given = (spec for spec in specs if not isinstance(spec, VariableSpec))
    return [_one(spec, number) for number, spec in enumerate(given)]


def variables(specs: Sequence[Spec]) -> Mapping[str, ByValue]:
    """What variables of the module hold, by name."""
    return {
        spec.name: _as_bytes(spec.spec, number)
        for number, spec in enumerate(specs)
        if isinstance(spec, VariableSpec)
    }


def _one(spec: Spec, number: int) -> Recipe | Array | ByValue:
    if isinstance(spec, ArrayArgument):
        return spec.values
    if isinstance(spec, BufferSpec) and not spec.offset:
        return Recipe(spec, number)
    if isinstance(spec, ScalarSpec):
        return np.asarray(materialise(spec, number))
    return _as_bytes(spec, number)


def _as_bytes(spec: Spec, number: int) -> ByValue:
    """An argument as bytes. The buffers of a structure are drawn each for itself."""
    assert not isinstance(spec, VariableSpec)
    if isinstance(spec, TensorMapSpec):
        return _tensor_map(spec, number)
    if isinstance(spec, StructSpec):
        seeds = range(number + 31, number + 31 * (len(spec.fields) + 1), 31)
        return _laid_out(spec.size, spec.fields, seeds)
    size = spec.size if isinstance(spec, Inline) else 8
    return _laid_out(size, (Field("", 0, spec),), (number,))


def _laid_out(size: int, fields: Sequence[Field], seeds: Sequence[int]) -> ByValue:
    content, pointers, values = bytearray(size), list[Pointer](), []
    for field, seed in zip(fields, seeds, strict=True):
        spec, at = field.spec, field.offset
        if isinstance(spec, Inline):
            made = np.asarray(materialise(spec, seed))
            content[at : at + made.nbytes] = made.tobytes()
            if isinstance(spec, ScalarSpec):
                values.append((field.name, made.item()))
        else:
            pointers.append(_pointer(at, spec, seed, field.name))
    return ByValue(bytes(content), tuple(pointers), tuple(values))


def _tensor_map(spec: TensorMapSpec, seed: int) -> ByValue:
    """As the emulator knows it; `tensor_map` says what it is."""
    to = Recipe(content_of(spec), seed) if spec.to is None else spec.to
    pointer = Pointer(ADDRESS_AT, to, spec.offset, "", spec.fill == UNSET)
    return ByValue(spec.map_at(spec.offset).encoded(), (pointer,), (), spec)


def _pointer(at: int, spec: Elsewhere, seed: int, name: str) -> Pointer:
    if isinstance(spec, PointerSpec):
        return Pointer(at, spec.number, spec.offset, name)
    if isinstance(spec, ArrayArgument):
        return Pointer(at, spec.values, 0, name)
    if isinstance(spec, ImageSpec):
        return Pointer(at, Recipe(spec.texels, seed), 0, name, spec.fill == UNSET, spec)
    offset, whole = spec.offset * size_of(spec.dtype), replace(spec, offset=0)
    return Pointer(at, Recipe(whole, seed), offset, name, spec.fill == UNSET)
