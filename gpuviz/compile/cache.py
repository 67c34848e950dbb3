"""Compiled programs on disk, found by the content they were made from.

They are JSON: nothing in them is ever executed or unpickled.
"""

from __future__ import annotations

from gpuviz import disk_cache, records
from gpuviz.compile.program import Program
from gpuviz.disk_cache import DiskCache
from gpuviz.errors import FormatError

_FORMAT = 1
KEPT = DiskCache("compile")


def key(*parts: object) -> str:
    """A name made of everything that decides the result."""
    return disk_cache.key(_FORMAT, *parts)


def load(name: str) -> Program | None:
    """The program kept under a key, None when there is none or it is damaged."""
    try:
        return records.read(KEPT.load(name) or b"", Program, name)
    except FormatError:
        return None


def store(name: str, program: Program) -> None:
    """Keep a program under a key."""
    KEPT.store(name, records.text(program).encode())
