"""Block-wide barriers: who waits where, and when a block goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpuviz.arrays import I64, Array, Bool
from gpuviz.errors import KernelFault
from gpuviz.ptx.simt.batch import Batch
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.text.ir import Instruction


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


class Barriers:
    """The barriers of the blocks of one batch."""

    def __init__(self, machine: Batch) -> None:
        self.machine = machine
        self.waiting: dict[int, list[Arrival]] = {}
        self._extra: dict[int, I64] = {}  # threads that arrived without waiting

    def arrive(self, arrival: Arrival) -> None:
        """A group comes to a barrier: it goes on at once if it completes every block it is in."""
        group, machine = arrival.group, self.machine
        alone = arrival.number not in self.waiting and arrival.number not in self._extra
        if alone and arrival.count == 0 and group.threads == machine.running_threads:
            self._pass_all(arrival)
            return
        if not arrival.waits:
            self._extra[arrival.number] = self._extra.get(arrival.number, 0) + self._per_block(
                group
            )
            group.move(arrival.following)
        else:
            if arrival.value is not None and not group.view.dense:
                arrival.value = group.view.scatter(arrival.value, np.zeros(1, bool))
            group.spread()
            self.waiting.setdefault(arrival.number, []).append(arrival)
            machine.remove(group)
        self.release(arrival.number)

    def _pass_all(self, arrival: Arrival) -> None:
        group = arrival.group
        if arrival.write is not None and arrival.value is not None:
            view = group.view
            if not view.dense:
                group.spread()
                arrival.value = view.scatter(arrival.value, np.zeros(1, bool))
            arrival.write(group, _fold([arrival], group.mask, group))
        if arrival.waits:
            self.machine.barrier_passed(slice(None), [arrival])
        group.penalty = group.spins = 0
        group.move(arrival.following)

    @staticmethod
    def _per_block(group: Group) -> I64:
        """How many threads of each block are in a group."""
        view = group.view
        if view.dense:
            if group.mask is None:
                return np.full(view.blocks, view.threads)
            return np.asarray(view.full(group.mask).sum(axis=1))
        rows = view.row if group.mask is None else view.row[view.full(group.mask)]
        return np.bincount(rows, minlength=view.blocks)

    def release(self, number: int) -> None:
        """Let the blocks go whose threads have all arrived."""
        waiting = self.waiting.get(number, [])
        if not waiting:
            return
        arrived = self._extra.get(number, 0) + sum(self._per_block(a.group) for a in waiting)
        count = max(a.count for a in waiting)
        expected = self.machine.running_per_block() if count == 0 else np.full_like(arrived, count)
        done = (arrived >= expected) & (arrived > 0)
        if not done.any():
            return
        self.machine.barrier_passed(done, waiting)
        if number in self._extra:
            self._extra[number] = np.where(done, 0, self._extra[number])
            if not self._extra[number].any():
                del self._extra[number]
        self._let_go(number, waiting, done)

    def _let_go(self, number: int, waiting: list[Arrival], done: Bool) -> None:
        rows = done[:, None]
        kept: list[Arrival] = []
        for arrival in waiting:
            group = arrival.group
            going = group.view.full(rows if group.mask is None else rows & group.mask)
            staying = ~rows if group.mask is None else group.mask & ~rows
            if going.any():
                free = group.fork(np.asarray(going))
                if arrival.write is not None:
                    arrival.write(free, _fold(waiting, None, free))
                free.move(arrival.following)
                self.machine.add(free)
            if staying.any():
                group.set_mask(np.asarray(group.view.full(staying)))
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
        first = arrivals[0].group
        block, _ = first.position(first.first_active())
        row = block - self.machine.first_block
        places = "; ".join(filter(None, (_waiting(a, row, self.machine) for a in arrivals)))
        ended = self.machine.launch.threads_per_block - int(self.machine.running_per_block()[row])
        return KernelFault(
            f"deadlock in block {self.machine.launch.block_index(block)}: {places}"
            f"{f'; {ended} threads have ended' * bool(ended)}; not all of them meet at a barrier"
        )


def _waiting(arrival: Arrival, row: int, machine: Batch) -> str:
    """Who of one block waits at a barrier, in words; "" for nobody."""
    group = arrival.group
    mask = np.array(True) if group.mask is None else group.mask
    lanes = np.flatnonzero(group.view.full(mask)[row])
    if not len(lanes):
        return ""
    count = f" for {arrival.count}" if arrival.count else ""
    return (
        f"{len(lanes)} threads wait at barrier {arrival.number}{count} "
        f"({arrival.instruction.where}), the first is thread "
        f"{machine.launch.thread_index(int(lanes[0]))}"
    )


def _fold(arrivals: list[Arrival], mask: Bool | None, group: Group) -> Array:
    """The reduction of bar.red over each block of the batch, as (blocks, 1)."""
    view = group.view
    total = np.zeros((view.blocks, 1), np.int64)
    threads = np.zeros((view.blocks, 1), np.int64)
    for arrival in arrivals:
        if arrival.value is None:
            continue
        active = (
            np.broadcast_to(True, view.shape)
            if arrival.group.mask is None
            else view.full(arrival.group.mask)
        )
        total += (view.full(arrival.value) & active).sum(axis=1, keepdims=True)
        threads += active.sum(axis=1, keepdims=True)
    fold = arrivals[0].fold
    if fold == "popc":
        return total.astype(np.uint32)
    return np.asarray(total == threads if fold == "and" else total > 0)
