"""In which order the threads of a block are: barriers, warps that synchronise, awaited copies.

Every event has a number, its step. What a thread did at step s is over for another thread when an
event that orders the two came after s; so it is enough to keep the step of the last such event:
of a block, of a warp; and of a pair of warps, a pair of lanes, once a part of them met alone.
"""

import numpy as np

from gpuviz.base.arrays import I64, Bool
from gpuviz.ptx.checks.batch import Batch
from gpuviz.traces.observe import BarrierEvent, PhaseEvent, Transfer, Warps, WarpSync
from gpuviz.traces.trace import LANES

# --- mbarriers -----------------------------------------------------------------------------------
#
# A warp that arrives tells what it did, and what it knew of others; when the phase is over, whoever
# waits for it knows. Bytes that an mbarrier counts are there for those who waited for its phase,
# and for those who heard of it from them. Assumed: lanes of a warp arrive for all of it.


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


GROUPS = 8  # groups of asynchronous copies that are told apart


class Order:
    """What orders the threads of a batch.

    `lockstep` takes the lanes of a warp for ordered, as they were before compute capability 7.0.
    `barriers` (H,) are the steps of the last barrier of each block; it is replaced, not changed.
    """

    def __init__(self, batch: Batch, lockstep: bool) -> None:
        self.batch, self.lockstep = batch, lockstep
        self.barriers: I64 = np.zeros(1, np.int64)
        self._warps: I64 = np.zeros(batch.warps, np.int64)
        self._lanes: I64 | None = None  # (warps, to, from)
        self._pairs: I64 | None = None  # (blocks, to, from)
        self.copies: _Copies | None = None
        self.phases: Phases | None = None
        batch.on_unfold(self._unfold)

    def _unfold(self, blocks: int) -> None:
        self.barriers = self.barriers.repeat(blocks)
        self._warps = np.tile(self._warps, blocks)
        if self._lanes is not None:
            self._lanes = np.tile(self._lanes, (blocks, 1, 1))
        if self._pairs is not None:
            self._pairs = self._pairs.repeat(blocks, axis=0)
        if self.copies is not None:
            self.copies.unfold(blocks)

    def barrier(self, step: int, blocks: I64, meeting: BarrierEvent | None) -> None:
        """Blocks go on from a barrier."""
        rows = self.batch.block_rows(blocks)
        if meeting is not None and meeting.count:
            self._part(step, blocks, meeting)
        else:
            self.barriers = self.barriers.copy()
            self.barriers[rows] = step
            if self.copies is not None:
                self.copies.barrier(rows)
            if self.phases is not None:
                self.phases.barrier(rows)

    def published(self, rows: slice | I64, steps: I64) -> None:
        """Blocks go on from a barrier that orders what warps had published: (rows, W) steps."""
        self.batch.unfold()
        pairs = self._known_pairs()
        pairs[rows] = np.maximum(pairs[rows], steps[:, None, :])

    def _part(self, step: int, blocks: I64, meeting: BarrierEvent) -> None:
        """A barrier of some warps: those that waited know what all that came have done."""
        size, batch = self.batch.warps, self.batch
        came = meeting.came.reshape(len(blocks), size, LANES).max(axis=2)
        if (came != came[0]).any():
            batch.unfold()
        rows = batch.block_rows(blocks)
        if batch.height == 1:
            came = came[:1]
        pairs = self._known_pairs()
        waits = np.array([False, *meeting.waits])[came]
        meets = waits[:, :, None] & (came > 0)[:, None, :]
        pairs[rows] = _met(pairs[rows], meets, step)
        if self.phases is not None:
            self.phases.part(rows, waits, came > 0)

    def warp_sync(self, step: int, sync: WarpSync) -> None:
        """Lanes of warps synchronise: those that name each other."""
        warp, active, (members, running) = self.batch.spread(
            sync.warps, sync.active, sync.members, sync.running
        )
        here: Bool = np.ones(members.shape, bool) if active is None else active
        if not (running & ~here).any() and _names_all(members, here):
            self._warps[warp] = step
            return
        if self._lanes is None:
            self._lanes = np.zeros((len(self._warps), LANES, LANES), np.int64)
        names = (members[:, :, None] >> np.arange(LANES, dtype=np.uint32)) & np.uint32(1) != 0
        both = names & names.transpose(0, 2, 1) & here[:, :, None] & here[:, None, :]
        self._lanes[warp] = _met(self._lanes[warp], both, step)

    def phase(self, step: int, event: PhaseEvent) -> None:
        """Threads at mbarriers."""
        self._begin_phases().event(step, event, self._known_pairs(), self.barriers)

    def counted(self, step: int, transfer: Transfer) -> None:
        """A copy begins whose bytes an mbarrier counts."""
        self._begin_phases().copied(step, transfer.block, transfer.mbarrier)

    def warpgroups(self, step: int, block: I64, warp: I64) -> None:
        """Warps have waited with the others of their warpgroups."""
        self.batch.unfold()
        pairs = self._known_pairs()
        for row, first in np.unique(np.stack([block, warp // 4 * 4], 1), axis=0).tolist():
            pairs[row, first : first + 4, first : first + 4] = step

    def knows(self, row: int, warp: int) -> I64:
        """(W,) up to which step a warp of a block knows of each warp."""
        if self._pairs is None:
            return np.full(self.batch.warps, self.barriers[row])
        return np.asarray(np.maximum(self._pairs[row, warp], self.barriers[row]))

    def _begin_phases(self) -> Phases:
        if self.phases is None:
            self.phases = Phases(self.batch)
        return self.phases

    def _known_pairs(self) -> I64:
        if self._pairs is None:
            size = self.batch.warps
            self._pairs = np.zeros((self.batch.height, size, size), np.int64)
        return self._pairs

    @property
    def asynchronous(self) -> bool:
        """Whether there are copies that may be under way."""
        return self.copies is not None or self.phases is not None

    def copied(self, step: int) -> None:
        """An asynchronous copy begins."""
        if self.copies is None:
            self.copies = _Copies(self.batch)
        self.copies.steps.append(step)

    def copy_group(self, step: int, left: int | None, warps: Warps, active: Bool | None) -> None:
        """Lanes close a group of copies (None), or wait until `left` groups are under way."""
        if self.copies is not None:
            warp, lanes, _ = self.batch.spread(warps, active)
            thread = (warp * LANES)[:, None] + np.arange(LANES)
            self.copies.group(step, left, thread.reshape(-1) if lanes is None else thread[lanes])

    def ordered(self, step: I64, other: I64, thread: I64) -> Bool:
        """(n,) whether what threads did at some steps is over for threads of the same block.

        Threads are numbered over the launch, warps padded to 32 lanes.
        """
        batch, warp = self.batch, thread // LANES
        row = warp // batch.warps - batch.first if batch.height > 1 else np.zeros(1, np.int64)
        found = step < self.barriers[row]
        if self.copies is not None:
            found &= self.copies.settled(step, self._at(other))
        if found.all():
            return self._with_bytes(np.broadcast_to(found, step.shape), step, warp)
        own = row * batch.warps + warp % batch.warps
        alike = other // LANES == warp
        if alike.any():
            if self.lockstep:
                found |= alike
            else:
                found |= alike & (step < self._warps[own])
                if self._lanes is not None:
                    found |= alike & (step < self._lanes[own, thread % LANES, other % LANES])
        if self._pairs is not None:
            theirs = other // LANES % batch.warps
            found |= step < self._pairs[row, warp % batch.warps, theirs]
        return self._with_bytes(found, step, warp)

    def _with_bytes(self, found: Bool, step: I64, warp: I64) -> Bool:
        """What mbarriers count is over for those who waited for it."""
        counted = None if self.phases is None else self.phases.counted(step)
        if self.phases is None or counted is None or not counted.any():
            return found
        size, found = self.batch.warps, found.copy()
        some = warp[counted] - self.batch.first * size
        found[counted] = self.phases.there(step[counted], some // size, some % size)
        return found

    def _at(self, thread: I64) -> I64:
        """Where the state of threads is."""
        size = LANES * self.batch.warps
        if self.batch.height == 1:
            return thread % size
        return thread - self.batch.first * size

    def unfinished(self, step: I64, thread: I64) -> Bool:
        """(n,) whether steps are copies that the threads which began them have not awaited."""
        found = np.zeros(len(step), bool)
        if self.copies is not None:
            found = self.copies.unfinished(step, self._at(thread))
            if (
                self._pairs is not None
            ):  # an mbarrier has counted them, and its warp has heard of it
                warp = thread // LANES % self.batch.warps
                row = thread // LANES // self.batch.warps - self.batch.first
                found &= step >= self._pairs[row if self.batch.height > 1 else 0, warp, warp]
        if self.phases is not None and (counted := self.phases.counted(step)).any():
            found |= counted & ~self._with_bytes(found, step, thread // LANES)
        return found


def _names_all(members: np.ndarray, here: Bool) -> bool:
    """Whether every lane that is here names all that are here."""
    bits = (here * (np.uint32(1) << np.arange(LANES, dtype=np.uint32))).sum(axis=1, dtype=np.uint32)
    return not ((~members & bits[:, None]) * here).any()


def _met(known: I64, meets: Bool, step: int) -> I64:
    """(N, P, P) what each of P knows of each other, after those that `meets` names have met."""
    found = known.copy()
    for one in range(known.shape[1]):
        found = np.maximum(found, np.where(meets[:, :, one, None], known[:, one, None, :], 0))
    return np.where(meets, step, found)


class _Copies:
    """Asynchronous copies into shared memory of the threads of a batch: which have been awaited."""

    def __init__(self, batch: Batch) -> None:
        self._block = batch.warps * LANES
        threads = batch.height * self._block
        self.steps: list[int] = []
        self._closed = np.zeros((threads, GROUPS), np.int64)  # steps, the latest group first
        self._awaited = np.zeros(threads, np.int64)
        self._at_barrier = np.zeros(threads, np.int64)

    def unfold(self, blocks: int) -> None:
        self._closed = np.tile(self._closed, (blocks, 1))
        self._awaited = np.tile(self._awaited, blocks)
        self._at_barrier = np.tile(self._at_barrier, blocks)

    def group(self, step: int, left: int | None, thread: I64) -> None:
        """Threads close a group of copies (None) or wait until `left` groups are under way."""
        if left is None:
            self._closed[thread] = np.roll(self._closed[thread], 1, axis=1)
            self._closed[thread, 0] = step
        elif left < GROUPS:
            done = self._closed[thread, left] if left >= 0 else step
            self._awaited[thread] = np.maximum(self._awaited[thread], done)

    def barrier(self, rows: slice | I64) -> None:
        by_block = self._at_barrier.reshape(-1, self._block)
        by_block[rows] = self._awaited.reshape(-1, self._block)[rows]

    def unfinished(self, step: I64, at: I64) -> Bool:
        return np.isin(step, self.steps) & (step >= self._awaited[at])

    def settled(self, step: I64, at: I64) -> Bool:
        return ~np.isin(step, self.steps) | (step < self._at_barrier[at])
