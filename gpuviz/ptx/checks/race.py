"""Race check: threads that touch the same bytes in no order, one of them writing.

An emulator runs threads in some order, so that a missing barrier changes no result by itself. This
check knows for every cell who touched it last (`regions`), and for every two threads whether
something orders them (`happens_before`, `flags`): a barrier, a warp that synchronises, a flag. What
has no order may happen in any, on a GPU.

No race are: atomics among themselves; volatile and atomic accesses of different warps (they are how
flags are made); the same value written by all. Shuffles, votes and matches order the lanes that
take part as __syncwarp does, although CUDA's guide promises that of __syncwarp alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gpuviz.base.arrays import I64, Array, Bool
from gpuviz.ptx.checks import regions
from gpuviz.ptx.checks.batch import Batch, ends, flat
from gpuviz.ptx.checks.flag_order import SHARED, Flags, Strength
from gpuviz.ptx.checks.happens_before import Order
from gpuviz.ptx.checks.hazards import Hazard, Hazards, Kind, finding
from gpuviz.ptx.checks.regions import Earlier, GlobalRegions, Later, Region, SharedRegion, Touch
from gpuviz.ptx.checks.transfers import Reads, instruction_of, pieces
from gpuviz.ptx.simt.cluster import RANK_BIT
from gpuviz.traces.observe import (
    Access,
    BarrierEvent,
    Lanes,
    PhaseEvent,
    Place,
    Report,
    Sink,
    Transfer,
    TransferKind,
    Values,
    Warps,
    WarpSync,
)
from gpuviz.traces.trace import LANES, Launch, MemoryInstruction, Trace, lane_mask

Role = Literal["read", "write", "atomic", "copy"]


@dataclass(frozen=True)
class Event:
    """An instruction as it was executed at some step."""

    at: MemoryInstruction
    role: Role
    strength: Strength


@dataclass(frozen=True, eq=False)
class _Now:
    """What happens at a step: who touches what of which memory; what a plain store writes."""

    step: int
    event: Event
    region: Region
    touch: Touch
    values: Values | None


class RaceCheck(Sink):
    """Reports the races of a launch, those of a batch when its blocks have ended.

    `lockstep` takes the lanes of a warp for ordered, as compute capabilities below 7.0 run them.
    `arrays` is where those of global memory start and end; others are not looked at.
    """

    def __init__(self, lockstep: bool = False, arrays: regions.Arrays = regions.NOWHERE) -> None:
        self._lockstep, self._arrays = lockstep, arrays
        self._report: Report = lambda finding: None
        self._events: list[Event | None] = [None]  # by step
        self._known: dict[tuple[MemoryInstruction, Role], Event] = {}
        self._atomic = regions.Marks()
        self._strong = regions.Marks()
        self._narrow = regions.Marks()  # of atomics and volatiles, those within a block
        self._copied = regions.Marks()  # by asynchronous copies
        self._hazards = Hazards()
        self._flags = Flags()

    def launch_begin(self, launch: Launch, report: Report) -> None:
        """Know where threads and buffers are, and whom to tell."""
        self._launch, self._report = launch, report
        self._global = GlobalRegions(self._arrays)

    def blocks_begin(self, first: int, count: int) -> None:
        """Nothing orders the threads of a new batch yet."""
        self._batch = Batch(self._launch, first, count)
        self._shared = SharedRegion(self._batch)
        self._order = Order(self._batch, self._lockstep)
        self._flags.begin(self._batch)
        self._phases = 0
        self._reads = Reads()
        self._fenced: dict[int, I64] = {}  # by block: (W,) steps of its warps

    def blocks_end(self, first: int, count: int) -> None:
        """Tell what raced so far."""
        for hazard in self.take():
            self._report(finding(self._launch, hazard, hazard.second.space))

    def launch_end(self) -> None:
        """Tell what raced in blocks that a fault has ended."""
        self.blocks_end(0, 0)

    def take(self) -> tuple[Hazard, ...]:
        """What raced so far and was not reported."""
        return self._hazards.take()

    # What orders threads

    def _step(self, event: Event | None = None) -> int:
        self._events.append(event)
        return len(self._events) - 1

    def barrier(self, at: Place, blocks: I64, meeting: BarrierEvent | None = None) -> None:
        """Blocks go on."""
        self._order.barrier(self._step(), blocks, meeting)
        self._flags.barrier(self._batch.block_rows(blocks))
        self._phases += 1

    def warp_sync(self, sync: WarpSync) -> None:
        """Lanes of warps synchronise."""
        self._order.warp_sync(self._step(), sync)

    def fence(self, at: Place, wide: bool, lanes: Lanes) -> None:
        """What was done before can be published."""
        self._flags.fence(self._step(), wide, lanes.rows()[0])

    def copies(self, left: int | None, lanes: Lanes) -> None:
        """Asynchronous copies are grouped or awaited."""
        self._order.copy_group(self._step(), left, *lanes.rows())

    def phase(self, event: PhaseEvent) -> None:
        """Threads at mbarriers."""
        self._order.phase(self._step(), event)

    def transfers(self, kind: TransferKind, left: int | None, lanes: Lanes) -> None:
        """What is read asynchronously has been read when it was waited for."""
        for over in self._reads.group(kind, left, lanes):
            if kind == "product":
                self._moved(over, "read")
            else:  # it was compared when it began, and lasted until now
                event, (where, thread) = self._event(instruction_of(over), "read"), pieces(over)
                touch = self._shared.touch(where, thread, event.at.width)
                self._shared.shadow.read(self._step(event), touch, self._over)
        if kind == "product" and left is not None:
            warps, active = lanes.rows()
            warp, *_ = self._batch.spread(warps, active)
            size = self._batch.warps
            self._order.warpgroups(self._step(), warp // size, warp % size)

    # What threads do

    def transfer(self, transfer: Transfer) -> None:
        """Copies into shared memory write now."""
        self._batch.unfold()
        if transfer.kind != "load":
            self._read_by_copy(transfer)
        elif (transfer.thread // LANES // self._batch.warps == transfer.block).all():
            self._moved(transfer, "copy")

    def _read_by_copy(self, transfer: Transfer) -> None:
        """A read that goes on until it is waited for; what it reads is to be there for copies."""
        event = self._event(instruction_of(transfer), "read")
        step = self._step(event)
        self._reads.begin(step, transfer)
        where, thread = pieces(transfer)
        if not len(where):
            return
        touch = self._shared.touch(where, thread, event.at.width)
        now = _Now(step, event, self._shared, touch, None)
        for earlier in self._shared.shadow.writes(touch):
            behind = (earlier.step > 0) & ~self._copied.of(earlier.step)
            behind &= self._proxied(earlier.thread) <= earlier.step
            if behind.any():
                self._found(now, earlier, behind, "read after write", proxy=True)
        if transfer.kind != "product":
            self._touched(step, event, self._shared, where, thread, None)

    def proxy_fence(self, lanes: Lanes) -> None:
        """A fence of a lane is one of its warp, for what that did and what it knows of others.

        Source: PTX ISA, "Memory Consistency Model", causality order: a proxy fence anywhere along
        the way from one to the other will do.
        """
        step, (warps, _) = self._step(), lanes.rows()
        each = np.arange(warps.blocks)[:, None] * warps.per_block + np.arange(warps.warps)
        for warp in (warps.first[:, None] + each.reshape(-1)).reshape(-1).tolist():
            block, own = divmod(warp, self._batch.warps)
            row = block - self._batch.first if self._batch.height > 1 else 0
            known = self._order.knows(row, own).copy()
            known[own] = step
            self._fenced[block] = np.maximum(self._fenced.get(block, 0), known)

    def _proxied(self, thread: I64) -> I64:
        """(n,) up to which step somebody has fenced what the warps of threads did."""
        warps, which = np.unique(thread // LANES, return_inverse=True)
        none, size = np.zeros(self._batch.warps, np.int64), self._batch.warps
        found = [self._fenced.get(one // size, none)[one % size] for one in warps.tolist()]
        return np.array(found, np.int64)[which]

    def _moved(self, transfer: Transfer, role: Role) -> None:
        event = self._event(instruction_of(transfer), role)
        step = self._step(event)
        self._copied.add(step, role == "copy")
        if role == "copy":
            self._order.counted(step, transfer)
        where, thread = pieces(transfer)
        self._touched(step, event, self._shared, where, thread, None)

    def access(self, access: Access) -> None:
        """Loads, atomics and copies; stores come with their values."""
        at = access.instruction
        if at.op == "store" or at.space not in ("shared", "global"):
            return
        if at.op == "copy":
            role: Role = "copy" if at.space == "shared" else "read"
        else:
            role = "read" if at.op == "load" else "atomic"
        self._heard(access, role)

    def stored(self, access: Access, values: Values) -> None:
        """Plain stores."""
        if access.instruction.space in ("shared", "global"):
            self._heard(access, "write", values)

    def replay(self, access: Access) -> None:
        """Any access, nothing known of values."""
        if access.instruction.op == "store":
            self._heard(access, "write")
        else:
            self.access(access)

    def _event(self, at: MemoryInstruction, role: Role) -> Event:
        found = self._known.get((at, role))
        if found is None:
            found = self._known[at, role] = Event(at, role, Strength.of(at))
        return found

    def _heard(self, access: Access, role: Role, values: Values | None = None) -> None:
        at = access.instruction
        event = self._event(at, role)
        step = self._step(event)
        self._atomic.add(step, role == "atomic")
        self._strong.add(step, event.strength.strong)
        self._narrow.add(step, not event.strength.wide)
        self._copied.add(step, role == "copy")
        if role == "copy":
            self._order.copied(step)
        array = SHARED if at.space == "shared" else None
        if at.space == "shared":
            warp, active, (address,) = self._batch.spread(
                access.warps, access.active, access.address
            )
            where, thread = flat(address, active, warp)
            thread = thread + self._batch.first * self._batch.warps * LANES
            self._touched(step, event, self._shared, where, thread, values)
        else:
            for region, lanes in self._global.of(access):
                array = region.number
                self._global_access(step, event, region, access, lanes, values)
        if event.strength.strong and array is not None:
            if at.op in ("load", "atomic"):
                self._flags.read(step, array, access.warps)
            if at.op != "load":
                self._flags.changed(step, array, event.strength, access.warps, self._order)

    def _global_access(
        self,
        step: int,
        event: Event,
        region: Region,
        access: Access,
        lanes: Bool | None,
        values: Values | None,
    ) -> None:
        """Reads of an array that nobody wrote so far only matter once somebody does."""
        if event.role == "read" and region.only_read:
            region.later.append(Later(step, access, lanes, self._order.barriers))
            self._global.waiting += access.address.size
            if self._global.waiting > regions.WAITING:
                self._global.waiting = 0
                for one in self._global.regions:
                    self._catch_up(one)
            return
        if region.only_read:
            self._catch_up(region)
        warp, active, (address,) = ends(access.warps, lanes, access.address)
        self._touched(step, event, region, *flat(address, active, warp), values)

    def _catch_up(self, region: Region) -> None:
        """Take in the reads that were put off; nobody wrote meanwhile."""
        region.only_read = False
        for late in region.later:
            warp, active, (address,) = ends(late.access.warps, late.lanes, late.access.address)
            touch = region.touch(*flat(address, active, warp), late.access.instruction.width)
            region.shadow.read(late.step, touch, self._over_by(late.barriers))
        region.later.clear()

    def _touched(
        self,
        step: int,
        event: Event,
        region: Region,
        where: I64,
        thread: I64,
        values: Values | None,
    ) -> None:
        if not len(where):
            return
        touch = region.touch(where, thread, event.at.width)
        shadow = region.shadow
        now = _Now(step, event, region, touch, values)
        for earlier in shadow.writes(touch):
            self._compare(
                now, earlier, "read after write" if event.role == "read" else "write after write"
            )
        if event.role == "read":
            shadow.read(step, touch, self._over)
            return
        for earlier in shadow.reads(touch):
            self._compare(now, earlier, "write after read")
        together = shadow.write(step, touch, self._over)
        if together is not None and not (event.role == "atomic" and event.strength.wide):
            racing = together.step > 0
            if event.role == "atomic":
                racing &= self._apart(together.thread, touch.thread)
            racing[racing] = self._differ(now, np.flatnonzero(racing), together)
            if racing.any():
                self._found(now, together, racing, "write after write")

    def _differ(self, now: _Now, some: I64, together: Earlier | None = None) -> Bool:
        """Which of some writes change what is there, or differ from those of the same event."""
        if now.values is None:
            return np.ones(len(some), bool)
        part, thread = some % now.touch.parts, now.touch.thread[some]
        mine = self._bits(now.values.written, now, thread, part)
        if together is None:
            other = self._bits(now.values.before, now, thread, part)
        else:
            other = self._bits(now.values.written, now, together.thread[some], part)
        return np.asarray((mine != other).any(axis=0))

    def _bits(
        self, values: Callable[[I64], tuple[Array, ...]], now: _Now, thread: I64, part: I64
    ) -> Array:
        """(B, n) what threads have in parts of their access; of each block that one stands for."""
        warp, which = np.unique(thread // LANES, return_inverse=True)
        shared = now.event.at.space == "shared"
        alike = self._batch.blocks if shared and self._batch.height == 1 else 1
        warps = (np.arange(alike) * self._batch.warps)[:, None] + warp
        unit = now.region.shadow.unit
        found = [
            np.ascontiguousarray(value).view(f"u{min(unit, value.itemsize)}")
            for value in values(warps.reshape(-1))
        ]
        split = np.concatenate([v.reshape(len(v), LANES, -1) for v in found], axis=2)
        split = split.reshape(alike, len(warp), LANES, -1)
        return np.asarray(split[:, which, thread % LANES, part])

    # Comparing

    def _over(self, step: I64, other: I64, thread: I64) -> Bool:
        """Whether earlier steps of others are over for threads, by what orders their block."""
        size = LANES * self._batch.warps
        found: Bool = other // size == thread // size
        if found.all():
            return self._order.ordered(step, other, thread)
        some = np.flatnonzero(found)
        if len(some):
            found[some] = self._order.ordered(step[some], other[some], thread[some])
        return found

    def _over_by(self, barriers: I64) -> Callable[[I64, I64, I64], Bool]:
        """As `_over`, as of the time when barriers had these steps; warps are not looked at."""

        def over(step: I64, other: I64, thread: I64) -> Bool:
            block = thread // LANES // self._batch.warps
            same: Bool = other // LANES // self._batch.warps == block
            row = np.clip(block - self._batch.first, 0, len(barriers) - 1)
            return np.asarray(same & (step < barriers[row]))

        return over

    def _compare(self, now: _Now, earlier: Earlier, kind: Kind) -> None:
        """Look for accesses that nothing orders after earlier ones."""
        event, touch = now.event, now.touch
        here, other = earlier.step > 0, earlier.thread != touch.thread
        racing: Bool = here & other
        if self._order.asynchronous:
            own = here & ~other
            racing[own] = self._order.unfinished(earlier.step[own], earlier.thread[own])
        drained = self._reads.unfinished(earlier.step, earlier.thread) & (event.role != "read")
        racing |= drained
        some = np.flatnonzero(racing)
        if not len(some):
            return
        at, by, thread = earlier.step[some], earlier.thread[some], touch.thread[some]
        free = ~self._over(at, by, thread) | (by == thread) | drained[some]
        if event.strength.strong:
            narrow = self._narrow.of(at) | (not event.strength.wide)
            seen = ~(narrow & self._apart(by, thread))
            if event.role == "atomic":
                free &= ~(self._atomic.of(at) & seen)
            free &= ~(self._strong.of(at) & seen & (by // LANES != thread // LANES))
        left = np.flatnonzero(free & (by // LANES != thread // LANES))
        if len(left):
            warp, strong = thread[left] // LANES, self._strong.of(at[left])
            free[left] = ~self._flags.ordered(at[left], by[left] // LANES, warp, strong)
        if event.role == "write" and kind == "write after write":
            left = np.flatnonzero(free & ~self._atomic.of(at))
            if len(left):
                free[left] = self._differ(now, some[left])
        racing[some] = free
        for one, unread in ((racing & ~drained, False), (racing & drained, True)):
            if one.any():
                self._found(now, earlier, one, kind, unread)

    def _apart(self, one: I64, other: I64) -> Bool:
        """Which threads are of different blocks."""
        size = LANES * self._batch.warps
        return np.asarray(one // size != other // size)

    def _found(
        self,
        now: _Now,
        earlier: Earlier,
        racing: Bool,
        kind: Kind,
        unread: bool = False,
        proxy: bool = False,
    ) -> None:
        """Keep hazards: one for each statement that was there before."""
        step, event, region, touch = now.step, now.event, now.region, now.touch
        size = self._batch.warps * LANES
        lane = np.flatnonzero(racing)
        steps, which = np.unique(earlier.step[lane], return_inverse=True)
        which = np.array([id(self._events[s]) for s in steps])[which]
        for statement in dict.fromkeys(which.tolist()):
            mine = lane[which == statement]
            one = mine[0]
            first = self._events[int(earlier.step[one])]
            assert first is not None
            block = touch.thread[mine] // size
            row = block - self._batch.first if self._batch.height > 1 else np.zeros_like(block)
            by, thread = int(earlier.thread[one]), int(touch.thread[one])
            if int(earlier.step[one]) == step:  # of one event, whose order is of no matter
                by, thread = sorted((by, thread))
            case = Hazard(
                kind,
                first.at,
                event.at,
                (by // size, thread // size),
                self._phases,
                (by % size, thread % size),
                region.address(int(touch.cell[one])),
                0,
                unread or (first.role == "copy" and event.role != "copy"),
                int(earlier.step[one]) == step and by // LANES == thread // LANES,
                proxy=proxy,
                across=bool((earlier.thread[mine] // LANES != touch.thread[mine] // LANES).any()),
            )
            shared = event.at.space == "shared"
            alike = self._batch.blocks if shared and self._batch.height == 1 else 1
            self._hazards.add(
                case, region.number, touch.cell[mine], self._order.barriers[row], step, alike
            )


def hazards(trace: Trace) -> tuple[Hazard, ...]:
    """Those in shared memory, between warps, of the blocks that a trace has recorded.

    A trace tells neither values nor how lanes of a warp synchronise: two writes are taken to
    differ, lanes of a warp to be in order.
    """
    check = RaceCheck(lockstep=True)
    check.launch_begin(trace.launch, lambda finding: None)
    found: list[Hazard] = []
    for block in trace.recorded:
        check.blocks_begin(block, 1)
        _replay(check, trace, block)
        found += check.take()
    return tuple(found)


def _replay(check: RaceCheck, trace: Trace, block: int) -> None:
    rows, per_block = trace.of(space="shared", block=block), trace.launch.warps_per_block
    starts = np.flatnonzero(np.diff(rows.step, prepend=-1))
    passed = 0
    for start, end in zip(starts, [*starts[1:], len(rows)], strict=True):
        for _ in range(passed, int(rows.phase[start])):
            check.barrier(Place(0, 0, 0), np.array([block]))
        passed = int(rows.phase[start])
        at = trace.instructions[rows.instruction[start]]
        warps = Warps(block * per_block + rows.warp[start:end].astype(np.int64), per_block)
        address, active = rows.address[start:end], lane_mask(rows.active[start:end])
        active &= address < 1 << RANK_BIT  # nothing is known of other blocks of a cluster
        check.replay(Access(at, address, active, warps=warps))
