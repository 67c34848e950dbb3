"""Who last touched each cell of a memory: what the race check remembers of every access.

Of a cell it is enough to know two of the threads that wrote it since anything ordered them, and two
that read it: the first and the last by number. If any two of them are of different lanes, warps or
blocks, then so are these. A newer access that is ordered after an older one takes its place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import I64, Bool

After = Callable[[I64, I64, I64], Bool]  # (steps, their threads, threads): are these over for those
STEP = np.int64((1 << 32) - 1)


@dataclass(frozen=True, eq=False)
class Touch:
    """Accesses of one event, in the order of their threads: (n,) cells and threads.

    Each lane's access takes `parts` cells in a row.
    """

    cell: I64
    thread: I64
    parts: int = 1


@dataclass(frozen=True, eq=False)
class Earlier:
    """What was there before: for each access of an event, the step and thread of an earlier one.

    `step` is 0 where there is none.
    """

    step: I64
    thread: I64


class Shadow:
    """The cells of a memory, `unit` bytes each; grows as higher cells are touched.

    An access is a number: its thread (from 1) in the upper, its step in the lower 32 bits.
    """

    def __init__(self, cells: int, unit: int = 4) -> None:
        self.unit = unit
        self._writes = np.zeros((2, cells), np.int64)
        self._reads = np.zeros((2, cells), np.int64)

    def __len__(self) -> int:
        """How many cells there are."""
        return self._reads.shape[1]

    def refine(self, unit: int) -> None:
        """Cells of fewer bytes from now on."""
        parts = self.unit // unit
        self._writes, self._reads = (a.repeat(parts, axis=1) for a in (self._writes, self._reads))
        self.unit = unit

    def widen(self, rows: int, wide: int) -> None:
        """Cells are `rows` of one length: now `wide` each."""

        def wider(kept: I64) -> I64:
            split = kept.reshape(*kept.shape[:-1], rows, -1)
            more = [(0, 0)] * (split.ndim - 1) + [(0, wide - split.shape[-1])]
            return np.asarray(np.pad(split, more).reshape(*kept.shape[:-1], -1))

        self._writes, self._reads = wider(self._writes), wider(self._reads)

    def each_block(self, blocks: int, threads: int) -> None:
        """What one block did, each of several did: those after it, of `threads` each, as well."""
        later = (np.arange(blocks) * threads << 32)[:, None]

        def each(kept: I64) -> I64:
            both = np.where(kept[:, None] != 0, kept[:, None] + later, 0)
            return np.asarray(both.reshape(len(kept), -1))

        self._writes, self._reads = each(self._writes), each(self._reads)

    def writes(self, touch: Touch) -> list[Earlier]:
        """Of the cells touched, the first and the last of those that wrote them."""
        return _earlier(self._writes, touch)

    def reads(self, touch: Touch) -> list[Earlier]:
        """Of the cells touched, the first and the last of those that read them."""
        return _earlier(self._reads, touch)

    def read(self, step: int, touch: Touch, after: After) -> None:
        """Threads have read cells."""
        _keep(self._reads, step, touch, after)

    def write(self, step: int, touch: Touch, after: After) -> Earlier | None:
        """Threads have written cells. Who of the same event wrote them last, where that is another
        thread (step 0 elsewhere); None when nobody's cell is another's, too.
        """
        _keep(self._writes, step, touch, after)
        winner = (self._writes[1].take(touch.cell) >> 32) - 1
        others = winner != touch.thread
        return Earlier(np.where(others, step, 0), winner) if others.any() else None


def _earlier(kept: I64, touch: Touch) -> list[Earlier]:
    first, last = kept[0].take(touch.cell), kept[1].take(touch.cell)
    if not last.any():
        return []
    both = (first,) if (first == last).all() else (first, last)
    return [Earlier(one & STEP, (one >> 32) - 1) for one in both]


def _keep(kept: I64, step: int, touch: Touch, after: After) -> None:
    """Take accesses among the first and the last of their cells."""
    fresh = (touch.thread + 1) << 32 | step
    cell = touch.cell
    first, last = kept[0].take(cell), kept[1].take(cell)
    if last.any():
        first = np.where(_stays(first, touch, after) & (first < fresh), first, fresh)
        last = np.where(_stays(last, touch, after) & (last > fresh), last, fresh)
    else:
        first = last = fresh
    kept[0][cell[::-1]] = first[::-1]  # of several to one cell, the first thread ...
    kept[1][cell] = last  # ... and the last one are what is left


def _stays(entry: I64, touch: Touch, after: After) -> Bool:
    """Which of earlier accesses are of others, and not over for the threads that come now."""
    other = (entry >> 32) - 1
    stays: Bool = (entry != 0) & (other != touch.thread)
    some = np.flatnonzero(stays)
    if len(some):
        over = after(entry[some] & STEP, other[some], touch.thread[some])
        stays[some] = ~over
    return stays
