"""Sweeps that are kept: those that the user made, and those that ship with gpuviz."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from gpuviz.base.errors import Error
from gpuviz.files import checksums, disk_cache, folders
from gpuviz.sweeps.axis import Axis
from gpuviz.sweeps.cell import Outcome
from gpuviz.sweeps.record import Head, Key, read, read_head
from gpuviz.sweeps.table import Table

SHIPPED = "recordings/*.jsonl.gz"


def folder() -> Path:
    """Where those of the user lie."""
    return folders.data() / "sweeps"


def file_of(head: Head, axes: tuple[Axis, ...]) -> Path:
    """Where one of the user's is kept: a name made of what is varied and of all that decides it."""
    of = head.of.get("lesson") or head.of.get("file", "")
    names = "-".join((of, *(axis.name for axis in axes), head.on))
    plain = "".join(letter if letter.isalnum() else "-" for letter in names).strip("-")[:60]
    mark = disk_cache.key(sorted(head.of.items()), head.arch, head.level, head.device)[:8]
    return folder() / f"{plain}-{mark}.jsonl"


def find(wanted: Head, axes: tuple[Axis, ...]) -> Table | None:
    """What is known of a sweep: by the user's own, where that is whole, or by what ships, or by as
    much of the user's own as is done; None where nobody has done any of it.

    A measured sweep that ships is of a GPU of its own, whatever GPU is wanted.
    """
    own = _own(file_of(wanted, axes), wanted, axes)
    if own is not None and own.whole:
        return own
    return next(_shipped_for(wanted, axes), own)


def _own(file: Path, wanted: Head, axes: tuple[Axis, ...]) -> Table | None:
    """The user's, None where it cannot be read, or holds another sweep."""
    try:
        if read_head(file) != wanted:
            return None
        head, outcomes = read(file)
    except Error:
        return None
    return Table(axes, outcomes, head)


def _shipped_for(wanted: Head, axes: tuple[Axis, ...]) -> Iterator[Table]:
    """Those that ship: counted at the level wanted first."""
    suiting = [one for one in shipped() if _suits(one[0], wanted)]
    for head, outcomes in sorted(suiting, key=lambda one: one[0].level != wanted.level):
        if (made := Table(axes, outcomes, head)).whole:
            yield made


def _suits(have: Head, wanted: Head) -> bool:
    """Whether a sweep is of the same launches, counted for the same architecture or measured."""
    same = (have.of, have.on) == (wanted.of, wanted.on)
    return same and (have.on == "gpu" or have.arch == wanted.arch)


@cache
def shipped() -> tuple[tuple[Head, Mapping[Key, Outcome]], ...]:
    """Those that came with gpuviz, without any that is damaged."""
    return tuple(found for _, found in checksums.every(SHIPPED, read) if found is not None)
