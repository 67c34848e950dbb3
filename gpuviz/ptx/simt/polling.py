"""Loops that wait for a value: when one gives way to others, and when nobody will ever write it."""

from __future__ import annotations

from collections.abc import Callable

from gpuviz.base.arrays import Array
from gpuviz.base.errors import KernelFault
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.text.ir import Instruction, Module

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
