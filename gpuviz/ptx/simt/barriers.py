"""Block-wide barriers: who waits where, and when a block goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpuviz.arrays import I64, Array, Bool
from gpuviz.errors import KernelFault
from gpuviz.observe import Place
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.text.ir import Instruction

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


class Barriers:
    """The barriers of the blocks of one batch; `waiting` are the arrivals by barrier number."""

    def __init__(self) -> None:
        self.waiting: dict[int, list[Arrival]] = {}
        self._extra: dict[int, I64] = {}  # threads that arrived without waiting

    def arrive(self, arrival: Arrival) -> None:
        """A group comes to a barrier: it goes on at once if it completes every block it is in."""
        group, machine = arrival.group, arrival.group.machine
        alone = arrival.number not in self.waiting and arrival.number not in self._extra
        if alone and arrival.count == 0 and group.threads == machine.running.threads:
            self._pass_all(arrival)
            return
        if not arrival.waits:
            self._extra[arrival.number] = self._extra.get(arrival.number, 0) + _per_block(group)
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
            _passed(group.machine, slice(None), [arrival])
        group.penalty = group.spins = 0
        group.move(arrival.following)

    def release(self, number: int) -> None:
        """Let the blocks go whose threads have all arrived."""
        waiting = self.waiting.get(number, [])
        if not waiting:
            return
        arrived = self._extra.get(number, 0) + sum(_per_block(a.group) for a in waiting)
        count = max(a.count for a in waiting)
        machine = waiting[0].group.machine
        expected = machine.running.per_block() if count == 0 else np.full_like(arrived, count)
        done = (arrived >= expected) & (arrived > 0)
        if not done.any():
            return
        _passed(machine, done, waiting)
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
        first = arrivals[0].group
        launch, running = first.machine.execution.launch, first.machine.running
        block, _ = first.position(first.first_active())
        row = block - first.layout.first_block
        places = "; ".join(filter(None, (_waiting(a, row) for a in arrivals)))
        ended = launch.threads_per_block - int(running.per_block()[row])
        return KernelFault(
            f"deadlock in block {launch.block_index(block)}: {places}"
            f"{f'; {ended} threads have ended' * bool(ended)}; not all of them meet at a barrier"
        )


def _per_block(group: Group) -> I64:
    """How many threads of each block are in a group."""
    layout = group.layout
    if layout.dense:
        if group.mask is None:
            return np.full(layout.blocks, layout.threads)
        return np.asarray(layout.full(group.mask).sum(axis=1))
    rows = layout.row if group.mask is None else layout.row[layout.full(group.mask)]
    return np.bincount(rows, minlength=layout.blocks)


def _passed(machine: Machine, blocks: slice | Bool, arrivals: list[Arrival]) -> None:
    """Blocks go on to their next phase."""
    first = arrivals[0]
    machine.memory.shared.settle()
    if machine.told.barrier:
        at = first.instruction
        place = Place(at.pc, at.line, at.ptx_line)
        passed = machine.layout.first_block + np.arange(machine.layout.blocks)[blocks]
        for hear in machine.told.barrier:
            hear(place, passed)
    if any(a.count for a in arrivals):
        return
    apart = len({a.instruction.pc for a in arrivals}) > 1
    if apart or machine.running.some_ended(blocks):
        why = "lanes wait at different barriers" if apart else "some threads have ended"
        machine.execution.warn(
            "barrier not reached by all",
            f"this barrier is not reached by all threads "
            f"of the block ({why}); CUDA leaves the result undefined",
            first.group,
            first.group.first_active(),
            first.instruction,
        )


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
