"""One batch of blocks, executed: groups of lanes are run until all have ended.

All blocks of a batch run in step, and an instruction is one NumPy operation over all of them.
Lanes that part become groups; the group that is earliest in the program (see `text.flow`) runs
first, and groups that come to the same place merge. Each warp therefore behaves as if it ran alone:
other warps decide only when its turn comes, never what it does.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from gpuviz.base.arrays import I64, Array, Bool
from gpuviz.base.errors import KernelFault
from gpuviz.ptx.simt.barriers import Barriers, ClusterBarrier
from gpuviz.ptx.simt.code import Block
from gpuviz.ptx.simt.group import Group, RegisterFiles, lowest
from gpuviz.ptx.simt.layout import Layout
from gpuviz.ptx.simt.memories import Memories
from gpuviz.ptx.simt.program import Execution
from gpuviz.ptx.text.ir import Instruction, Module
from gpuviz.traces.observe import Warps
from gpuviz.traces.trace import LANES

IDLE_LOOPS = 50_000  # polling loops in a row after which nobody can be expected to write
IDLE_WAITS = 1_000  # likewise, of loops around an mbarrier's phase that is not over
PATIENCE = 64  # loops a spinning group may make before others get a turn, the first time

Complaint = Callable[[Group], KernelFault]  # about what a group waits for in vain


class SpinDetector:
    """Watches the groups of a batch that read memory as a loop does that waits.

    Attributes
    ----------
    polled : somebody did since a group last made a loop
    idle : loops made by groups that polled, since anybody last changed memory
    """

    def __init__(self, module: Module) -> None:
        self._module = module
        self.polled = False
        self.idle = 0
        self._waits: dict[int, tuple[Group, Complaint]] = {}
        self._waiting = False
        self._idle_groups: set[int] = set()  # that went round since anybody changed memory
        self._address: dict[int, Array] = {}

    def read(self, at: Instruction, address: Array) -> None:
        """A group polls; at a new address it is not idle."""
        self.polled = True
        if self._address.get(at.pc) is not address:
            self._address[at.pc] = address
            self.idle = 0

    def wait(self, at: Instruction, group: Group, complaint: Complaint) -> None:
        """A group waits for something that only others can bring about, and they go first."""
        self.polled = self._waiting = True
        self._waits[at.pc] = group, complaint

    def went_back(self, group: Group) -> None:
        """A group made a loop: one that polls must let others run now and then.

        Raises
        ------
        KernelFault : it waits for a value that nobody writes
        """
        if not self.polled:
            return
        waiting, self._waiting = self._waiting, False
        self.polled = False
        self.idle += 1
        if self.idle == 1:
            self._idle_groups.clear()
        self._idle_groups.add(id(group))
        if waiting and self.idle > IDLE_WAITS and self._all_idle(group):
            group, complaint = next(reversed(self._waits.values()))
            raise complaint(group)
        if self.idle > IDLE_LOOPS:
            at = group.code.blocks[group.block].first
            raise KernelFault(
                f"the loop at {at.where} ({self._module.line_text(at.ptx_line)}) waits for "
                f"a value that nobody writes: {IDLE_LOOPS:,} times round changed no memory, "
                f"{group.who(group.first_active())}"
            )
        group.spins += 1
        if waiting or group.spins >= (2 if group.penalty else PATIENCE):
            group.spins = 0
            group.penalty += 1

    def _all_idle(self, group: Group) -> bool:
        """Whether nobody is left who might change memory."""
        return all(g.blocked or id(g) in self._idle_groups for g in group.machine.groups)


class LiveThreads:
    """The threads of a batch that have not ended.

    Attributes
    ----------
    threads : how many there are
    mask : which elements of the batch's layout they are, None for all
    """

    def __init__(self, layout: Layout, threads_per_block: int) -> None:
        self._layout = layout
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
