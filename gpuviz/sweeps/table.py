"""What is known of a sweep as arrays: a row for each value of the second axis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuviz.base.arrays import F64, Bool
from gpuviz.sweeps import quantity
from gpuviz.sweeps.axis import Axis, Cell, cells
from gpuviz.sweeps.cell import Found, Outcome
from gpuviz.sweeps.record import Head, Key, key


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
