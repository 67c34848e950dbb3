"""Buffers read from files: .npy, raw bytes (.bin), images."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gpuviz.arguments.dtypes import DTYPES, FLOATS
from gpuviz.arguments.small_floats import ENCODED
from gpuviz.arguments.specs import ArraySpec, BufferSpec
from gpuviz.base.errors import InputError
from gpuviz.files import bounded, npy

_LARGEST = 1 << 40  # bytes of a file of numbers: the count of the SPEC says how many are read
_PIXELS = 1 << 28  # of an image, at most
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
