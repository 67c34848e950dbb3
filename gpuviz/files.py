"""Files written whole or not at all: whoever reads sees the old content or the new, never half."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from gpuviz.errors import InputError


@contextmanager
def whole(path: Path, *, parents: bool = False, durable: bool = True) -> Iterator[BinaryIO]:
    """A file that takes its name when all is written; else what was there stays, and nothing else.

    A file that is there keeps its permissions, a new one gets those that the user's new files have.
    A link stays one: the file it leads to is written. `parents` makes the folders; what is
    `durable` survives a power failure. What is no file (a pipe, /dev/null) is written as it comes.

    Raises
    ------
    InputError : it cannot be written
    """
    try:
        target = Path(os.path.realpath(path))
        if parents:
            target.parent.mkdir(parents=True, exist_ok=True)
        with _beside(target, durable) if _replaceable(target) else target.open("wb") as file:
            yield file
    except OSError as error:  # a folder, a full disk, a file held open, a name too long
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None


def write(path: Path, content: str | bytes, *, parents: bool = False, durable: bool = True) -> None:
    """Write bytes, or a text in UTF-8, as `whole` does; InputError when that cannot be done."""
    with whole(path, parents=parents, durable=durable) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def _replaceable(target: Path) -> bool:
    """Whether there is a file, or nothing yet."""
    return target.is_file() or not target.exists()


@contextmanager
def _beside(target: Path, durable: bool) -> Iterator[BinaryIO]:
    """A file in the same folder that becomes the target."""
    part = target.with_name(f".{secrets.token_hex(8)}.part")
    with part.open("xb") as file:
        try:
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        except BaseException:
            file.close()
            part.unlink(missing_ok=True)
            raise
    try:
        with suppress(FileNotFoundError):
            part.chmod(stat.S_IMODE(target.stat().st_mode))
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    if durable:
        _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Have the name survive, too, where the system can do that for folders."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
