"""A group: the lanes that are at the same place of the program."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from gpuviz.base.arrays import Array, Bool
from gpuviz.base.errors import KernelFault
from gpuviz.ptx.simt.code import FunctionCode
from gpuviz.ptx.simt.layout import Layout
from gpuviz.ptx.simt.rows import rows_of
from gpuviz.ptx.simt.values import blend, zero
from gpuviz.ptx.text.ir import Instruction
from gpuviz.traces.observe import Warps
from gpuviz.traces.trace import Finding


class SparseRegisters(list[Any]):
    """A register file of a sparse layout: gathered when first read, marked when written."""

    def __init__(self, dense: list[Array], layout: Layout) -> None:
        super().__init__([None] * len(dense))
        self.dense = dense
        self.layout = layout
        self.dirty: set[int] = set()

    def __getitem__(self, i: SupportsIndex | slice) -> Any:
        value = super().__getitem__(i)
        if value is None and isinstance(i, int):
            value = self.layout.gather(self.dense[i])
            super().__setitem__(i, value)
        return value

    def __setitem__(self, i: SupportsIndex | slice, value: Any) -> None:
        assert isinstance(i, int)
        self.dirty.add(i)
        super().__setitem__(i, value)


class RegisterFiles:
    """The register file of each function, in one layout: the dense one of the batch, or a sparse.

    Those of a sparse layout start from the `dense` ones.
    """

    def __init__(self, layout: Layout, dense: RegisterFiles | None = None) -> None:
        self.layout = layout
        self.dense = dense
        self.files: dict[int, list[Array]] = {}

    def of(self, code: FunctionCode) -> list[Array]:
        """The register file of a function."""
        if code.index not in self.files:
            if self.dense is None:
                self.files[code.index] = [zero(kind) for kind in code.registers]
            else:
                self.files[code.index] = SparseRegisters(self.dense.of(code), self.layout)
        return self.files[code.index]

    def flush(self, mask: Bool | None) -> None:
        """Write what the selected lanes of a sparse layout changed back to the dense one."""
        part = self.layout if mask is None else self.layout.sparse(mask)
        for file in self.files.values():
            assert isinstance(file, SparseRegisters)
            for i in file.dirty:
                value = self.layout.full(file[i])
                picked = value if mask is None else value[self.layout.full(mask)]
                file.dense[i] = part.scatter(picked, file.dense[i])


if TYPE_CHECKING:
    from gpuviz.ptx.simt.machine import Machine

Key = tuple[tuple[int, int], ...]


@dataclass
class Call:
    """A call under way: where to go on in the caller, and what recursion overwrote."""

    code: FunctionCode
    block: int  # block of the caller that follows the call
    site: int  # rank of the calling block
    local_base: int
    saved: list[Array] | None
    results: Callable[[Group, FunctionCode], list[tuple[int, Array]]]  # from the callee's registers


class Group:
    """Lanes that run together. `mask` selects among the layout's elements; None means all.

    To sinks it is the `gpuviz.traces.observe.Lanes` of what it executes.
    """

    def __init__(
        self, machine: Machine, files: RegisterFiles, mask: Bool | None, code: FunctionCode
    ) -> None:
        self.machine = machine
        self.files = files
        self.layout = files.layout
        self.code = code
        self.regs = files.of(code)
        self.block = 0
        self.stack: list[Call] = []
        self.path: Key = ()  # where each of the calls under way was made
        self.local_base = 0
        self.blocked = False
        self.penalty = 0
        self.spins = 0
        self.set_mask(mask)
        self.move(0)

    def rows(self) -> tuple[Warps, Bool | None]:
        """The warps of the group, and (N, 32) which of their lanes are in it (None: all)."""
        return rows_of(self.layout, self.mask)[:2]

    def set_mask(self, mask: Bool | None) -> None:
        """Select lanes; how many threads and warps that makes is counted once, here."""
        self.mask = mask
        self.threads = self.layout.count(mask)
        if mask is not None and self.threads == self.layout.size:
            self.mask = None
        self.warps = self.layout.count_warps(self.mask)

    def move(self, block: int) -> None:
        """Go to a basic block."""
        self.block = block
        self.key: Key = (*self.path, (self.code.index, self.code.rank[block]))

    def enter(self, code: FunctionCode) -> None:
        """Make another function's registers current."""
        self.code = code
        self.regs = self.files.of(code)
        self.path = tuple((c.code.index, c.site) for c in self.stack)

    def return_from_call(self) -> None:
        """A device function ends: back to the caller, with the results."""
        call = self.stack.pop()
        results = call.results(self, self.code)
        if call.saved is not None:
            for i, value in enumerate(call.saved):
                if self.regs[i] is not value:
                    self.write(i, value)
        self.enter(call.code)
        self.local_base = call.local_base
        for index, value in results:
            self.write(index, value)
        self.move(call.block)

    def fork(self, mask: Bool) -> Group:
        """Another group at the same place, for some of the lanes."""
        other = object.__new__(Group)
        other.__dict__.update(self.__dict__)
        other.stack = [Call(**c.__dict__) for c in self.stack]
        other.blocked = False
        other.penalty = other.spins = 0
        other.set_mask(mask)
        return other

    def split_by(self, value: Array) -> list[tuple[int, Group]]:
        """One group for each value among the lanes; this group keeps the lanes of the last one.

        The others start to take part in the machine.
        """
        wanted = (
            value
            if self.mask is None or value.size == 1
            else self.layout.full(value)[self.layout.full(self.mask)]
        )
        *others, last = (int(v) for v in np.unique(wanted))
        if not others:
            return [(last, self)]
        parts = [(v, self.fork(self._where(value == value.dtype.type(v)))) for v in others]
        for _, part in parts:
            self.machine.add(part)
        self.set_mask(self._where(value == value.dtype.type(last)))
        return [*parts, (last, self)]

    def _where(self, chosen: Bool) -> Bool:
        return chosen if self.mask is None else chosen & self.mask

    def spread(self) -> None:
        """Leave a sparse layout for the dense one of the batch."""
        dense = self.files.dense
        if dense is None:
            return
        self.files.flush(self.mask)
        part = self.layout if self.mask is None else self.layout.sparse(self.mask)
        for call in self.stack:
            if call.saved is not None:
                call.saved = _scatter_saved(call, part, self)
        mask = self.layout.dense_mask(self.mask)
        self.files, self.layout = dense, dense.layout
        self.regs = dense.of(self.code)
        self.set_mask(mask)

    def condense(self) -> None:
        """Give the few lanes of a group arrays of their own."""
        assert self.mask is not None
        self.spread()
        assert self.mask is not None
        dense, mask = self.files, self.mask
        layout = dense.layout.sparse(mask)
        for call in self.stack:
            if call.saved is not None:
                call.saved = [layout.gather(value) for value in call.saved]
        self.files, self.layout = RegisterFiles(layout, dense), layout
        self.regs = self.files.of(self.code)
        self.set_mask(None)

    def absorb(self, other: Group) -> None:
        """Take in the lanes of another group that is at the same place."""
        if self.files is not other.files:
            self.spread()
            other.spread()
        theirs = other.mask
        mask = None if self.mask is None or theirs is None else self.mask | theirs
        for mine, call in zip(self.stack, other.stack, strict=True):
            if mine.saved is not None and call.saved is not None and theirs is not None:
                mine.saved = [
                    b if a is b else np.where(theirs, b, a)
                    for a, b in zip(mine.saved, call.saved, strict=True)
                ]
        self.blocked = False
        self.penalty = min(self.penalty, other.penalty)
        self.set_mask(mask)

    def write(self, index: int, value: Array) -> None:
        """Set a register for the selected lanes."""
        if self.mask is None:
            self.regs[index] = value
        else:
            self.regs[index] = blend(self.mask, value, self.regs[index])

    def position(self, flat: int) -> tuple[int, int]:
        """Block of the launch and thread of the element at a flat index of the layout."""
        thread = int(self.layout.thread.reshape(-1)[flat])
        block, column = divmod(thread, self.layout.threads)
        numbers = np.array([self.layout.first_block + block])
        return int(self.machine.execution.program.block_numbers(numbers)[0]), column

    def who(self, flat: int) -> str:
        """Block and thread of the element at a flat index, for messages."""
        block, thread = self.position(flat)
        launch = self.machine.execution.launch
        return f"block {launch.block_index(block)}, thread {launch.thread_index(thread)}"

    def fault(
        self,
        check: str,
        kind: str,
        message: str,
        at: Instruction,
        flat: int,
        remedy: str,
        address: int = 0,
        count: int = 1,
    ) -> KernelFault:
        """What ends a run, with a finding as of a check, at the element of a flat index."""
        block, thread = self.position(flat)
        launch = self.machine.execution.launch
        where = at.line, at.ptx_line, launch.block_index(block), launch.thread_index(thread)
        found = Finding("error", kind, message, *where, address, count, check, remedy)
        return KernelFault(message, found)

    def first_active(self) -> int:
        """Flat index of the first selected lane."""
        if self.mask is None:
            return 0
        return int(np.argmax(self.layout.full(self.mask)))


def _scatter_saved(call: Call, part: Layout, group: Group) -> list[Array]:
    """Registers saved in a sparse layout, as dense arrays (other lanes: whatever they hold now)."""
    assert call.saved is not None
    picked = group.mask
    full = [
        group.layout.full(v) if picked is None else group.layout.full(v)[group.layout.full(picked)]
        for v in call.saved
    ]
    return [part.scatter(v, np.zeros(1, v.dtype)) for v in full]


def lowest(groups: Iterable[Group]) -> Group | None:
    """The group to run next: not blocked, least penalised, earliest in the program."""
    return min((g for g in groups if not g.blocked), key=lambda g: (g.penalty, g.key), default=None)
