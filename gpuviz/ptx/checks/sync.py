"""Threads that do not meet where they say: barriers, __syncwarp, shuffles and votes."""

import numpy as np

from gpuviz.base.arrays import I64, Bool
from gpuviz.ptx.checks.batch import Batch
from gpuviz.ptx.checks.report import Check, Severity
from gpuviz.traces.observe import BarrierEvent, Lanes, Place, WarpSync
from gpuviz.traces.trace import LANES, Stretch

_LANE = np.arange(LANES, dtype=np.uint32)
_BARRIER = "take __syncthreads() out of the condition, so that every thread of the block comes"
_COUNT = "let all who come give the same number, a multiple of 32"
_MASK = "name exactly the lanes that come: work the mask out before they part"


class SyncCheck(Check):
    """Reports threads that do not meet where they say: barriers, __syncwarp, shuffles, votes.

    A barrier waits for the threads of its block that have not ended: `if (i >= n) return;` before
    it is no fault. (So it is from compute capability 7.0 on. Below, a warp comes as a whole, with
    its ended lanes and with those that went another way, and a warp that has ended counts as
    there.) A fault is: to go past a barrier and on with what the others do after it, even if they
    get on once the thread has ended; lanes of a warp at different barriers.
    """

    name = "sync"

    def blocks_begin(self, first: int, count: int) -> None:
        """Nobody has ended."""
        self._batch = Batch(self._launch, first, count)
        self._ended = np.zeros((self._batch.warps, LANES), np.int32)  # 1 + pc of the last stretch
        self._past: dict[int, list[tuple[Place, int, int]]] = {}  # by that pc
        self._batch.on_unfold(self._unfold)

    def _unfold(self, blocks: int) -> None:
        self._ended = np.tile(self._ended, (blocks, 1))

    def exit(self, stretch: Stretch, lanes: Lanes) -> None:
        """Lanes end. Those that only return may well have done so early."""
        for at, thread, count in self._past.pop(stretch.pc, ()):
            what = f"{count} threads go past this barrier and on with what follows it"
            self._tell("barrier passed by", what, at, thread, _BARRIER, count=count)
        if stretch.count > 1:
            warps, active = lanes.rows()
            warp, some, _ = self._batch.spread(warps, active)
            pc = stretch.pc + 1
            self._ended[warp] = pc if some is None else np.where(some, pc, self._ended[warp])

    def barrier(self, at: Place, blocks: I64, meeting: BarrierEvent | None = None) -> None:
        """Who has ended did not come; who came did so at the same place, and counts alike."""
        if meeting is not None and (meeting.count % LANES or meeting.least != meeting.count):
            self._miscounted(blocks, meeting)
        if meeting is None or not meeting.count:
            self._look_for_ended(at, blocks)
        if meeting is not None and not meeting.count and len(meeting.places) > 1:
            self._look_for_others(blocks, meeting)

    def _miscounted(self, blocks: I64, meeting: BarrierEvent) -> None:
        """Source: PTX ISA, "bar, barrier": the count is a multiple of the warp size."""
        if meeting.least != meeting.count:
            what = f"threads of one barrier wait for {meeting.least} and for {meeting.count}"
        else:
            what = f"a barrier waits for {meeting.count} threads, which are no whole warps"
        came = meeting.came.reshape(len(blocks), -1)
        block, own = (int(found[0]) for found in np.nonzero(came))
        place = meeting.places[int(came[block, own]) - 1]
        thread = int(blocks[block]) * self._batch.warps * LANES + own
        self._tell("barrier count", what, place, thread, _COUNT)

    def _look_for_ended(self, at: Place, blocks: I64) -> None:
        """Whether that was wrong shows when the others end where they did."""
        if not self._ended.any():
            return
        rows = self._batch.block_rows(blocks)
        size = self._batch.warps * LANES
        ended = self._ended.reshape(-1, size)[rows]
        for pc in np.unique(ended[ended > 0]).tolist():
            row, column = (found[0] for found in np.nonzero(ended == pc))
            thread = int(blocks[row]) * size + int(column)
            alike = self._batch.blocks if self._batch.height == 1 else 1
            count = int((ended == pc).sum()) * alike
            self._past.setdefault(pc - 1, []).append((at, thread, count))

    def _look_for_others(self, blocks: I64, meeting: BarrierEvent) -> None:
        came = meeting.came.reshape(len(blocks), self._batch.warps, LANES)
        low, high = np.where(came > 0, came, np.int8(127)).min(axis=2), came.max(axis=2)
        apart = (low < high) & (low < 127)  # (B, W)
        inside = bool(apart.any())
        who = "lanes of a warp" if inside else "warps of a block"
        if not inside:
            apart = (low.min(axis=1) < high.max(axis=1))[:, None] & (high > 0)
            if not apart.any():
                return
        lines = " and ".join(dict.fromkeys(str(p.line or p.ptx_line) for p in meeting.places))
        block, warp = (int(found[0]) for found in np.nonzero(apart))
        lane = int(np.flatnonzero(came[block, warp])[0])
        place = meeting.places[int(came[block, warp, lane]) - 1]
        thread = (int(blocks[block]) * self._batch.warps + warp) * LANES + lane
        what = f"{who} wait for each other at different barriers, lines {lines}"
        count = int(apart.sum()) if inside else int(apart.any(axis=1).sum())
        severity: Severity = "error" if inside else "warning"
        self._tell("barriers apart", what, place, thread, _BARRIER, 0, count, severity)

    def warp_sync(self, sync: WarpSync) -> None:
        """Masks must have the lane itself, agree, and name no lane that does not come."""
        members = sync.members
        here = np.ones(members.shape, bool) if sync.active is None else sync.active
        own = here & ((members >> _LANE) & np.uint32(1) == 0)
        self._masks(sync, own, "a lane is not in the mask that it names itself")
        low = np.where(here, members, np.uint32(0xFFFFFFFF)).min(axis=1, keepdims=True)
        high = np.where(here, members, np.uint32(0)).max(axis=1, keepdims=True)
        if (low != high).any():
            names = (members[:, :, None] >> _LANE) & np.uint32(1) != 0
            differ = members[:, :, None] != members[:, None, :]
            both = here[:, :, None] & here[:, None, :]
            clash = (names & differ & both).any(axis=2)
            self._masks(sync, clash & ~own, "a lane names others that name another mask")
        wanted = np.bitwise_or.reduce(np.where(here, members, np.uint32(0)), axis=1)[:, None]
        absent = ((wanted >> _LANE) & np.uint32(1) != 0) & sync.running & ~here
        caller = here & absent.any(axis=1, keepdims=True) & (here.cumsum(axis=1) == 1)
        self._masks(sync, caller, "the mask names lanes that still run and do not come")
        if sync.sources is not None:
            there = np.take_along_axis(here, sync.sources, axis=1)
            what = "a lane shuffles from one that does not take part: what it gets is undefined"
            self._masks(sync, here & ~there, what, "warning")

    def _masks(self, sync: WarpSync, wrong: Bool, what: str, severity: Severity = "error") -> None:
        if wrong.any():
            row, lane = (int(found[0]) for found in np.nonzero(wrong))
            thread = int(sync.warps.first[row]) * LANES + lane
            kind = "shuffle from nobody" if severity == "warning" else "member mask"
            count = int(wrong.sum()) * sync.warps.repeat
            self._tell(kind, what, sync.at, thread, _MASK, 0, count, severity)
