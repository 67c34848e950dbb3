"""Loops that wait for a value: when one gives way to others, and when nobody will ever write it."""

from __future__ import annotations

from gpuviz.arrays import Array
from gpuviz.errors import KernelFault
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.text.ir import Instruction, Module

IDLE_LOOPS = 50_000  # polling loops in a row after which nobody can be expected to write
PATIENCE = 64  # loops a spinning group may make before others get a turn, the first time


class Polling:
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
        self._address: dict[int, Array] = {}

    def read(self, at: Instruction, address: Array) -> None:
        """A group polls; at a new address it is not idle."""
        self.polled = True
        if self._address.get(at.pc) is not address:
            self._address[at.pc] = address
            self.idle = 0

    def went_back(self, group: Group) -> None:
        """A group made a loop: one that polls must let others run now and then.

        Raises
        ------
        KernelFault : it waits for a value that nobody writes
        """
        if not self.polled:
            return
        self.polled = False
        self.idle += 1
        if self.idle > IDLE_LOOPS:
            at = group.code.blocks[group.block].first
            raise KernelFault(
                f"the loop at {at.where} ({self._module.line_text(at.ptx_line)}) waits for "
                f"a value that nobody writes: {IDLE_LOOPS:,} times round changed no memory, "
                f"{group.who(group.first_active())}"
            )
        group.spins += 1
        if group.spins >= (2 if group.penalty else PATIENCE):
            group.spins = 0
            group.penalty += 1
