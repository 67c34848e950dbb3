"""Block-wide barriers: who waits where, and when a block goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpuviz.base.arrays import I64, Array, Bool
from gpuviz.base.errors import KernelFault
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.text.ir import Instruction
from gpuviz.traces.observe import BarrierEvent, Place

if TYPE_CHECKING:
    from gpuviz.ptx.simt.machine import Machine


@dataclass(eq=False)
class Arrival:
    """A group that reached a barrier. `count` 0 means all threads of the block that still run.

    `value` is the predicate of bar.red, folded over the block by `fold` and given to `write`.
    """

    group: Group
    number: int
    count: int
    instruction: Instruction
    following: int
    waits: bool
    value: Array | None
    fold: str
    write: Callable[[Group, Array], None] | None


@dataclass(frozen=True, eq=False)
class _WentOn:
    """Threads that came to a barrier and did not wait: (B, T), those it has not counted yet."""

    at: Place
    threads: Bool


class Barriers:
    """The barriers of the blocks of one batch; `waiting` are the arrivals by barrier number."""

    def __init__(self) -> None:
        self.waiting: dict[int, list[Arrival]] = {}
        self._went_on: dict[int, list[_WentOn]] = {}  # those that arrived without waiting

    def arrive(self, arrival: Arrival) -> None:
        """A group comes to a barrier: it goes on at once if it completes every block it is in."""
        group, machine = arrival.group, arrival.group.machine
        alone = arrival.number not in self.waiting and arrival.number not in self._went_on
        if alone and arrival.count == 0 and group.threads == machine.running.threads:
            self._pass_all(arrival)
            return
        if not arrival.waits:
            came = _WentOn(Place.of(arrival.instruction), _threads_of(group))
            self._went_on.setdefault(arrival.number, []).append(came)
            group.move(arrival.following)
        else:
            if arrival.value is not None and not group.layout.dense:
                arrival.value = group.layout.scatter(arrival.value, np.zeros(1, bool))
            group.spread()
            self.waiting.setdefault(arrival.number, []).append(arrival)
            machine.remove(group)
        self.release(arrival.number)

    def _pass_all(self, arrival: Arrival) -> None:
        group = arrival.group
        if arrival.write is not None and arrival.value is not None:
            layout = group.layout
            if not layout.dense:
                group.spread()
                arrival.value = layout.scatter(arrival.value, np.zeros(1, bool))
            arrival.write(group, _fold([arrival], group.mask, group))
        if arrival.waits:
            _passed(group.machine, slice(None), [arrival], [])
        group.penalty = group.spins = 0
        group.move(arrival.following)

    def release(self, number: int) -> None:
        """Let the blocks go whose threads have all arrived."""
        waiting = self.waiting.get(number, [])
        if not waiting:
            return
        without = self._went_on.get(number, [])
        arrived = sum(w.threads.sum(axis=1) for w in without) + sum(
            _per_block(a.group) for a in waiting
        )
        count = max(a.count for a in waiting)
        machine = waiting[0].group.machine
        expected = machine.running.per_block() if count == 0 else np.full_like(arrived, count)
        done = (arrived >= expected) & (arrived > 0)
        if not done.any():
            return
        _passed(machine, done, waiting, without)
        for one in without:
            one.threads[done] = False
        if not any(one.threads.any() for one in without):
            self._went_on.pop(number, None)
        self._let_go(number, waiting, done)

    def _let_go(self, number: int, waiting: list[Arrival], done: Bool) -> None:
        rows = done[:, None]
        kept: list[Arrival] = []
        for arrival in waiting:
            group = arrival.group
            going = group.layout.full(rows if group.mask is None else rows & group.mask)
            staying = ~rows if group.mask is None else group.mask & ~rows
            if going.any():
                free = group.fork(np.asarray(going))
                if arrival.write is not None:
                    arrival.write(free, _fold(waiting, None, free))
                free.move(arrival.following)
                group.machine.add(free)
            if staying.any():
                group.set_mask(np.asarray(group.layout.full(staying)))
                kept.append(arrival)
        if kept:
            self.waiting[number] = kept
        else:
            del self.waiting[number]

    def threads_left(self) -> None:
        """Some threads ended: barriers may be complete without them."""
        for number in list(self.waiting):
            self.release(number)

    def complain(self) -> KernelFault:
        """The error for blocks in which nobody can go on; tells of one of them."""
        arrivals = [a for found in self.waiting.values() for a in found]
        at, first = arrivals[0].instruction, arrivals[0].group
        launch, running = first.machine.execution.launch, first.machine.running
        block, _ = first.position(first.first_active())
        row = block - first.layout.first_block
        places = "; ".join(filter(None, (_waiting(a, row) for a in arrivals)))
        ended = launch.threads_per_block - int(running.per_block()[row])
        message = (
            f"deadlock in block {launch.block_index(block)}: {places}"
            f"{f'; {ended} threads have ended' * bool(ended)}; not all of them meet at a barrier"
        )
        remedy = "let every thread come to the same barrier, and count those it waits for"
        lane = first.first_active()
        return first.fault("sync", "deadlock", message, at, lane, remedy)


def _per_block(group: Group) -> I64:
    """How many threads of each block are in a group."""
    layout = group.layout
    if layout.dense:
        if group.mask is None:
            return np.full(layout.blocks, layout.threads)
        return np.asarray(layout.full(group.mask).sum(axis=1))
    rows = layout.row if group.mask is None else layout.row[layout.full(group.mask)]
    return np.bincount(rows, minlength=layout.blocks)


def _threads_of(group: Group) -> Bool:
    """(B, T): the threads of the batch that are in a group; the caller's own."""
    layout = group.layout
    if layout.dense and group.mask is None:
        return np.ones((layout.blocks, layout.threads), bool)
    mask = layout.dense_mask(group.mask)
    return np.array(np.broadcast_to(mask, (layout.blocks, layout.threads)))


def _passed(
    machine: Machine, blocks: slice | Bool, arrivals: list[Arrival], without: list[_WentOn]
) -> None:
    """Blocks go on to their next phase."""
    if machine.told.barrier:
        meeting = _meeting(arrivals, without, blocks)
        passed = machine.layout.first_block + np.arange(machine.layout.blocks)[blocks]
        for hear in machine.told.barrier:
            hear(Place.of(arrivals[0].instruction), passed, meeting)


def _meeting(
    arrivals: list[Arrival], without: list[_WentOn], blocks: slice | Bool
) -> BarrierEvent | None:
    """Who came to a barrier of blocks that go on."""
    count = max(a.count for a in arrivals)
    if not without and not count and len({a.instruction.pc for a in arrivals}) == 1:
        return None
    came = [(Place.of(a.instruction), True, _threads_of(a.group)) for a in arrivals]
    came += [(one.at, False, one.threads) for one in without]
    kinds = list(dict.fromkeys((place, waits) for place, waits, _ in came))
    layout = arrivals[0].group.machine.layout
    found = np.zeros((layout.blocks, layout.threads), np.int8)
    for place, waits, threads in came:
        found[threads] = 1 + kinds.index((place, waits))
    places, waiting = zip(*kinds, strict=True)
    return BarrierEvent(places, waiting, found[blocks], count, min(a.count for a in arrivals))


def _waiting(arrival: Arrival, row: int) -> str:
    """Who of one block waits at a barrier, in words; "" for nobody."""
    group = arrival.group
    mask = np.array(True) if group.mask is None else group.mask
    lanes = np.flatnonzero(group.layout.full(mask)[row])
    if not len(lanes):
        return ""
    count = f" for {arrival.count}" if arrival.count else ""
    return (
        f"{len(lanes)} threads wait at barrier {arrival.number}{count} "
        f"({arrival.instruction.where}), the first is thread "
        f"{group.machine.execution.launch.thread_index(int(lanes[0]))}"
    )


def _fold(arrivals: list[Arrival], mask: Bool | None, group: Group) -> Array:
    """The reduction of bar.red over each block of the batch, as (blocks, 1)."""
    layout = group.layout
    total = np.zeros((layout.blocks, 1), np.int64)
    threads = np.zeros((layout.blocks, 1), np.int64)
    for arrival in arrivals:
        if arrival.value is None:
            continue
        active = (
            np.broadcast_to(True, layout.shape)
            if arrival.group.mask is None
            else layout.full(arrival.group.mask)
        )
        total += (layout.full(arrival.value) & active).sum(axis=1, keepdims=True)
        threads += active.sum(axis=1, keepdims=True)
    fold = arrivals[0].fold
    if fold == "popc":
        return total.astype(np.uint32)
    return np.asarray(total == threads if fold == "and" else total > 0)


if TYPE_CHECKING:
    from gpuviz.ptx.simt.machine import Machine


class ClusterBarrier:
    """That of the clusters of a batch; `waiting` are groups, where they wait and go on."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        layout, cluster = machine.layout, machine.execution.program.cluster
        blocks = layout.first_block + np.arange(layout.blocks)
        self._leader = cluster.peer(blocks, np.zeros_like(blocks)) - layout.first_block
        self._arrived: Bool = np.zeros((layout.blocks, layout.threads), bool)
        self.waiting: list[tuple[Group, Instruction, int]] = []

    def arrive(self, g: Group, at: Instruction, following: int) -> None:
        """Threads arrive and go on."""
        self._arrived |= _threads_of(g)
        g.move(following)
        self.check(at)

    def wait(self, g: Group, at: Instruction, following: int) -> None:
        """Threads go on when all of their cluster have arrived."""
        g.spread()
        self._machine.remove(g)
        self.waiting.append((g, at, following))
        self._release()

    def check(self, at: Instruction) -> None:
        """Begin anew in the clusters whose threads have all arrived, or ended."""
        running = self._machine.running
        alive = np.ones_like(self._arrived)
        if running.mask is not None:
            alive &= running.mask
        missing = np.zeros(len(self._leader), bool)
        np.logical_or.at(missing, self._leader, (alive & ~self._arrived).any(axis=1))
        came = np.zeros(len(self._leader), bool)
        np.logical_or.at(came, self._leader, self._arrived.any(axis=1))
        done = (came & ~missing)[self._leader]
        if not done.any():
            return
        self._arrived[done] = False
        told = self._machine.told.barrier
        if told and self._machine.execution.program.cluster.size > 1:
            passed = self._machine.layout.first_block + np.flatnonzero(done)
            for hear in told:
                hear(Place.of(at), passed, None)
        self._release()

    def threads_left(self) -> None:
        """Some threads ended."""
        if self._arrived.any():
            self.check(self._last)

    @property
    def _last(self) -> Instruction:
        return (
            self.waiting[-1][1]
            if self.waiting
            else self._machine.execution.kernel.function.body[-1]
        )

    def _release(self) -> None:
        """Threads that have arrived, and whose cluster is complete, are marked no more."""
        left = []
        for g, at, following in self.waiting:
            held = self._arrived & _threads_of(g)
            free = _threads_of(g) & ~held
            if free.any():
                part = g.fork(free)
                part.move(following)
                self._machine.add(part)
            if held.any():
                g.set_mask(held)
                left.append((g, at, following))
        self.waiting = left

    def complain(self) -> KernelFault:
        """The error for clusters in which nobody can go on."""
        g, at, _ = self.waiting[0]
        lane = g.first_active()
        message = (
            f"deadlock: {g.threads} threads wait at barrier.cluster ({at.where}) for others of "
            f"their cluster, the first is {g.who(lane)}"
        )
        remedy = "let every thread of the cluster arrive"
        return g.fault("sync", "deadlock", message, at, lane, remedy)
