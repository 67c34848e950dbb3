"""The barrier of a cluster: threads arrive, and later wait for all others of their cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuviz.base.arrays import Bool
from gpuviz.base.errors import KernelFault
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.text.ir import Instruction
from gpuviz.traces.observe import Place

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
        self._arrived |= _threads(g)
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
            held = self._arrived & _threads(g)
            free = _threads(g) & ~held
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


def _threads(g: Group) -> Bool:
    """(B, T) which threads of the batch are in a group."""
    layout, batch = g.layout, (g.layout.blocks, g.layout.threads)
    if layout.dense and g.mask is None:
        return np.ones(batch, bool)
    return np.array(np.broadcast_to(layout.dense_mask(g.mask), batch))
