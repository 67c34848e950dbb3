"""Requests that look alike are counted once.

Two requests look alike when their lanes are equally active, their addresses differ by a constant,
and the constant is a multiple of a period over which nothing that is counted changes. Alike is
exact: rows are compared, hashes only find candidates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import I64, U64, Bool
from gpuviz.traces.trace import LANES

_MIX = np.random.default_rng(2).integers(1, 2**63, LANES + 2, dtype=np.uint64) * 2 + 1
_FULL = np.ones((1, LANES), dtype=bool)


@dataclass(frozen=True, eq=False)
class Rows:
    """R different requests, each standing for `weight` alike ones."""

    address: U64
    active: Bool
    weight: I64


def representatives(address: U64, active: Bool | None, period: int) -> Rows:
    """The different ones among (N, 32) requests; `period` bytes is a power of two."""
    base, relative = _relative(address, active)
    phase = base & np.uint64(period - 1)
    if _all_alike(relative, active):
        phases, weight = np.unique(phase, return_counts=True)
        rows = relative[:1] + phases[:, None]
        return Rows(rows, np.repeat(_mask(active, [0]), len(rows), axis=0), weight)
    index, weight = _different(relative, active, phase)
    return Rows(relative[index] + phase[index, None], _mask(active, index), weight)


def _mask(active: Bool | None, index: I64 | list[int]) -> Bool:
    """Active lanes of the rows picked."""
    return np.repeat(_FULL, len(index), axis=0) if active is None else active[index]


def _relative(address: U64, active: Bool | None) -> tuple[U64, U64]:
    """(N,) address of the first active lane, and all addresses relative to it (0 if inactive)."""
    if active is None:
        base = address[:, 0]
        return base, address - base[:, None]
    first = active.argmax(axis=1)
    base = address[np.arange(len(address)), first]
    relative = address - base[:, None]
    relative *= active
    return base, relative


def _all_alike(relative: U64, active: Bool | None) -> bool:
    """Whether all rows equal the first."""
    same = active is None or bool((active == active[0]).all())
    return same and bool((relative == relative[0]).all())


def _different(relative: U64, active: Bool | None, phase: U64) -> tuple[I64, I64]:
    """Indices of one row of each kind, and how many there are of it."""
    mixed = relative @ _MIX[:LANES] + phase * _MIX[LANES]
    if active is not None:
        mixed += np.packbits(active, axis=1).view(np.uint32)[:, 0] * _MIX[LANES + 1]
    _, index, kind, weight = np.unique(
        mixed, return_index=True, return_inverse=True, return_counts=True
    )
    alike = index[kind]
    exact = (relative == relative[alike]).all() and (phase == phase[alike]).all()
    if exact and (active is None or (active == active[alike]).all()):
        return index, weight
    every = np.arange(len(relative))  # a hash collision: count each row by itself
    return every, np.ones_like(every)


class Patterns:
    """Remembers the counts of small sets of requests it has seen."""

    rows = 64
    entries = 4096

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], I64] = {}

    def recall(self, kind: tuple[object, ...], rows: Rows, count: Callable[[], I64]) -> I64:
        """(R, Q) counts of the rows: remembered, or counted now."""
        if len(rows.address) > self.rows:
            return count()
        key = (kind, rows.address.tobytes(), rows.active.tobytes())
        if key not in self._known:
            if len(self._known) >= self.entries:
                self._known.clear()
            self._known[key] = count()
        return self._known[key]
