"""One batch of blocks, executed: groups of lanes are run until all have ended.

All blocks of a batch run in step, and an instruction is one NumPy operation over all of them.
Lanes that part become groups; the group that is earliest in the program (see `flow`) runs first,
and groups that come to the same place merge. Each warp therefore behaves as if it ran alone: other
warps decide only when its turn comes, never what it does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gpuviz.arrays import Array, Bool
from gpuviz.errors import KernelFault
from gpuviz.ptx.simt.barriers import Arrival, Barriers
from gpuviz.ptx.simt.code import Block, FunctionCode
from gpuviz.ptx.simt.execution import Execution
from gpuviz.ptx.simt.group import Bank, Group, lowest
from gpuviz.ptx.simt.spaces import Cells, LocalMemory, SharedMemory, Violation
from gpuviz.ptx.simt.view import View
from gpuviz.ptx.simt.windows import LOCAL
from gpuviz.ptx.text.ir import Function, Instruction
from gpuviz.trace import LANES, Access, Finding, Launch, MemoryInstruction, Stretch

SPARSE_PART = 4  # a group of at most 1/4 of its view gets arrays of its own ...
SPARSE_SIZE = 1024  # ... when the view has at least this many threads
FRAME = 128  # bytes of stack that a call takes at least, for saved registers
IDLE_LOOPS = 50_000  # polling loops in a row after which nobody can be expected to write
PATIENCE = 64  # loops a spinning group may make before others get a turn, the first time


class Machine:
    """The state of one batch: `count` blocks from `first_block` on."""

    def __init__(self, execution: Execution, first_block: int, count: int) -> None:
        self.execution = execution
        self.program = execution.program
        self.launch: Launch = execution.launch
        self.first_block = first_block
        threads = self.launch.threads_per_block
        padded = -(-threads // LANES) * LANES
        self.view = View(count, padded)
        self.bank = Bank(self.view)
        self.live: Bool | None = None
        if padded != threads:
            self.live = (np.arange(padded) < threads)[None, :]
        self.running_threads = count * threads
        self.shared = SharedMemory(count, self.program.shared_size)
        kernel = execution.code(self.program.kernel)
        self.local = LocalMemory(count * padded, kernel.local_size)
        self.phases = np.zeros(count, np.int32)
        self.barriers = Barriers(self)
        self.polled = False
        self.idle = 0  # loops made by groups that polled, since anybody last changed memory
        self._polled_at: dict[int, Array] = {}
        self.recording = any(
            first_block <= b < first_block + count for b in execution.recorder.blocks
        )
        self.walking = self.recording and execution.recorder.walking
        self.groups = [Group(self, self.bank, self.live, kernel)]

    # -------------------------------------------------------------- running

    def run(self) -> None:
        """Run until every thread has ended.

        Raises
        ------
        KernelFault : an illegal access, a deadlock, or the instruction budget is spent
        Cancelled : the caller asked to stop
        """
        while True:
            group = lowest(self.groups)
            forced = group is None
            if group is None:
                group = min(self.groups, key=lambda g: g.key, default=None)
            if group is None:
                if self.barriers.waiting:
                    raise self.barriers.complain()
                return
            group.blocked = False
            self._advance(group, forced)

    def _advance(self, group: Group, forced: bool) -> None:
        """Run a group, block by block, for as long as it is the only one."""
        while True:
            block = group.code.blocks[group.block]
            if not forced and self._waits(group, block):
                group.blocked = True
                return
            forced = False
            for step in block.steps:
                step(group)
            if self.walking:
                self._walk(group, block)
            self.execution.spend(group.threads, group.warps, block.count, block.first)
            self.execution.poll()
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
            and group.threads != self.running_threads
            and not block.members(group)
        )

    def _walk(self, group: Group, block: Block) -> None:
        """Keep which lanes executed a basic block."""
        stretch = Stretch(block.first.pc, block.count, block.lines, group.code.name)
        self.execution.recorder.walk(stretch, group.view, group.mask, self.first_block)

    def _merge(self) -> None:
        """Join groups that are at the same place."""
        seen: dict[Any, Group] = {}
        for group in list(self.groups):
            first = seen.setdefault(group.key, group)
            if first is not group:
                first.absorb(group)
                self.groups.remove(group)

    def settle_size(self, group: Group) -> None:
        """Give a group that became small arrays of its own."""
        size = group.view.size
        if size >= SPARSE_SIZE and group.threads * SPARSE_PART <= size:
            group.condense()

    def add(self, group: Group) -> None:
        """A group starts to take part."""
        self.groups.append(group)

    def remove(self, group: Group) -> None:
        """A group waits elsewhere or has ended."""
        self.groups = [g for g in self.groups if g is not group]

    def went_back(self, group: Group) -> None:
        """A group made a loop: one that polls memory must let others run now and then."""
        if not self.polled:
            return
        self.polled = False
        self.idle += 1
        if self.idle > IDLE_LOOPS:
            at = group.code.blocks[group.block].first
            raise KernelFault(
                f"the loop at {at.where} ({self.program.module.line_text(at.ptx_line)}) waits for "
                f"a value that nobody writes: {IDLE_LOOPS:,} times round changed no memory, "
                f"{self.who(group, group.first_active())}"
            )
        group.spins += 1
        if group.spins >= (2 if group.penalty else PATIENCE):
            group.spins = 0
            group.penalty += 1

    def poll(self, at: Instruction, address: Array) -> None:
        """A group reads memory as a loop does that waits; at a new address it is not idle."""
        self.polled = True
        if self._polled_at.get(at.pc) is not address:
            self._polled_at[at.pc] = address
            self.idle = 0

    # -------------------------------------------------------------- ends of threads

    def exit(self, group: Group) -> None:
        """The lanes of a group end."""
        self.remove(group)
        ended = (
            group.view.dense_mask(group.mask)
            if (group.mask is not None or not group.view.dense)
            else None
        )
        if ended is None:
            self.live = np.zeros((1, self.view.threads), bool)
        else:
            self.live = ~ended if self.live is None else self.live & ~ended
        self.running_threads -= group.threads
        self.barriers.threads_left()

    def running_per_block(self) -> npt.NDArray[np.int64]:
        """Threads of each block that have not ended."""
        if self.live is None:
            return np.full(self.view.blocks, self.view.threads)
        return np.asarray(self.view.full(self.live).sum(axis=1))

    def running_rows(self, view: View) -> Bool:
        """(N, 32): lanes of a view's warps that have not ended (present in the batch or not)."""
        warps = view.warp_numbers()
        if self.live is None:
            return np.ones((len(warps), LANES), bool)
        return self.view.full(self.live).reshape(-1, LANES)[warps]

    def return_from(self, group: Group) -> None:
        """A device function ends: back to the caller, with the results."""
        call = group.stack.pop()
        results = call.on_return(group, group.code)
        if call.saved is not None:
            for i, value in enumerate(call.saved):
                if group.regs[i] is not value:
                    group.write(i, value)
        group.enter(call.code)
        group.local_base = call.local_base
        for index, value in results:
            group.write(index, value)
        group.move(call.block)

    def code(self, function: Function) -> FunctionCode:
        """The decoded form of a function."""
        return self.execution.code(function)

    # -------------------------------------------------------------- memory

    def cells(self, space: str, unit: int) -> Array:
        """The cells of a memory."""
        return self._cells(space).of(unit)

    def _cells(self, space: str) -> Cells:
        memories = {
            "global": self.program.memory,
            "shared": self.shared,
            "local": self.local,
            "const": self.program.constants,
            "param": self.program.parameters,
        }
        return memories[space].cells  # type: ignore[attr-defined,no-any-return]

    def index(
        self, space: str, group: Group, address: Array, width: int, unit: int, at: Instruction
    ) -> npt.NDArray[np.int64]:
        """Checked cell indices of an access.

        Raises
        ------
        KernelFault : outside or misaligned; names line, block, thread, address and buffer
        """
        view = group.view
        try:
            if space == "global":
                return self.program.memory.index(
                    view, address.astype(np.uint64, copy=False), width, unit
                )
            memory = {
                "shared": self.shared,
                "local": self.local,
                "const": self.program.constants,
                "param": self.program.parameters,
            }[space]
            return memory.index(view, address, width, unit)  # type: ignore[attr-defined,no-any-return]
        except Violation as violation:
            raise self._fault(violation, group, space, at) from None

    def _fault(
        self, violation: Violation, group: Group, space: str, at: Instruction
    ) -> KernelFault:
        bad = violation.bad if group.mask is None else violation.bad & group.view.full(group.mask)
        lane = int(np.argmax(bad))
        address = int(violation.address.reshape(-1)[lane])
        text = self.program.module.line_text(at.ptx_line)
        near = self.program.describe(space, address)
        return KernelFault(
            f"illegal {space} access at {at.where} ({text}): {violation.reason}"
            f"{', ' * bool(near)}{near}, address {address:#x}, {self.who(group, lane)}"
        )

    def who(self, group: Group, lane: int) -> str:
        """Block and thread of a lane, for messages."""
        block, thread = group.position(lane)
        return f"block {self.launch.block_index(block)}, thread {self.launch.thread_index(thread)}"

    def reserve_local(self, group: Group, size: int, at: Instruction) -> None:
        """Make room for a deeper call.

        Raises
        ------
        KernelFault : the recursion is too deep
        """
        stack = size + FRAME * len(group.stack)
        if stack > LocalMemory.LIMIT:
            raise KernelFault(
                f"the call stack needs more than the limit of {LocalMemory.LIMIT:,} bytes a thread "
                f"after {len(group.stack):,} calls at {at.where}, "
                f"{self.who(group, group.first_active())}: does the recursion end?"
            )
        if self.local.reserve(size):
            for code in self.execution.codes.values():
                code.forget_places()

    def local_bytes(self, group: Group, lane: int, pointer: int, size: int) -> bytes:
        """Bytes from a thread's local memory, from a generic pointer on."""
        thread = int(group.view.thread.reshape(-1)[lane])
        start = pointer - LOCAL
        if not 0 <= start <= self.local.size:
            return b""
        row = thread * self.local.size
        return self.local.cells.bytes[
            row + start : row + min(start + size, self.local.size)
        ].tobytes()

    def check_written(
        self, group: Group, index: npt.NDArray[np.int64], width: int, unit: int, at: Instruction
    ) -> None:
        """Report a read of shared memory that nobody wrote."""
        bad: Bool | None = None
        for part in range(width // unit):
            seen = self.shared.unwritten(index + part if part else index, unit)
            if seen is not None:
                bad = seen if bad is None else bad | seen
        if bad is None:
            return
        full = group.view.full(bad)
        if group.mask is not None:
            full = full & group.mask
        if not full.any():
            return
        flat = int(np.flatnonzero(full)[0])
        offset = int(group.view.full(index).reshape(-1)[flat]) * unit % self.shared.stride
        self._warn(
            "uninitialised shared read",
            f"shared memory at offset {offset} is read before anything was written there",
            group,
            flat,
            offset,
            at,
            int(full.sum()),
        )

    def _warn(
        self,
        kind: str,
        what: str,
        group: Group,
        flat: int,
        address: int,
        at: Instruction,
        count: int,
    ) -> None:
        block, thread = group.position(flat)
        where, who = self.launch.block_index(block), self.launch.thread_index(thread)
        self.execution.find(
            Finding(
                "warning",
                kind,
                f"{what} ({at.where}, block {where}, thread {who})",
                at.line,
                at.ptx_line,
                where,
                who,
                address,
                count,
            )
        )

    # -------------------------------------------------------------- what the trace learns

    def emit(self, access: Access) -> None:
        """Tell every sink."""
        self.execution.steps += 1
        for sink in self.execution.sinks:
            sink.access(access)

    def record(self, instruction: MemoryInstruction, group: Group, address: Array) -> None:
        """Keep the requests of the recorded blocks."""
        self.execution.recorder.record(
            instruction,
            group.view,
            address,
            group.mask,
            self.first_block,
            self.phases,
            self.execution.steps,
        )

    def count_branch(
        self, at: Instruction, warps: int, divergent: int, taken: int, not_taken: int
    ) -> None:
        """Add to the totals of a branch."""
        self.execution.branch(at, warps, divergent, taken, not_taken)

    def barrier_passed(self, blocks: slice | Bool, arrivals: list[Arrival]) -> None:
        """Blocks go on to their next phase."""
        self.phases[blocks] += 1
        self.shared.settle()
        first = arrivals[0]
        if any(a.count for a in arrivals):
            return
        apart = len({a.instruction.pc for a in arrivals}) > 1
        ended = self.running_threads < self.view.blocks * self.launch.threads_per_block
        if apart or (ended and self._some_ended(blocks)):
            group = first.group
            why = "lanes wait at different barriers" if apart else "some threads have ended"
            self._warn(
                "barrier not reached by all",
                f"this barrier is not reached by all threads "
                f"of the block ({why}); CUDA leaves the result undefined",
                group,
                group.first_active(),
                0,
                first.instruction,
                1,
            )

    def _some_ended(self, blocks: slice | Bool) -> bool:
        return bool((self.running_per_block()[blocks] < self.launch.threads_per_block).any())

    # -------------------------------------------------------------- services to built-ins

    def clock(self) -> int:
        """A counter that only grows: thread instructions executed so far."""
        return self.execution.thread_instructions

    def string_at(self, address: int) -> bytes:
        """A zero-terminated string in global memory."""
        return self.program.memory.string_at(address)

    def print(self, text: str) -> None:
        """Output of the kernel's printf."""
        self.execution.print(text)

    def allocate(self, sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
        """Addresses of new heap blocks."""
        return self.execution.allocate(sizes)
