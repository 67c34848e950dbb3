"""Where bundles are unpacked to: a folder for each content, held against the bundle at every use.

The folder is in the cache, which anybody may clear or change, so nothing in it is believed. It has
a bounded number of bytes; what a running gpuviz uses stays. Where nothing can be written it is in
memory, as long as gpuviz runs.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePosixPath
from typing import IO

from gpuviz.files import folders
from gpuviz.files.disk_cache import Kept, surplus, touch

ROOM = 1 << 30  # bytes of all bundles
_PART = ".part"
_SHARED_MEMORY = Path("/dev/shm")
Contents = Callable[[], Iterable[tuple[str, bytes]]]

_held: dict[Path, IO[bytes]] = {}  # what this process uses, and the locks that say so


def folder_of(digest: str, contents: Contents) -> Path:
    """The folder with exactly these files, by their names; `digest` is of them all.

    Raises
    ------
    OSError : there is no place to write to
    whatever `contents` raises
    """
    try:
        return _in(folders.cache() / "lectures", digest, contents)
    except OSError:  # full, read-only, or no folder at all
        return _in(_memory(), digest, contents)


def _in(root: Path, digest: str, contents: Contents) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    folder = root / digest
    _hold(folder)
    if not _same(folder, contents):
        _make(folder, contents)
        _prune(root)
    touch(folder)
    return folder


def _same(folder: Path, contents: Contents) -> bool:
    """Whether the folder holds these files and no others; a link is none of them."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    there = set(_files(folder))
    for name, content in contents():
        file = _place(folder, name)
        if file not in there or file.is_symlink() or not _holds(file, content):
            return False
        there.remove(file)
    return not there


def _holds(file: Path, content: bytes) -> bool:
    with file.open("rb") as opened:
        there = hashlib.file_digest(opened, "sha256")
    return there.digest() == hashlib.sha256(content).digest()


def _make(folder: Path, contents: Contents) -> None:
    """All or nothing: a bundle that was half unpacked would be taken for whole."""
    part = Path(tempfile.mkdtemp(dir=folder.parent, suffix=_PART))
    try:
        made = part / "made"
        made.mkdir()
        for name, content in contents():
            file = _place(made, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        with suppress(FileNotFoundError):
            os.replace(folder, part / "before")
        try:
            os.replace(made, folder)
        except OSError:
            if not _same(folder, contents):  # else another gpuviz has unpacked it meanwhile
                raise
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _place(folder: Path, name: str) -> Path:
    return folder.joinpath(*PurePosixPath(name).parts)


def _files(folder: Path) -> Iterable[Path]:
    """Everything below it that is no folder; what links to one is a file."""
    for place, inner, files in os.walk(folder):
        links = [name for name in inner if (Path(place) / name).is_symlink()]
        yield from (Path(place) / name for name in (*files, *links))


def _prune(root: Path) -> None:
    """Let go what was used longest ago, but for what somebody uses."""
    every = [_kept(folder) for folder in root.iterdir() if folder.is_dir()]
    idle = [one for one in every if one.path not in _held]
    room = ROOM - sum(one.size for one in every if one.path in _held)
    for folder in surplus(idle, max(room, 0)):
        lock = None if folder.suffix == _PART else _alone(folder)
        if lock is not None or folder.suffix == _PART:
            shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            lock.close()


def _kept(folder: Path) -> Kept:
    size = 0
    for file in _files(folder):
        with suppress(OSError):
            size += file.lstat().st_size
    used = 0.0
    with suppress(OSError):
        used = folder.stat().st_mtime
    return Kept(folder, size, used)


def _hold(folder: Path) -> None:
    """Keep others from letting it go, as long as this process runs."""
    if folder not in _held:
        lock = _lock_of(folder).open("ab")
        if sys.platform != "win32":  # where a file that is open cannot be removed
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_SH)
        _held[folder] = lock


def _alone(folder: Path) -> IO[bytes] | None:
    """The lock of a folder that nobody uses, to be closed; None when somebody does."""
    lock = _lock_of(folder)
    try:
        if sys.platform == "win32":
            lock.unlink(missing_ok=True)
            return lock.open("ab")
        import fcntl

        file = lock.open("ab")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return None
        return file
    except OSError:
        return None


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


@cache
def _memory() -> Path:
    """A folder of this process alone, which goes with it: in memory where the system has that."""
    there = _SHARED_MEMORY if os.access(_SHARED_MEMORY, os.W_OK) else None
    made = Path(tempfile.mkdtemp(prefix="gpuviz-", dir=there))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made
