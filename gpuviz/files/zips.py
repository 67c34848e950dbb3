"""Zip files read with a limit: what they say of their sizes is summed up before anything is
unpacked, and what unpacks to more than it says is cut there.
"""

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from gpuviz.base.errors import FormatError
from gpuviz.files import bounded
from gpuviz.words.language import tr

_STEP = 1 << 20  # bytes read at once, and of the table of contents
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the others unpack without a limit
# What reading a damaged zip raises; RuntimeError: it claims to be encrypted.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    ValueError,
    EOFError,
    RuntimeError,
    NotImplementedError,
)


class _InSteps:
    """A file as zipfile reads it, but never much at once: a table of millions of names is none."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        """As of any file; BadZipFile for more than a table of contents may have."""
        if size > _STEP:
            raise zipfile.BadZipFile(
                f"its table of contents is larger than {bounded.amount(_STEP)}"
            )
        return self._file.read(_STEP if size < 0 else size)

    def close(self) -> None:
        """It is closed by whoever opened it."""


class Zip:
    """The files in a zip, by name, and their sizes; made by `opened` and `within`."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.sizes = {info.filename: info.file_size for info in archive.infolist()}

    @contextmanager
    def opened(self, name: str) -> Iterator[BinaryIO]:
        """A file to read from; KeyError when there is none of that name."""
        with self._archive.open(self._archive.getinfo(name)) as file:
            yield file  # type: ignore[misc]  # zipfile's own kind of file

    def read(self, name: str) -> bytes:
        """All that is in a file; KeyError when there is none of that name."""
        with self.opened(name) as file:
            content = b"".join(iter(lambda: file.read(_STEP), b""))
        if len(content) != self.sizes[name]:
            raise zipfile.BadZipFile(f"{name} is cut short")
        return content


@contextmanager
def opened(path: Path, most: int, count: int = 10_000) -> Iterator[Zip]:
    """A zip file that unpacks to at most so many bytes, and holds at most so many files.

    Raises
    ------
    InputError : it cannot be read
    FormatError : it is no zip, damaged, or would unpack to more; damage that shows only while its
        files are read, too
    """
    with bounded.opened(path, most + _STEP) as file, within(file, str(path), most, count) as found:
        yield found


@contextmanager
def within(file: BinaryIO, name: str, most: int, count: int = 10_000) -> Iterator[Zip]:
    """As `opened`, of a file that is open; `name` is what errors call it."""
    try:
        with zipfile.ZipFile(_InSteps(file)) as archive:
            _check(archive.infolist(), name, most, count)
            yield Zip(archive)
    except FormatError:
        raise
    except KeyError as error:  # a file that is not in it
        raise FormatError(tr("{file} is damaged: {why}", file=name, why=error.args[0])) from None
    except _DAMAGE as error:
        raise FormatError(
            tr("{file} is damaged, or of another kind: {why}", file=name, why=error)
        ) from None


def _check(found: list[zipfile.ZipInfo], name: str, most: int, count: int) -> None:
    if sum(info.file_size for info in found) > most:
        raise FormatError(f"{name} would unpack to more than {bounded.amount(most)}")
    if len(found) > count:
        raise FormatError(f"{name} holds {len(found):,} files; at most {count:,} are read")
    seen: set[str] = set()
    for info in found:
        if info.compress_type not in _METHODS:
            raise FormatError(f"{name} holds {info.filename!r}, packed in a way that is not read")
        if info.filename in seen:
            raise FormatError(f"{name} holds {info.filename!r} twice")
        seen.add(info.filename)
