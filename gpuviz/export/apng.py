"""Animated PNG films, written as they are drawn: colours exact, of each picture what changed."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import IO

from gpuviz.export import png
from gpuviz.export.film import Kind, Patch, Rgb, changed
from gpuviz.views.provenance import KEYWORD

_CONTROL_AT = len(png.SIGNATURE) + 25  # behind the header


class Apng:
    """An `Encoder`. A picture waits until the next one differs: only then its duration is known."""

    def __init__(self, file: IO[bytes], kind: Kind, samples: Iterable[Rgb]) -> None:
        self._file, self._kind = file, kind
        self._shown: Rgb | None = None
        self._waiting: tuple[Patch, bytes] | None = None
        self._since = self._count = self._images = self._sequence = 0
        file.write(
            png.SIGNATURE + png.header(kind.width, kind.height, alpha=False) + self._control()
        )
        if kind.comment:
            file.write(png.text(KEYWORD, kind.comment))

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
        self._file.write(png.chunk(b"IEND", b""))
        self._file.seek(_CONTROL_AT)
        self._file.write(self._control())

    def _control(self) -> bytes:
        return png.chunk(b"acTL", struct.pack(">II", self._images, 0 if self._kind.loop else 1))

    def _flush(self) -> None:
        """Write the picture that waits."""
        if self._waiting is None:
            return
        patch, data = self._waiting
        pictures = min(self._count - self._since, 0xFFFF)
        self._file.write(
            png.chunk(
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
            png.chunk(b"IDAT", data)
            if first
            else png.chunk(b"fdAT", struct.pack(">I", self._number()) + data)
        )
        self._images += 1

    def _number(self) -> int:
        """The next in the sequence of chunks."""
        self._sequence += 1
        return self._sequence - 1


def _packed(pixels: Rgb) -> bytes:
    """The compressed rows of a picture."""
    chunks = png.chunks(png.compressed(pixels))
    return b"".join(data for kind, data in chunks if kind == b"IDAT")
