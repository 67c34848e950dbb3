"""GIF films, written as they are drawn: one palette of 255 colours, and of each picture only what
changed.
"""

import struct
from collections.abc import Iterable
from typing import IO

import numpy as np
import numpy.typing as npt

from gpuviz.export.export import LONGEST, Content
from gpuviz.export.film import Kind, Patch, Rgb, changed

MOST = 255  # colours; number 255 is left to say "as before"
_EXACT = 160  # colours kept as they are, the most frequent: grounds and fills
_AT_ONCE = 4096
Packed = npt.NDArray[np.uint32]
FASTEST = 50  # pictures a second; browsers slow down what is faster
WIDEST = 65535  # pixels along a side
BEGINS = b"GIF8"
_SAME = MOST  # the number of the colour that leaves a pixel as it was
_BLOCK = 255  # bytes a block holds
_COMMENT = b"\x21\xfe"


def packed(pixels: Rgb) -> Packed:
    """(...,) numbers from (..., 3) colours."""
    wide = pixels.astype(np.uint32)
    return np.asarray(wide[..., 0] << 16 | wide[..., 1] << 8 | wide[..., 2])


def unpacked(codes: Packed) -> Rgb:
    """(..., 3) colours from (...,) numbers."""
    return np.stack([codes >> 16, codes >> 8 & 255, codes & 255], axis=-1).astype(np.uint8)


def film_palette(samples: Iterable[Rgb]) -> Rgb:
    """(at most 255, 3): the most frequent colours themselves, and means of the others."""
    colors, counts = _counted(samples)
    order = np.argsort(counts, kind="stable")[::-1]
    if len(order) <= MOST:
        return unpacked(colors[order])
    from PIL import Image  # a window starts without it

    rest = unpacked(np.sort(colors[order[_EXACT:]]))
    means = Image.fromarray(rest[None]).quantize(MOST - _EXACT, Image.Quantize.MEDIANCUT)
    table = np.array(means.getpalette(), np.uint8).reshape(-1, 3)[: MOST - _EXACT]
    return np.concatenate([unpacked(colors[order[:_EXACT]]), table])


def _counted(samples: Iterable[Rgb]) -> tuple[Packed, npt.NDArray[np.int64]]:
    """All colours of some pictures, and of how many pixels each is."""
    found = [np.unique(packed(picture), return_counts=True) for picture in samples]
    colors, where = np.unique(np.concatenate([f[0] for f in found]), return_inverse=True)
    counts = np.bincount(where, weights=np.concatenate([f[1] for f in found]))
    return colors, counts.astype(np.int64)


class Indexer:
    """Pictures in the colours of a palette, each pixel in the nearest; every colour asked once."""

    def __init__(self, palette: Rgb) -> None:
        self._palette = palette.astype(np.int32)
        self._known = np.full(1 << 24, -1, np.int16)

    def __call__(self, picture: Rgb) -> npt.NDArray[np.uint8]:
        """(H, W) numbers of colours."""
        codes = packed(picture)
        found = self._known[codes]
        if (found < 0).any():
            unknown = np.unique(codes[found < 0])
            for start in range(0, len(unknown), _AT_ONCE):
                part = unknown[start : start + _AT_ONCE]
                self._known[part] = self._nearest(unpacked(part))
            found = self._known[codes]
        return found.astype(np.uint8)

    def _nearest(self, colors: Rgb) -> npt.NDArray[np.intp]:
        away = colors[:, None].astype(np.int32) - self._palette[None]
        return np.asarray((away * away).sum(axis=2).argmin(axis=1))


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
