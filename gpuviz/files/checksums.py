"""Checksums of files that come with gpuviz: what was damaged later is told from what was not.

A folder's SHA256SUMS holds them as `sha256sum` writes them. What writes such a file writes them,
too; a stranger's file never lies in such a folder.
"""

import hashlib
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from gpuviz.base import resources
from gpuviz.base.errors import Error, FormatError, InputError
from gpuviz.files import bounded
from gpuviz.files import writing as files

Read = TypeVar("Read")

NAME = "SHA256SUMS"
_LARGEST = 1 << 28  # bytes of a file that comes with gpuviz
_TEXTS = (".json", ".ptx")


def seal(folder: Path) -> None:
    """Write the checksums of all files of a folder; InputError when that cannot be done."""
    every = sorted(file for file in folder.iterdir() if file.is_file() and file.name != NAME)
    files.write(folder / NAME, "".join(f"{_sum(file)}  {file.name}\n" for file in every))
    _sums.cache_clear()


def seal_again(file: Path) -> None:
    """After a file was written: renew the checksums, if it is one that comes with gpuviz."""
    folder = file.absolute().parent
    if folder.is_relative_to(resources.path().absolute()) and (folder / NAME).is_file():
        seal(folder)


def check(file: Path) -> None:
    """Refuse a file that is not as it came.

    Raises
    ------
    FormatError : it has another checksum, none is known, or it cannot be read
    """
    try:
        same = _sums(file.parent).get(file.name) == _sum(file)
    except (InputError, ValueError):
        same = False
    if not same:
        raise FormatError(f"{file}, which came with gpuviz, is damaged: install gpuviz again")


def shipped(name: str, read: Callable[[Path], Read]) -> Read | None:
    """What is read of a resource; None where it is not there, damaged, or refused by `read`."""
    return _whole(resources.path(name), read)


def every(pattern: str, read: Callable[[Path], Read]) -> Iterator[tuple[Path, Read | None]]:
    """The resources whose name is like that, `recordings/*.gpurec`, each read as by `shipped`."""
    return ((file, _whole(file, read)) for file in sorted(resources.path().glob(pattern)))


def _whole(file: Path, read: Callable[[Path], Read]) -> Read | None:
    try:
        check(file)
        return read(file)
    except Error:
        return None


@cache
def _sums(folder: Path) -> dict[str, str]:
    lines = bounded.text(folder / NAME).splitlines()
    return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}


def _sum(file: Path) -> str:
    """Of a text the same for either kind of line ending: some tools change them."""
    content = bounded.read(file, _LARGEST)
    if file.suffix in _TEXTS:
        content = content.replace(b"\r\n", b"\n")
    return sha256(content).hexdigest()


def source_hash(source: str) -> str:
    """Checksum of a kernel's source, the same for either kind of line ending."""
    return hashlib.sha256(source.replace("\r\n", "\n").encode()).hexdigest()
