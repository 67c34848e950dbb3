"""Compiled programs on disk, found by what they were asked for, and true to the files they read.

They are JSON: nothing in them is ever executed or unpickled.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuviz.base import records
from gpuviz.base.errors import FormatError
from gpuviz.compile.dependencies import Dependencies
from gpuviz.compile.program import Program
from gpuviz.files import disk_cache
from gpuviz.files.disk_cache import DiskCache

_FORMAT = 4
KEPT = DiskCache("compile")
NOTHING = Dependencies()


@dataclass(frozen=True, eq=False)
class _Entry:
    program: Program
    reading: Dependencies


def key(*parts: object) -> str:
    """A name made of everything that decides the result, but for the headers read."""
    return disk_cache.key(_FORMAT, *parts)


def load(name: str) -> Program | None:
    """The program kept under a key; None when there is none, it is damaged, or a file that it was
    compiled from has changed.
    """
    try:
        entry = records.read(KEPT.load(name) or b"", _Entry, name)
    except FormatError:
        return None
    return entry.program if entry.reading.holds else None


def store(name: str, program: Program, reading: Dependencies | None = NOTHING) -> None:
    """Keep a program under a key; not where it is unknown what was read."""
    if reading is not None:
        KEPT.store(name, records.text(_Entry(program, reading)).encode())
