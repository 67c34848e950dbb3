"""PNG files by their chunks: pictures, small ones made of cells, texts, and films (APNG)."""

import io
import struct
import zlib
from collections.abc import Iterable, Iterator
from typing import IO

import numpy as np
import numpy.typing as npt

from gpuviz.base.arrays import Rgba
from gpuviz.export.export import Export
from gpuviz.export.film import Kind, Patch, Rgb, changed
from gpuviz.views.provenance import KEYWORD, Provenance

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER_END = 33  # bytes of the signature and of the IHDR chunk, which is always first
_TRUECOLOR, _WITH_ALPHA = 2, 6
_CONTROL_AT = len(SIGNATURE) + 25  # behind the header


def chunk(kind: bytes, data: bytes) -> bytes:
    """One chunk: length, kind, data, checksum."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Kind and data of each chunk of a sound PNG file."""
    at = len(SIGNATURE)
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        yield png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        at += 12 + length


def header(width: int, height: int, alpha: bool) -> bytes:
    """The IHDR chunk of a picture with 8 bits a channel."""
    kind = _WITH_ALPHA if alpha else _TRUECOLOR
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0))


def encode(pixels: Rgba) -> bytes:
    """A PNG file of (H, W, 4) RGBA pixels, made for few and flat ones (it does not filter)."""
    height, width = pixels.shape[:2]
    rows = np.zeros((height, 1 + 4 * width), np.uint8)  # each row begins with its filter: none
    rows[:, 1:] = pixels.reshape(height, 4 * width)
    data = chunk(b"IDAT", zlib.compress(rows.tobytes(), 9))
    return SIGNATURE + header(width, height, alpha=True) + data + chunk(b"IEND", b"")


def text(keyword: str, said: str) -> bytes:
    """A tEXt chunk: plain and never compressed. `said` is Latin-1."""
    return chunk(b"tEXt", keyword.encode("latin-1") + b"\0" + said.encode("latin-1"))


def with_text(png: bytes, keyword: str, said: str) -> bytes:
    """The same picture with a text in it, right behind its header."""
    return png[:_HEADER_END] + text(keyword, said) + png[_HEADER_END:]


def picture(pixels: Rgba, record: Provenance) -> bytes:
    """The PNG file of (H, W, 4) RGBA pixels, with the record of the view they show."""
    return with_text(compressed(pixels), KEYWORD, record.text())


def compressed(pixels: npt.NDArray[np.uint8]) -> bytes:
    """The PNG file of (H, W, 3) or (H, W, 4) pixels."""
    from PIL import Image  # a window starts without it

    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def write(export: Export, file: IO[bytes]) -> None:
    """The picture at the view's own moment."""
    pixels = export.paints().pixels(export.still, export.options.pixels)
    file.write(picture(pixels, export.view.provenance))


class Apng:
    """An `Encoder`. A picture waits until the next one differs: only then its duration is known."""

    def __init__(self, file: IO[bytes], kind: Kind, samples: Iterable[Rgb]) -> None:
        self._file, self._kind = file, kind
        self._shown: Rgb | None = None
        self._waiting: tuple[Patch, bytes] | None = None
        self._since = self._count = self._images = self._sequence = 0
        file.write(SIGNATURE + header(kind.width, kind.height, alpha=False) + self._control())
        if kind.comment:
            file.write(text(KEYWORD, kind.comment))

    def add(self, picture: Rgb) -> None:
        """The next picture."""
        patch = changed(self._shown, picture)
        if patch is not None:
            self._flush()
            self._waiting = patch, _packed(patch.of(picture))
            self._shown, self._since = picture, self._count
        self._count += 1

    def close(self) -> None:
        """Finish the file: how many pictures it has stands at its beginning."""
        self._flush()
        self._file.write(chunk(b"IEND", b""))
        self._file.seek(_CONTROL_AT)
        self._file.write(self._control())

    def _control(self) -> bytes:
        return chunk(b"acTL", struct.pack(">II", self._images, 0 if self._kind.loop else 1))

    def _flush(self) -> None:
        """Write the picture that waits."""
        if self._waiting is None:
            return
        patch, data = self._waiting
        pictures = min(self._count - self._since, 0xFFFF)
        self._file.write(
            chunk(
                b"fcTL",
                struct.pack(
                    ">IIIIIHHBB",
                    self._number(),
                    patch.width,
                    patch.height,
                    patch.left,
                    patch.top,
                    pictures,
                    self._kind.fps,
                    0,
                    0,
                ),
            )
        )
        first = self._images == 0  # it is also what programs show that know no films
        self._file.write(
            chunk(b"IDAT", data)
            if first
            else chunk(b"fdAT", struct.pack(">I", self._number()) + data)
        )
        self._images += 1

    def _number(self) -> int:
        """The next in the sequence of chunks."""
        self._sequence += 1
        return self._sequence - 1


def _packed(pixels: Rgb) -> bytes:
    """The compressed rows of a picture."""
    return b"".join(data for kind, data in chunks(compressed(pixels)) if kind == b"IDAT")
