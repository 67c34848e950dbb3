"""What can be made again, kept on disk under names made of all that decides it.

An entry is a line with the checksum of what follows, then the content. One that is damaged or cut
short counts as absent. A disk that is full or read-only is no error: nothing is kept.

Folders are bounded in bytes; what was used longest ago goes first. Several processes may use one.
"""

import hashlib
import json
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gpuviz import __version__
from gpuviz.base.errors import InputError
from gpuviz.files import bounded, folders
from gpuviz.files import writing as files

_LOOKS = 16  # a folder is listed again when this part of its room has been written
_SPARE = 0.75  # of the room is left filled, so that there is nothing to do for a while
_ABANDONED = 3600.0  # seconds after which nobody goes on with a file that was begun
_written: dict[Path, int] = {}  # bytes since this process has listed the folder


def key(*parts: object) -> str:
    """A name made of everything that decides the content."""
    text = json.dumps([__version__, *parts], default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def stamp(file: Path) -> tuple[str, int, int]:
    """What tells a program or library from the one that was there before; OSError when gone."""
    found = file.stat()
    return str(file), found.st_size, found.st_mtime_ns


@dataclass(frozen=True)
class Kept:
    """Something in a folder: its place, bytes, and when it was used last, in seconds."""

    path: Path
    size: int
    used: float

    @property
    def abandoned(self) -> bool:
        """Whether it was begun and never made whole, by a process that is gone."""
        away = abs(time.time() - self.used)  # a clock may have been set back since
        return self.path.suffix == ".part" and away > _ABANDONED


def surplus(kept: Iterable[Kept], room: int) -> list[Path]:
    """What has to go for the rest to have so many bytes: nothing as long as all fit in."""
    soon = time.time() + _ABANDONED  # what a clock that was ahead left would never go
    by_age = sorted(kept, key=lambda one: one.used if one.used <= soon else 0.0)
    gone = [one for one in by_age if one.abandoned]
    left = [one for one in by_age if one.path.suffix != ".part"]
    total = sum(one.size for one in left)
    aim = total if total <= room else room * _SPARE
    for one in left:
        if total <= aim:
            break
        gone.append(one)
        total -= one.size
    return [one.path for one in gone]


def touch(path: Path) -> None:
    """It was used now."""
    with suppress(OSError):  # a folder that is read-only, or it is gone
        os.utime(path)


@dataclass(frozen=True)
class DiskCache:
    """A folder of entries by name that takes at most about `room` bytes."""

    name: str
    room: int = 256 << 20

    @property
    def folder(self) -> Path:
        """Where they are."""
        return folders.cache() / self.name

    def load(self, name: str) -> bytes | None:
        """What is kept under a name, None when there is nothing, or it is damaged."""
        try:
            kept = bounded.read(self.folder / name, self.room)
        except InputError:
            return None
        checksum, _, content = kept.partition(b"\n")
        if hashlib.sha256(content).hexdigest().encode() != checksum:
            return None
        touch(self.folder / name)
        return content

    def store(self, name: str, content: bytes) -> None:
        """Keep it under a name, unless it alone is larger than the room."""
        text = hashlib.sha256(content).hexdigest().encode() + b"\n" + content
        if len(text) > self.room:
            return
        with suppress(InputError, OSError):
            files.write(self.folder / name, text, parents=True, durable=False)
            self._wrote(len(text))

    def _wrote(self, size: int) -> None:
        """Listing a folder of thousands at every entry would take longer than making some."""
        folder = self.folder
        since = _written.get(folder, self.room) + size
        if since >= self.room // _LOOKS:
            for path in surplus(_listed(folder), self.room):
                path.unlink(missing_ok=True)
            since = 0
        _written[folder] = since


def _listed(folder: Path) -> list[Kept]:
    """The files of a folder that are still there when they are looked at."""
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                told = entry.stat(follow_symlinks=False)
                found.append(Kept(Path(entry.path), told.st_size, told.st_mtime))
    return found
