"""Order through mbarriers: who arrived knew what, and who waited knows it.

A warp that arrives tells what it did, and what it knew of others; when the phase is over, whoever
waits for it knows. Bytes that an mbarrier counts are there for those who waited for its phase, and
for those who heard of it from them. Assumed: lanes of a warp arrive for all of it.
"""

from __future__ import annotations

import numpy as np

from gpuviz.base.arrays import I64, Bool
from gpuviz.ptx.checks.batch import Batch
from gpuviz.traces.observe import PhaseEvent
from gpuviz.traces.trace import LANES


class Phases:
    """The mbarriers of a batch. Steps, by block, mbarrier, and warp or mbarrier: what is `known` to
    those who arrived, `done` when the last phase was over, and `seen` by warps of what is counted.
    """

    def __init__(self, batch: Batch) -> None:
        batch.unfold()
        self._batch = batch
        self._slots: dict[int, int] = {}  # by offset in shared memory
        size = batch.height, 0, batch.warps
        self._known, self._done = np.zeros(size, np.int64), np.zeros(size, np.int64)
        self._counted, self._told = (np.zeros((batch.height, 0, 0), np.int64) for _ in range(2))
        self.seen: I64 = np.zeros(size, np.int64)
        self._copies: dict[int, I64] = {}  # by step: the mbarrier of each block, -1 for none

    def slots(self, address: I64) -> I64:
        """The numbers of mbarriers."""
        for one in np.unique(address).tolist():
            if one not in self._slots:
                self._slots[one] = len(self._slots)
                more = ((0, 0), (0, 1), (0, 0))
                self._known, self._done = np.pad(self._known, more), np.pad(self._done, more)
                self.seen = np.pad(self.seen, more)
                both = ((0, 0), (0, 1), (0, 1))
                self._counted, self._told = np.pad(self._counted, both), np.pad(self._told, both)
        return np.array([self._slots[one] for one in address.tolist()], np.int64)

    def event(self, step: int, event: PhaseEvent, pairs: I64, barriers: I64) -> None:
        """Threads at mbarriers. `pairs` (blocks, to, from) is what warps know of each other, which
        waiting adds to; `barriers` (blocks,) the steps of the last ones.
        """
        batch, row = self._batch, event.block - self._batch.first
        slot, size = self.slots(event.address), batch.warps
        warp = event.thread // LANES - batch.first * size
        own = warp // size  # the block of the thread, which may be another of the cluster
        warp = warp % size
        for r, s, b, w in np.unique(np.stack([row, slot, own, warp], 1), axis=0).tolist():
            if event.kind == "init":
                self._known[r, s] = self._done[r, s] = 0
            elif event.kind == "arrive" and r == b:
                knows = np.maximum(pairs[r, w], barriers[r])
                self._known[r, s] = np.maximum(self._known[r, s], knows)
                self._known[r, s, w] = step
                self._counted[r, s] = np.maximum(self._counted[r, s], self.seen[r, :, w])
            elif event.kind == "over":
                self._done[r, s], self._told[r, s] = self._known[r, s], self._counted[r, s]
                self._told[r, s, s] = step
            elif event.kind == "wait" and r == b:
                pairs[r, w] = np.maximum(pairs[r, w], self._done[r, s])
                self.seen[r, :, w] = np.maximum(self.seen[r, :, w], self._told[r, s])

    def barrier(self, rows: slice | I64) -> None:
        """What a warp of a block has seen, all have."""
        self.seen[rows] = self.seen[rows].max(axis=2, keepdims=True)

    def part(self, rows: slice | I64, waits: Bool, came: Bool) -> None:
        """At a barrier of some warps those that wait see what those that came have: (B, W)."""
        seen = self.seen[rows]
        told = np.where(came[:, None, :], seen, 0).max(axis=2, keepdims=True)
        self.seen[rows] = np.where(waits[:, None, :], np.maximum(seen, told), seen)

    def copied(self, step: int, block: I64, mbarrier: I64) -> None:
        """A copy begins whose bytes mbarriers count."""
        into = np.full(self._batch.height, -1)
        into[block - self._batch.first] = self.slots(mbarrier)
        self._copies[step] = into

    def counted(self, step: I64) -> Bool:
        """Which steps are such copies."""
        return np.isin(step, list(self._copies))

    def there(self, step: I64, row: I64, warp: I64) -> Bool:
        """(n,) whether the bytes of copies are there for warps, in blocks."""
        found = np.zeros(len(step), bool)
        for one in np.unique(step).tolist():
            some = np.flatnonzero(step == one)
            slot = self._copies[one][row[some]]
            found[some] = self.seen[row[some], slot, warp[some]] > one
        return found
