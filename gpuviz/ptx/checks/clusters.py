"""Races between the blocks of a cluster, which reach into each other's shared memory.

The race check orders threads of a block; here it is told of clusters as if they were blocks: their
blocks' warps one block after the other, their shared memory side by side. A barrier of one block
is then one of some warps, that of the cluster is the whole one, and what warps tell each other at
mbarriers goes from block to block. A finding names the real blocks again.

Who uses an mbarrier of another block must come after its initialisation, and no block may end
before others have done what they do in its memory (`Exits`). A barrier at which threads arrive
`relaxed` orders what their warps did before their last fence.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from gpuviz.base.arrays import I64, Bool
from gpuviz.ptx.checks.batch import flat
from gpuviz.ptx.checks.hazards import BEGIN, Hazard, finding
from gpuviz.ptx.checks.numbering import ClusterStores, Numbers, Rows
from gpuviz.ptx.checks.race import RaceCheck
from gpuviz.ptx.checks.report import line_of
from gpuviz.ptx.checks.transfers import select
from gpuviz.ptx.simt.cluster import split_told
from gpuviz.ptx.simt.program import Program
from gpuviz.traces.observe import (
    Access,
    BarrierEvent,
    Lanes,
    PhaseEvent,
    Place,
    Report,
    Transfer,
    TransferKind,
    Values,
    Warps,
    WarpSync,
)
from gpuviz.traces.trace import LANES, Finding, Launch, MemoryInstruction, Op, Stretch
from gpuviz.words.language import tr

# --- blocks that end -----------------------------------------------------------------------------
#
# The memory of a block is gone when all its threads have ended. What another block does there is in
# time when some thread of the block knew of it before it ended: at a barrier of the cluster,
# through an mbarrier, or, of bytes that were copied, because it waited for them. An H200 ends a
# launch in which it is not, if it comes to that.

_Block = tuple[int, int]  # a cluster, and the rank in it


@dataclass(frozen=True)
class Reach:
    """What a thread (counted over clusters) did at a step in the memory of another block."""

    step: int
    at: Place
    thread: int
    block: _Block


class Exits:
    """Who reached into which block last, and what each block knew when it ended."""

    def __init__(self) -> None:
        self._last: dict[tuple[_Block, int], Reach] = {}  # by warp
        self._copied: dict[tuple[_Block, int], Reach] = {}  # by mbarrier
        self._knew: dict[_Block, I64] = {}  # (warps,) steps
        self._seen: dict[_Block, I64] = {}  # (mbarriers,) steps

    def reached(self, reach: Reach, warp: int) -> None:
        """A thread of a warp of the cluster."""
        self._last[reach.block, warp] = reach

    def copied(self, reach: Reach, mbarrier: int) -> None:
        """A copy begins whose bytes are counted."""
        self._copied[reach.block, mbarrier] = reach

    def left(self, block: _Block, knew: I64, seen: I64) -> None:
        """Threads of a block end."""
        for kept, now in ((self._knew, knew), (self._seen, seen)):
            before = kept.get(block, now)
            wide = np.zeros(max(len(now), len(before)), np.int64)
            wide[: len(before)] = before
            wide[: len(now)] = np.maximum(wide[: len(now)], now)
            kept[block] = wide

    def early(self) -> Iterator[Reach]:
        """What came too late, perhaps."""
        for kept, known in ((self._last, self._knew), (self._copied, self._seen)):
            for (block, which), reach in kept.items():
                steps = known.get(block)
                if steps is not None and (which >= len(steps) or steps[which] <= reach.step):
                    yield reach


_BYTES = 8  # of an mbarrier


@dataclass(frozen=True)
class _Initialisation:
    """Who has initialised an mbarrier, and when; threads are counted over clusters."""

    step: int
    at: Place
    thread: int


class ClusterRaceCheck(RaceCheck):
    """Reports the races of a launch of clusters."""

    def __init__(self, program: Program) -> None:
        super().__init__(arrays=program.memory.bounds())
        self._cluster = program.cluster
        self._stride = -(-max(program.shared_size, 1) // 1024) * 1024
        self._whole = {
            i.pc
            for f in program.module.functions
            for i in f.body
            if i.opcode.name == "barrier" and "cluster" in i.opcode.mods
        }
        self._relaxed = {
            i.pc
            for f in program.module.functions
            for i in f.body
            if i.pc in self._whole and "relaxed" in i.opcode.mods
        }

    def launch_begin(self, launch: Launch, report: Report) -> None:
        """Clusters are the blocks."""
        self._numbers = Numbers(self._cluster, launch, self._stride)
        super().launch_begin(self._numbers.as_blocks(), report)

    def blocks_begin(self, first: int, count: int) -> None:
        """A batch has whole clusters."""
        size = self._cluster.size
        super().blocks_begin(first // size, count // size)
        self._batch.unfold()
        self._begun: dict[tuple[int, int], _Initialisation] = {}  # by cluster and place
        self._ready: set[tuple[int, int, int]] = set()  # those, and warps that know it
        self._leaving = Exits()
        self._published: dict[int, int] = {}  # warps counted over clusters, steps

    def blocks_end(self, first: int, count: int) -> None:
        """Tell of the real blocks."""
        for hazard in self.take():
            made = self._of_blocks(hazard)
            self._report(finding(self._numbers.launch, made, made.second.space))
        for reach in self._leaving.early():
            self._report(self._late(reach))
        self._leaving = Exits()

    def _late(self, reach: Reach) -> Finding:
        """A block may have ended."""
        numbers, launch, size = self._numbers, self._numbers.launch, self._numbers.warps * LANES
        (cluster, rank), within = reach.block, reach.thread % (numbers.per_cluster * LANES)
        ended = launch.block_index(numbers.block(cluster, rank * size))
        block = launch.block_index(numbers.block(cluster, within))
        thread = launch.thread_index(within % size)
        message = tr(
            "block {ended} may have ended when thread {thread} of block {block} reaches into its "
            "shared memory ({line})",
            ended=ended,
            thread=thread,
            block=block,
            line=line_of(reach.at),
        )
        remedy = tr("let all blocks of the cluster meet at a cluster barrier before they end")
        kind, line, ptx_line = "block may have ended", reach.at.line, reach.at.ptx_line
        where = line, ptx_line, block, thread, 0, 1
        return Finding("error", kind, message, *where, "race", remedy, other_block=ended)

    def _of_blocks(self, hazard: Hazard) -> Hazard:
        numbers, size = self._numbers, self._numbers.warps * LANES
        one, two = (
            numbers.block(cluster, thread)
            for cluster, thread in zip(hazard.blocks, hazard.threads, strict=True)
        )
        threads = (hazard.threads[0] % size, hazard.threads[1] % size)
        made = replace(hazard, blocks=(one, two), threads=threads)
        if hazard.second.space != "shared":
            return made
        rank, offset = divmod(hazard.address, self._stride)
        owner = numbers.block(hazard.block, rank * size)
        return replace(made, address=offset, owner=-1 if one == two == owner else owner)

    # What orders threads

    def barrier(self, at: Place, blocks: I64, meeting: BarrierEvent | None = None) -> None:
        """That of a cluster is the whole one, others are of some warps."""
        cluster, numbers = self._cluster, self._numbers
        number, rank = cluster.number(blocks), cluster.rank(blocks)
        if at.pc in self._relaxed:
            self._go_on(np.unique(number))
            return
        if at.pc in self._whole:
            super().barrier(at, np.unique(number))
            return
        for one in np.unique(rank).tolist():
            some = rank == one
            came = np.zeros((some.sum(), cluster.size, numbers.warps * LANES), np.int8)
            threads = numbers.launch.warps_per_block * LANES
            came[:, one, :threads] = 1 if meeting is None else meeting.came[some]
            places, waits = ((at,), (True,)) if meeting is None else (meeting.places, meeting.waits)
            made = BarrierEvent(places, waits, came.reshape(len(came), -1), threads)
            super().barrier(at, number[some], made)

    def _go_on(self, clusters: I64) -> None:
        """Clusters go on, their threads having arrived relaxed."""
        size = self._numbers.per_cluster
        warp = (clusters * size)[:, None] + np.arange(size)
        known = [self._published.get(one, 0) for one in warp.reshape(-1).tolist()]
        rows = self._batch.block_rows(clusters)
        self._order.published(rows, np.array(known).reshape(warp.shape))

    def warp_sync(self, sync: WarpSync) -> None:
        """Lanes of warps synchronise."""
        warps, row = self._warps(sync.warps)
        super().warp_sync(
            replace(
                sync,
                warps=warps,
                active=None if sync.active is None else sync.active[row],
                members=sync.members[row],
                running=sync.running[row],
                sources=None,
            )
        )

    def fence(self, at: Place, wide: bool, lanes: Lanes) -> None:
        """What was done before can be published."""
        made = self._lanes(lanes)
        super().fence(at, wide, made)
        if wide:
            self._published |= dict.fromkeys(made.warps_of.first.tolist(), len(self._events))

    def _apart(self, one: I64, other: I64) -> Bool:
        """Which threads are of different blocks of a cluster, or of different clusters."""
        size = LANES * self._numbers.warps
        return np.asarray(one // size != other // size)

    def proxy_fence(self, lanes: Lanes) -> None:
        """What was done before is there for asynchronous copies."""
        super().proxy_fence(self._lanes(lanes))

    def copies(self, left: int | None, lanes: Lanes) -> None:
        """Asynchronous copies are grouped or awaited."""
        super().copies(left, self._lanes(lanes))

    def transfers(self, kind: TransferKind, left: int | None, lanes: Lanes) -> None:
        """What is read asynchronously has been read when it was waited for."""
        super().transfers(kind, left, self._lanes(lanes))

    def phase(self, event: PhaseEvent) -> None:
        """Threads at mbarriers, which are of some block of their cluster."""
        numbers = self._numbers
        thread, cluster = numbers.thread(event.thread), self._cluster.number(event.block)
        where = numbers.place(event.address, event.block)
        super().phase(PhaseEvent(event.at, event.kind, thread, cluster, where))
        if event.kind == "init":
            self._begins(event.at, cluster, where, thread)
        elif event.kind != "over":
            self._uses(event.at, cluster, where, thread)
            self._reaches(event.at, cluster, where, thread)

    def exit(self, stretch: Stretch, lanes: Lanes) -> None:
        """Lanes have ended: what their block knows."""
        warps, _ = self._warps(lanes.rows()[0])
        for one in warps.first.tolist():
            number, warp = divmod(one, self._numbers.per_cluster)
            row, order = number - self._batch.first, self._order
            seen = (
                np.zeros(0, np.int64) if order.phases is None else order.phases.seen[row, :, warp]
            )
            block = number, warp // self._numbers.warps
            self._leaving.left(block, order.knows(row, warp), seen)

    def _begins(self, at: Place, cluster: I64, where: I64, thread: I64) -> None:
        """An mbarrier is written when it begins."""
        step = len(self._events) - 1
        for one, place, by in zip(cluster.tolist(), where.tolist(), thread.tolist(), strict=True):
            self._begun[one, place] = _Initialisation(step, at, by)
            self._ready = {known for known in self._ready if known[:2] != (one, place)}

    def _uses(self, at: Place, cluster: I64, where: I64, thread: I64) -> None:
        """Threads use mbarriers, which must have begun for them."""
        each = self._numbers.warps * LANES
        for one, place, by in zip(cluster.tolist(), where.tolist(), thread.tolist(), strict=True):
            key, begun = (one, place, by // LANES), self._begun.get((one, place))
            if begun is None or key in self._ready or begun.thread // each == by // each:
                continue
            self._ready.add(key)
            known = self._order.knows(
                one - self._batch.first, by // LANES % self._numbers.per_cluster
            )
            if known[begun.thread // LANES % self._numbers.per_cluster] <= begun.step:
                self._not_begun(begun, at, one, place, by)

    def _not_begun(
        self, begun: _Initialisation, at: Place, cluster: int, place: int, thread: int
    ) -> None:
        size = self._numbers.per_cluster * LANES
        first = _mbarrier(begun.at, BEGIN, "store")
        second = _mbarrier(at, "mbarrier", "atomic")
        threads = begun.thread % size, thread % size
        case = Hazard(
            "write after write", first, second, (cluster, cluster), self._phases, threads, place, 0
        )
        none = np.zeros(1, np.int64)
        cell = np.array([place // _BYTES])
        self._hazards.add(case, self._shared.number, cell, none, len(self._events), 1)

    # What threads do

    def transfer(self, transfer: Transfer) -> None:
        """Of the memory of one block of each cluster at a time."""
        numbers, rank = self._numbers, self._cluster.rank(transfer.block)
        for one in np.unique(rank).tolist():
            own = select(transfer, rank == one)
            counted = own.mbarrier >= 0
            made = replace(
                own,
                thread=numbers.thread(own.thread),
                block=self._cluster.number(own.block),
                address=numbers.place(own.address, own.block),
                mbarrier=np.where(counted, numbers.place(own.mbarrier, own.block), -1),
            )
            super().transfer(made)
            if counted.any():
                self._counts(made, one, counted)

    def _counts(self, made: Transfer, rank: int, some: Bool) -> None:
        """Mbarriers of blocks of a rank count bytes that come."""
        cluster, where, thread = made.block[some], made.mbarrier[some], made.thread[some]
        self._uses(made.at, cluster, where, thread)
        phases, step = self._order.phases, len(self._events) - 1
        if phases is None:
            return
        for one, slot, by in zip(
            cluster.tolist(), phases.slots(where).tolist(), thread.tolist(), strict=True
        ):
            if self._rank(by) != rank:
                self._leaving.copied(Reach(step, made.at, by, (one, rank)), slot)

    def _rank(self, thread: int) -> int:
        """Of the block of a thread that is counted over clusters."""
        return thread // (self._numbers.warps * LANES) % self._cluster.size

    def _reaches(self, at: Place, cluster: I64, where: I64, thread: I64) -> None:
        """Threads are at bytes of their clusters: of other blocks, those must not end before."""
        rank, own = where // self._stride, thread // (self._numbers.warps * LANES)
        step = len(self._events) - 1
        for n in np.flatnonzero(rank != own % self._cluster.size).tolist():
            block, by = (int(cluster[n]), int(rank[n])), int(thread[n])
            warp = by // LANES % self._numbers.per_cluster
            self._leaving.reached(Reach(step, at, by, block), warp)

    def access(self, access: Access) -> None:
        """Loads, atomics and copies."""
        made = self._access(access)
        super().access(made)
        self._reached(made)

    def stored(self, access: Access, values: Values) -> None:
        """Plain stores."""
        made = self._access(access)
        super().stored(made, ClusterStores(self._numbers, values))
        self._reached(made)

    def _reached(self, made: Access) -> None:
        """An access to shared memory, counted over clusters."""
        if made.instruction.space == "shared":
            where, thread = flat(made.address, made.active, made.warps.first)
            cluster = thread // (self._numbers.per_cluster * LANES)
            self._reaches(Place.of(made.instruction), cluster, where, thread)

    def _access(self, access: Access) -> Access:
        warps, row = self._warps(access.warps)
        address = access.address[row]
        if access.instruction.space == "shared":
            told, offset = split_told(address.view(np.int64))
            rank = (warps.first // self._numbers.warps % self._cluster.size)[:, None]
            rank = np.where(told < 0, rank, told)
            address = (rank * self._stride + offset).view(np.uint64)
        active = None if access.active is None else access.active[row]
        return replace(access, address=address, active=active, repeat=1, warps=warps, source=None)

    def _warps(self, warps: Warps) -> tuple[Warps, I64]:
        """Each warp by itself, counted over clusters, and the rows they have."""
        blocks, within = np.arange(warps.blocks) * warps.per_block, np.arange(warps.warps)
        each = warps.first[:, None, None] + blocks[:, None] + within
        row = np.arange(len(warps.first)).repeat(warps.repeat)
        found = self._numbers.warp(each.reshape(-1))
        order = np.argsort(found)
        return Warps(found[order], self._numbers.per_cluster), row[order]

    def _lanes(self, lanes: Lanes) -> Rows:
        warps, active = lanes.rows()
        made, row = self._warps(warps)
        return Rows(made, None if active is None else active[row])


def _mbarrier(at: Place, text: str, op: Op) -> MemoryInstruction:
    """As loads and stores are told."""
    return MemoryInstruction(at.pc, at.line, at.ptx_line, text, op, "shared", _BYTES)
