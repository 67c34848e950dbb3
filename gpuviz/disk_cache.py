"""What can be made again, kept on disk under names made of all that decides it.

An entry is a line with the checksum of what follows, then the content. One that is damaged or cut
short counts as absent. A disk that is full or read-only is no error: nothing is kept.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from gpuviz import __version__, files, folders
from gpuviz.errors import InputError


def key(*parts: object) -> str:
    """A name made of everything that decides the content."""
    text = json.dumps([__version__, *parts], default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def stamp(file: Path) -> tuple[str, int, int]:
    """What tells a program or library from the one that was there before; OSError when gone."""
    found = file.stat()
    return str(file), found.st_size, found.st_mtime_ns


@dataclass(frozen=True)
class DiskCache:
    """A folder of entries by name, at most so many: the oldest go first."""

    name: str
    most: int = 400

    @property
    def folder(self) -> Path:
        """Where they are."""
        return folders.cache() / self.name

    def load(self, name: str) -> bytes | None:
        """What is kept under a name, None when there is nothing, or it is damaged."""
        try:
            checksum, _, content = (self.folder / name).read_bytes().partition(b"\n")
        except OSError:
            return None
        return content if hashlib.sha256(content).hexdigest().encode() == checksum else None

    def store(self, name: str, content: bytes) -> None:
        """Keep it under a name."""
        text = hashlib.sha256(content).hexdigest().encode() + b"\n" + content
        try:
            files.write(self.folder / name, text, parents=True, durable=False)
            self._prune()
        except (InputError, OSError):
            return

    def _prune(self) -> None:
        entries = sorted(self.folder.iterdir(), key=lambda file: file.stat().st_mtime)
        for file in entries[: -self.most]:
            file.unlink(missing_ok=True)
