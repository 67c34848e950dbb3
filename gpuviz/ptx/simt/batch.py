"""What lanes may ask of the batch they belong to: the roles that `machine` and `code` play.

Groups, barriers and decoded steps know these roles only, so that the machine knows them and they do
not know the machine. Where a role takes a group it says Any: groups are built on top of this file.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gpuviz.arrays import I64, Array, Bool
from gpuviz.ptx.simt.spaces import SharedMemory
from gpuviz.ptx.simt.view import View
from gpuviz.ptx.text.ir import Function, Instruction
from gpuviz.trace import Access, Launch, MemoryInstruction


class Code(Protocol):
    """A decoded function, as far as the lanes that run it need to know."""

    index: int
    registers: list[str]
    rank: list[int]
    local_size: int
    blocks: Any

    @property
    def name(self) -> str:
        """Name of the function."""


class Batch(Protocol):
    """A batch of blocks that run in step."""

    launch: Launch
    first_block: int
    recording: bool
    running_threads: int
    shared: SharedMemory
    barriers: Any  # `barriers.Barriers`
    polled: bool
    idle: int

    def add(self, group: Any) -> None:
        """A group starts to take part."""

    def remove(self, group: Any) -> None:
        """A group waits elsewhere or has ended."""

    def exit(self, group: Any) -> None:
        """The lanes of a group end."""

    def return_from(self, group: Any) -> None:
        """A device function ends."""

    def went_back(self, group: Any) -> None:
        """A group made a loop."""

    def settle_size(self, group: Any) -> None:
        """Give a group that became small arrays of its own."""

    def running_per_block(self) -> I64:
        """Threads of each block that have not ended."""

    def running_rows(self, view: View) -> Bool:
        """(N, 32): lanes of a view's warps that have not ended."""

    def code(self, function: Function) -> Any:
        """The decoded form of a function."""

    def cells(self, space: str, unit: int) -> Array:
        """The cells of a memory."""

    def index(
        self, space: str, group: Any, address: Array, width: int, unit: int, at: Instruction
    ) -> I64:
        """Checked cell indices of an access."""

    def check_written(self, group: Any, index: I64, width: int, unit: int, at: Instruction) -> None:
        """Report a read of shared memory that nobody wrote."""

    def poll(self, at: Instruction, address: Array) -> None:
        """A group reads memory as a loop does that waits."""

    def reserve_local(self, group: Any, size: int, at: Instruction) -> None:
        """Make room for a deeper call."""

    def local_bytes(self, group: Any, lane: int, pointer: int, size: int) -> bytes:
        """Bytes from a thread's local memory, from a generic pointer on."""

    def who(self, group: Any, lane: int) -> str:
        """Block and thread of a lane, for messages."""

    def emit(self, access: Access) -> None:
        """Tell every sink."""

    def record(self, instruction: MemoryInstruction, group: Any, address: Array) -> None:
        """Keep the requests of the recorded blocks."""

    def count_branch(
        self, at: Instruction, warps: int, divergent: int, taken: int, not_taken: int
    ) -> None:
        """Add to the totals of a branch."""

    def barrier_passed(self, blocks: slice | Bool, arrivals: list[Any]) -> None:
        """Blocks go on to their next phase."""

    def clock(self) -> int:
        """A counter that only grows."""

    def string_at(self, address: int) -> bytes:
        """A zero-terminated string in global memory."""

    def print(self, text: str) -> None:
        """Output of the kernel's printf."""

    def allocate(self, sizes: I64) -> npt.NDArray[np.uint64]:
        """Addresses of new heap blocks."""
