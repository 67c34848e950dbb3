"""Arrays of numbers in files, as np.save and np.savez write them, read with a limit.

A header is believed only as far as the file reaches, and nothing is allocated before it is checked.
"""

import io
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format

from gpuviz.base.arrays import Array
from gpuviz.base.errors import FormatError
from gpuviz.files import bounded, zips

_HEADER = 1 << 16  # bytes before the numbers, at most
_STEP = 1 << 20
_NUMBERS = "biuf"  # kinds of elements that are read: no objects, texts or records
_HEADERS = {(1, 0): format.read_array_header_1_0, (2, 0): format.read_array_header_2_0}
_SUFFIX = ".npy"  # of an array's name in a zip


@dataclass(frozen=True, eq=False)
class NpyArray:
    """An array in a file, whose header has been read; `name` is what errors call it."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    name: str
    _file: BinaryIO
    _columns: bool

    @property
    def count(self) -> int:
        """How many numbers."""
        return math.prod(self.shape)

    @property
    def size(self) -> int:
        """Bytes."""
        return self.count * self.dtype.itemsize

    def values(self) -> Array:
        """The numbers, once; FormatError when the file ends before them."""
        flat = np.empty(self.count, self.dtype)
        into = flat.view(np.uint8).data
        at = 0
        while at < self.size:
            piece = self._file.read(min(_STEP, self.size - at))
            if not piece:
                raise FormatError(f"{self.name} is damaged: it ends before its {self.size:,} bytes")
            into[at : at + len(piece)] = piece
            at += len(piece)
        made: Array = flat.reshape(self.shape, order="F" if self._columns else "C")
        return made


@contextmanager
def opened(path: Path, most: int) -> Iterator[NpyArray]:
    """The array in a file of at most so many bytes of numbers.

    Raises
    ------
    InputError : the file cannot be read, or is larger
    FormatError : it is no array of numbers, or damaged
    """
    with bounded.opened(path, most + _HEADER) as file:
        yield header(file, str(path), most)


def header(file: BinaryIO, name: str, most: int) -> NpyArray:
    """The array that begins here; FormatError when it is none of at most so many bytes."""
    try:
        shape, columns, dtype = _HEADERS[format.read_magic(file)](file)
    except Exception as error:  # NumPy parses a header as Python: a damaged one raises anything
        raise FormatError(f"{name} is damaged, or no array as np.save writes it: {error}") from None
    if dtype.kind not in _NUMBERS:
        raise FormatError(f"{name} is an array of {dtype}, not of numbers")
    found = NpyArray(dtype, shape, name, file, columns)
    if min(shape, default=0) < 0 or found.size > most:
        raise FormatError(f"{name} is damaged, or too large: its shape is {shape}, of {dtype}")
    return found


def read_all(packed: bytes, name: str, most: int) -> Mapping[str, Array]:
    """The arrays of what np.savez writes, by name, of at most so many bytes in all; never written
    to.

    Raises
    ------
    FormatError : it is damaged, would unpack to more, or holds anything but arrays of numbers
    """
    made: dict[str, Array] = {}
    with zips.within(io.BytesIO(packed), name, most) as found:
        for member, size in found.sizes.items():
            with found.opened(member) as file:
                stored = header(file, f"{name}: {member.removesuffix(_SUFFIX)}", size)
                if file.tell() + stored.size != size:
                    raise FormatError(f"{stored.name} is damaged: its shape is {stored.shape}")
                values = stored.values()
                file.read(1)  # so that the checksum is compared
            values.setflags(write=False)
            made[member.removesuffix(_SUFFIX)] = values
    return made
