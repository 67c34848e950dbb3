"""One batch of blocks, executed: groups of lanes are run until all have ended.

All blocks of a batch run in step, and an instruction is one NumPy operation over all of them.
Lanes that part become groups; the group that is earliest in the program (see `text.flow`) runs
first, and groups that come to the same place merge. Each warp therefore behaves as if it ran alone:
other warps decide only when its turn comes, never what it does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuviz.base.arrays import I64, Bool
from gpuviz.ptx.simt.barriers import Barriers
from gpuviz.ptx.simt.cluster_barrier import ClusterBarrier
from gpuviz.ptx.simt.code import Block
from gpuviz.ptx.simt.execution import Execution
from gpuviz.ptx.simt.group import Group, RegisterFiles, lowest
from gpuviz.ptx.simt.layout import Layout
from gpuviz.ptx.simt.memories import Memories
from gpuviz.ptx.simt.polling import SpinDetector
from gpuviz.traces.observe import Warps
from gpuviz.traces.trace import LANES


class LiveThreads:
    """The threads of a batch that have not ended.

    Attributes
    ----------
    threads : how many there are
    mask : which elements of the batch's layout they are, None for all
    """

    def __init__(self, layout: Layout, threads_per_block: int) -> None:
        self._layout = layout
        self._per_block = threads_per_block
        self.threads = layout.blocks * threads_per_block
        self.mask: Bool | None = None
        if layout.threads != threads_per_block:
            self.mask = (np.arange(layout.threads) < threads_per_block)[None, :]

    def end(self, group: Group) -> None:
        """The lanes of a group end."""
        if group.mask is None and group.layout.dense:
            self.mask = np.zeros((1, self._layout.threads), bool)
        else:
            ended = group.layout.dense_mask(group.mask)
            self.mask = ~ended if self.mask is None else self.mask & ~ended
        self.threads -= group.threads

    def per_block(self) -> I64:
        """(B,) how many threads of each block are running."""
        if self.mask is None:
            return np.full(self._layout.blocks, self._layout.threads)
        return np.asarray(self._layout.full(self.mask).sum(axis=1))

    def some_ended(self, blocks: slice | Bool) -> bool:
        """Whether a thread of some blocks has ended."""
        if self.threads == self._layout.blocks * self._per_block:
            return False
        return bool((self.per_block()[blocks] < self._per_block).any())

    def rows(self, layout: Layout) -> Bool:
        """(N, 32): running lanes of the warps of a layout (present in the layout or not)."""
        warps = layout.warp_numbers()
        if self.mask is None:
            return np.ones((len(warps), LANES), bool)
        return self._layout.full(self.mask).reshape(-1, LANES)[warps]

    def of(self, warps: Warps) -> Bool:
        """(N, 32): running lanes of the warps of rows that stand for one warp each."""
        if self.mask is None:
            return np.ones((len(warps.first), LANES), bool)
        within = warps.first - self._layout.first_block * warps.per_block
        return self._layout.full(self.mask).reshape(-1, LANES)[within]


SPARSE_PART = 4  # a group of at most 1/4 of its layout gets arrays of its own ...
SPARSE_SIZE = 1024  # ... when the layout has at least this many threads


class Machine:
    """Runs `count` blocks from `first_block` on, by giving their groups turns."""

    def __init__(self, execution: Execution, first_block: int, count: int) -> None:
        self.execution = execution
        self.told = execution.told
        threads = execution.launch.threads_per_block
        self.layout = Layout(first_block, count, -(-threads // LANES) * LANES)
        self.running = LiveThreads(self.layout, threads)
        self.memory = Memories(execution, self.layout)
        self.polling = SpinDetector(execution.program.module)
        self.barriers = Barriers()
        self.cluster = ClusterBarrier(self)
        files = RegisterFiles(self.layout)
        self.groups = [Group(self, files, self.running.mask, execution.kernel)]

    def run(self) -> None:
        """Run until every thread has ended.

        Raises
        ------
        KernelFault : an illegal access, a deadlock, or the instruction budget is spent
        Cancelled : the caller asked to stop
        """
        for hear in self.told.blocks_begin:
            hear(self.layout.first_block, self.layout.blocks)
        while self.groups:
            group = lowest(self.groups)
            forced = group is None
            if group is None:
                group = min(self.groups, key=lambda g: g.key)
            group.blocked = False
            self._advance(group, forced)
        if self.barriers.waiting:
            raise self.barriers.complain()
        if self.cluster.waiting:
            raise self.cluster.complain()
        for hear in self.told.blocks_end:
            hear(self.layout.first_block, self.layout.blocks)

    def _advance(self, group: Group, forced: bool) -> None:
        """Run a group, block by block, for as long as it is the only one."""
        execution, told = self.execution, self.told.instructions
        while True:
            block = group.code.blocks[group.block]
            if not forced and self._waits(group, block):
                group.blocked = True
                return
            forced = False
            for step in block.steps:
                step(group)
            for hear in told:
                hear(block.stretch, group)
            execution.spend(group.threads, group.warps, block.stretch.count, block.first)
            if block.end is None:
                group.move(group.block + 1)
            else:
                block.end(group)
            if len(self.groups) != 1 or self.groups[0] is not group:
                self._merge()
                return

    def _waits(self, group: Group, block: Block) -> bool:
        """Whether lanes that the block's first instruction names are still elsewhere."""
        return (
            block.members is not None
            and group.threads != self.running.threads
            and not block.members(group)
        )

    def _merge(self) -> None:
        """Join groups that are at the same place."""
        seen: dict[Any, Group] = {}
        for group in list(self.groups):
            first = seen.setdefault(group.key, group)
            if first is not group:
                first.absorb(group)
                self.groups.remove(group)

    def add(self, group: Group) -> None:
        """A group starts to take part."""
        self.groups.append(group)

    def remove(self, group: Group) -> None:
        """A group waits elsewhere or has ended."""
        self.groups = [g for g in self.groups if g is not group]

    def settle_size(self, group: Group) -> None:
        """Give a group that became small arrays of its own."""
        size = group.layout.size
        if size >= SPARSE_SIZE and group.threads * SPARSE_PART <= size:
            group.condense()

    def exit(self, group: Group) -> None:
        """The lanes of a group end."""
        self.remove(group)
        self.running.end(group)
        for hear in self.told.exit:
            hear(group.code.blocks[group.block].stretch, group)
        self.barriers.threads_left()
        self.cluster.threads_left()
