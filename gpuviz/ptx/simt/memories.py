"""The memories that a batch of blocks sees, with every access to them checked."""

import numpy as np

from gpuviz.base.arrays import I64, Array, Bool
from gpuviz.base.errors import KernelFault
from gpuviz.ptx.simt.cluster import RANK_BIT
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.layout import Layout
from gpuviz.ptx.simt.program import Execution
from gpuviz.ptx.simt.spaces import LOCAL, LocalMemory, Memory, SharedMemory, Violation
from gpuviz.ptx.text.ir import Instruction
from gpuviz.ptx.text.isa import kind_of
from gpuviz.traces.observe import Access
from gpuviz.traces.trace import Finding
from gpuviz.words.language import tr

FRAME = 128  # bytes of stack that a call takes at least, for saved registers


class Memories:
    """Global, constant and parameter memory of the launch; shared and local memory of the batch."""

    def __init__(self, execution: Execution, layout: Layout) -> None:
        program = execution.program
        self.execution = execution
        self.shared = SharedMemory(
            layout.blocks, program.shared_size, program.cluster, layout.first_block
        )
        self.local = LocalMemory(layout.blocks * layout.threads, execution.kernel.local_size)
        self._of: dict[str, Memory] = {
            "global": program.memory,
            "shared": self.shared,
            "local": self.local,
            "const": program.constants,
            "param": program.parameters,
        }

    def cells(self, space: str, unit: int) -> Array:
        """The cells of a memory, of `unit` bytes."""
        return self._of[space].cells.of(unit)

    def index(
        self, space: str, group: Group, address: Array, width: int, unit: int, at: Instruction
    ) -> I64:
        """Checked cell indices of an access; inactive lanes count as well.

        Raises
        ------
        KernelFault : outside or misaligned; names line, block, thread, address and buffer
        """
        try:
            return self._of[space].index(group.layout, address, width, unit)
        except Violation as violation:
            return self._elsewhere(violation, space, group, width, unit, at)

    def check_own(self, group: Group, address: Array, at: Instruction) -> None:
        """Refuse addresses (as they are told) of other blocks of a cluster, as an H200 does where
        code says `.shared` or `.shared::cta`: an illegal instruction.

        Raises
        ------
        KernelFault : some are; names line, block and thread
        """
        where = group.layout.full(address)
        other: Bool = where >> where.dtype.type(RANK_BIT) != 0
        if (other if group.mask is None else other & group.layout.full(group.mask)).any():
            why = "memory of another block of the cluster, which only .shared::cluster reaches"
            raise self._fault(Violation(why, other, where), group, "shared", at)

    def refuse(self, group: Group, address: Array, space: str, op: str, at: Instruction) -> None:
        """End a launch (`KernelFault`) at what PTX leaves undefined: a generic address into it."""
        every = np.ones(group.layout.shape, bool)
        remedy = "keep what atomics change in global or shared memory, and write to no constants"
        violation = Violation(f"PTX allows no {op} there", every, group.layout.full(address))
        raise self._fault(violation, group, space, at, remedy)

    def _elsewhere(
        self, violation: Violation, space: str, group: Group, width: int, unit: int, at: Instruction
    ) -> I64:
        """Where illegal accesses go instead, if the run goes on: it ends with a misaligned one."""
        fault, memory = self._fault(violation, group, space, at), self._of[space]
        if not self.execution.goes_on:
            raise fault from None
        if violation.misaligned:
            self._end_with(fault)
            low = violation.address.dtype.type(width - 1)
            return memory.index(group.layout, violation.address & ~low, width, unit)
        try:
            writes = kind_of(at) in ("store", "atomic", "reduction")
            index = memory.beside(group.layout, violation, width, unit, writes)
        except Violation as other:
            raise self._fault(other, group, space, at) from None
        if index is None:
            raise fault from None
        if isinstance(fault.finding, Finding):
            self.execution.told.report(fault.finding)
        return index

    def _end_with(self, fault: KernelFault) -> None:
        """End the run when all have heard the access that is told next."""

        def end(access: Access) -> None:
            raise fault

        told = self.execution.told
        if not told.access:
            raise fault
        told.access = (*told.access, end)

    def _fault(
        self, violation: Violation, group: Group, space: str, at: Instruction, remedy: str = ""
    ) -> KernelFault:
        program = self.execution.program
        bad = violation.bad if group.mask is None else violation.bad & group.layout.full(group.mask)
        lane = int(np.argmax(bad))
        address = int(violation.address.reshape(-1)[lane])
        near = program.describe(space, address)
        message = tr(
            "illegal {space} access at {where} ({code}): {why}, address {address}, {who}",
            space=space,
            where=at.where,
            code=program.module.line_text(at.ptx_line),
            why=", ".join(filter(None, (violation.reason, near))),
            address=f"{address:#x}",
            who=_who(group, lane),
        )
        kind = f"illegal {space} access"
        remedy = remedy or tr("compare the index with the size before the access")
        if violation.misaligned:
            kind = f"misaligned {space} access"
            remedy = tr(
                "read and write as wide as the address is aligned; a GPU ends the launch here"
            )
        count = int(bad.sum())
        return group.fault("memory", kind, message, at, lane, remedy, address, count)

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
                f"{group.who(group.first_active())}: does the recursion end?"
            )
        if self.local.reserve(size):
            self.execution.forget_places()

    def local_bytes(self, group: Group, lane: int, pointer: int, size: int) -> bytes:
        """Bytes from a thread's local memory, from a generic pointer on."""
        thread = int(group.layout.thread.reshape(-1)[lane])
        start = pointer - LOCAL
        if not 0 <= start <= self.local.size:
            return b""
        row = thread * self.local.size
        end = row + min(start + size, self.local.size)
        return self.local.cells.bytes[row + start : end].tobytes()


def _who(group: Group, flat: int) -> str:
    """Block and thread of the element at a flat index."""
    block, thread = group.position(flat)
    launch = group.machine.execution.launch
    return tr(
        "block {block}, thread {thread}",
        block=launch.block_index(block),
        thread=launch.thread_index(thread),
    )
