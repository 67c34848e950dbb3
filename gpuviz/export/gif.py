"""GIF films, written as they are drawn: one palette, and of each picture only what changed."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import IO

import numpy as np
import numpy.typing as npt

from gpuviz.export.changes import Patch, changed
from gpuviz.export.colours import MOST, Indexer, film_palette
from gpuviz.export.film import Kind, Rgb
from gpuviz.export.record_in_file import LONGEST, Content

FASTEST = 50  # pictures a second; browsers slow down what is faster
WIDEST = 65535  # pixels along a side
BEGINS = b"GIF8"
_SAME = MOST  # the number of the colour that leaves a pixel as it was
_BLOCK = 255  # bytes a block holds
_COMMENT = b"\x21\xfe"


class Gif:
    """An `Encoder`. A picture waits until the next one differs: only then its duration is known."""

    def __init__(self, file: IO[bytes], kind: Kind, samples: Iterable[Rgb]) -> None:
        self._file, self._kind = file, kind
        palette = film_palette(samples)
        self._indexer = Indexer(palette)
        self._shown: npt.NDArray[np.uint8] | None = None
        self._waiting = b""
        self._since = self._count = 0
        file.write(_head(kind, palette))

    def add(self, picture: Rgb) -> None:
        """The next picture."""
        indexed = self._indexer(picture)
        patch = changed(self._shown, indexed)
        if patch is not None:
            self._flush()
            self._waiting = _image(self._shown, indexed, patch)
            self._shown, self._since = indexed, self._count
        self._count += 1

    def close(self) -> None:
        """Finish the file."""
        self._flush()
        self._file.write(b";")

    def _flush(self) -> None:
        """Write the picture that waits."""
        if self._waiting:
            start, end = (round(100 * n / self._kind.fps) for n in (self._since, self._count))
            self._file.write(_control(min(end - start, 0xFFFF)) + self._waiting)


def _head(kind: Kind, palette: Rgb) -> bytes:
    """Everything before the first picture."""
    table = np.zeros((256, 3), np.uint8)
    table[: len(palette)] = palette
    screen = struct.pack("<6sHHBBB", b"GIF89a", kind.width, kind.height, 0xF7, 0, 0)
    loop = b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0" if kind.loop else b""
    return screen + table.tobytes() + _comment(kind.comment.encode("latin-1")) + loop


def _comment(said: bytes) -> bytes:
    """A comment in blocks."""
    if not said:
        return b""
    parts = [said[at : at + _BLOCK] for at in range(0, len(said), _BLOCK)]
    return _COMMENT + b"".join(bytes([len(part)]) + part for part in parts) + b"\0"


def _control(hundredths: int) -> bytes:
    """How long the next picture stays; it is drawn over the one before."""
    return struct.pack("<BBBBHBB", 0x21, 0xF9, 4, 1 << 2 | 1, hundredths, _SAME, 0)


def _image(
    before: npt.NDArray[np.uint8] | None, after: npt.NDArray[np.uint8], patch: Patch
) -> bytes:
    """A part of a picture, unchanged pixels left out of it."""
    pixels = patch.of(after)
    if before is not None:
        pixels = np.where(pixels == patch.of(before), np.uint8(_SAME), pixels)
    from PIL import GifImagePlugin, Image  # a window starts without it

    image = Image.frombytes("L", (patch.width, patch.height), np.ascontiguousarray(pixels).data)
    return b"".join(GifImagePlugin.getdata(image, (patch.left, patch.top)))


def record(content: Content, at: int) -> bytes | None:
    """The comment that begins with what is at a place, its blocks joined."""
    if content[at - 3 : at - 1] != _COMMENT:
        return None
    at, joined = at - 1, b""
    while at < len(content) and content[at] and len(joined) < LONGEST:
        joined += content[at + 1 : at + 1 + content[at]]
        at += 1 + content[at]
    return joined
