"""Files written whole or not at all: whoever reads sees the old content or the new, never half.

What is being written lies beside its target as `.gpuviz-HEX.part`, locked by who writes it. One
that nobody holds was left by a process that was killed: the next who writes there, or is about to,
removes it (not what can be lost: a cache has its own housekeeping).
"""

import errno
import os
import re
import secrets
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from gpuviz.base.errors import InputError

_PART = re.compile(r"\.gpuviz-[0-9a-f]{16}\.part")
_YOUNG = 2.0  # seconds in which a part may not have been locked yet
_REMEDIES = {
    errno.ENOSPC: "make room there, or name another place",
    errno.EDQUOT: "make room there, or name another place",
    errno.EROFS: "name a place that can be written",
    errno.EACCES: "name a place that you may write to",
    errno.EPERM: "name a place that you may write to",
}


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
        if durable or not parents:
            check_place(target)
        with _beside(target, durable) if _replaceable(target) else target.open("wb") as file:
            yield file
    except OSError as error:  # a folder, a full disk, a file held open, a name too long
        raise InputError(f"cannot write {path}: {_told(error)}") from None


def write(path: Path, content: str | bytes, *, parents: bool = False, durable: bool = True) -> None:
    """Write bytes, or a text in UTF-8, as `whole` does; InputError when that cannot be done."""
    with whole(path, parents=parents, durable=durable) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def check_place(path: Path) -> None:
    """InputError when there is no folder for a file; said before what takes long is made."""
    if not path.parent.is_dir():
        raise InputError(
            f"cannot write {path}: there is no folder {path.parent}; make it first, or name a "
            "file in a folder that is there"
        )
    remove_left(path.parent)


def make_folder(path: Path) -> None:
    """A folder that the user has named, made if it is not there; the one it lies in has to be.

    Raises
    ------
    InputError : it cannot be made, or something else has its name
    """
    check_place(path)
    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {path}: {_told(error)}") from None
    remove_left(path)


def _told(error: OSError) -> str:
    """Why, and what to do about it."""
    remedy = _REMEDIES.get(error.errno or 0, "")
    return "; ".join(part for part in (error.strerror or str(error), remedy) if part)


def _replaceable(target: Path) -> bool:
    """Whether there is a file, or nothing yet."""
    return target.is_file() or not target.exists()


@contextmanager
def _beside(target: Path, durable: bool) -> Iterator[BinaryIO]:
    """A file in the same folder that becomes the target; it is held until it has."""
    part = target.with_name(f".gpuviz-{secrets.token_hex(8)}.part")
    try:  # from before it is there: who is told to end may be told at any line
        with part.open("xb") as file:
            with suppress(OSError):  # a file system without locks: it is not removed there, either
                _hold(file)
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
            with suppress(FileNotFoundError):
                part.chmod(stat.S_IMODE(target.stat().st_mode))
            if sys.platform == "win32":
                file.close()
            os.replace(part, target)
    except BaseException:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise
    if durable:
        _sync_folder(target.parent)


def remove_left(folder: Path) -> None:
    """Remove what a process was writing here when it was killed, as each durable writing does."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _PART.fullmatch(entry.name):
                with suppress(OSError):
                    _remove_if_left(Path(entry.path))


def _remove_if_left(part: Path) -> None:
    """OSError when it is held, or cannot be removed (as Windows has it of files that are open)."""
    if abs(time.time() - part.stat().st_mtime) < _YOUNG:  # a clock may have been set back
        return
    if sys.platform == "win32":  # what is open there cannot be removed
        part.unlink()
        return
    with part.open("rb") as file:
        _hold(file)
        part.unlink()


def _hold(file: BinaryIO) -> None:
    """Hold a file until it is closed, however that comes about; OSError when somebody else does."""
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _sync_folder(folder: Path) -> None:
    """Have the name survive, too, where the system can do that for folders."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
