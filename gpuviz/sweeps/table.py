"""What is known of a sweep as arrays: a row for each value of the second axis; those that are kept,
which the user made or which ship with gpuviz.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from gpuviz.base.arrays import F64, Bool
from gpuviz.base.errors import Error
from gpuviz.files import checksums, disk_cache, folders
from gpuviz.sweeps import quantity
from gpuviz.sweeps.axis import Axis, Cell, cells
from gpuviz.sweeps.cell import Found, Outcome
from gpuviz.sweeps.record import Head, Key, key, read, read_head

SHIPPED = "recordings/*.jsonl.gz"


@dataclass(frozen=True, eq=False)
class Table:
    """The cells of two axes, or of one, and what came of each; those not done are not known.

    `head` says what it is a sweep of, None where nobody asks.
    """

    axes: tuple[Axis, ...]
    outcomes: Mapping[Key, Outcome]
    head: Head | None = None

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All of them, row by row."""
        return cells(self.axes)

    @cached_property
    def known(self) -> tuple[Outcome | None, ...]:
        """What came of each, None where it is not done."""
        return tuple(self.outcomes.get(key(cell)) for cell in self.cells)

    @property
    def done(self) -> int:
        """How many cells are."""
        return sum(one is not None for one in self.known)

    @property
    def whole(self) -> bool:
        """Whether all are."""
        return self.done == len(self.cells)

    @property
    def failed(self) -> Bool:
        """(rows, columns) where nothing ever will be."""
        return self._shaped([bool(one and one.error) for one in self.known]).astype(bool)

    def values(self, wanted: str, role: str = "") -> F64:
        """(rows, columns) of a quantity (see `quantity.value`), NaN where it is not known."""
        found = [quantity.value(one, wanted, role) if one else None for one in self.known]
        return self._shaped([math.nan if one is None else one for one in found])

    def found(self, cell: Cell, role: str = "") -> Found | None:
        """What was found out of the launch of a cell, None where it is not known."""
        outcome = self.outcomes.get(key(cell), Outcome())
        return next((one for one in outcome.found if not role or one.role == role), None)

    def _shaped(self, values: Sequence[float]) -> F64:
        return np.asarray(values, np.float64).reshape(-1, len(self.axes[0].values))


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
