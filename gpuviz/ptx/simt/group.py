"""A group: the lanes that are at the same place of the program, and their registers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, SupportsIndex

import numpy as np

from gpuviz.arrays import Array, Bool
from gpuviz.ptx.simt.batch import Batch, Code
from gpuviz.ptx.simt.values import blend, zero
from gpuviz.ptx.simt.view import View

Key = tuple[tuple[int, int], ...]


class SparseRegisters(list[Any]):
    """A register file as a sparse view sees it: gathered when first read, marked when written."""

    def __init__(self, dense: list[Array], view: View) -> None:
        super().__init__([None] * len(dense))
        self.dense = dense
        self.view = view
        self.dirty: set[int] = set()

    def __getitem__(self, i: SupportsIndex | slice) -> Any:
        value = super().__getitem__(i)
        if value is None and isinstance(i, int):
            value = self.view.gather(self.dense[i])
            super().__setitem__(i, value)
        return value

    def __setitem__(self, i: SupportsIndex | slice, value: Any) -> None:
        assert isinstance(i, int)
        self.dirty.add(i)
        super().__setitem__(i, value)


class Bank:
    """Register files of all functions for one view: the dense one of the batch, or a sparse one."""

    def __init__(self, view: View, dense: Bank | None = None) -> None:
        self.view = view
        self.dense = dense
        self.files: dict[int, list[Array]] = {}

    def registers(self, code: Code) -> list[Array]:
        """The register file of a function."""
        if code.index not in self.files:
            if self.dense is None:
                self.files[code.index] = [zero(kind) for kind in code.registers]
            else:
                self.files[code.index] = SparseRegisters(self.dense.registers(code), self.view)
        return self.files[code.index]

    def flush(self, mask: Bool | None) -> None:
        """Write what the selected lanes of a sparse bank changed back to the dense one."""
        part = self.view if mask is None else self.view.sparse(mask)
        for file in self.files.values():
            assert isinstance(file, SparseRegisters)
            for i in file.dirty:
                value = self.view.full(file[i])
                picked = value if mask is None else value[self.view.full(mask)]
                file.dense[i] = part.scatter(picked, file.dense[i])


@dataclass
class Call:
    """A call under way: where to go on in the caller, and what recursion overwrote."""

    code: Code
    block: int  # block of the caller that follows the call
    site: int  # rank of the calling block
    local_base: int
    saved: list[Array] | None
    on_return: Any  # called with the group once the caller's registers are back


class Group:
    """Lanes that run together. `mask` selects among the view's elements; None means all."""

    def __init__(self, machine: Batch, bank: Bank, mask: Bool | None, code: Code) -> None:
        self.machine = machine
        self.bank = bank
        self.view = bank.view
        self.code = code
        self.regs = bank.registers(code)
        self.block = 0
        self.stack: list[Call] = []
        self.path: Key = ()  # where each of the calls under way was made
        self.local_base = 0
        self.blocked = False
        self.penalty = 0
        self.spins = 0
        self.set_mask(mask)
        self.move(0)

    def set_mask(self, mask: Bool | None) -> None:
        """Select lanes; how many threads and warps that makes is counted once, here."""
        self.mask = mask
        self.threads = self.view.count(mask)
        if mask is not None and self.threads == self.view.size:
            self.mask = None
        self.warps = self.view.count_warps(self.mask)

    def move(self, block: int) -> None:
        """Go to a basic block."""
        self.block = block
        self.key: Key = (*self.path, (self.code.index, self.code.rank[block]))

    def enter(self, code: Code) -> None:
        """Make another function's registers current."""
        self.code = code
        self.regs = self.bank.registers(code)
        self.path = tuple((c.code.index, c.site) for c in self.stack)

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
            else self.view.full(value)[self.view.full(self.mask)]
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
        """Leave a sparse view for the dense one of the batch."""
        dense = self.bank.dense
        if dense is None:
            return
        self.bank.flush(self.mask)
        part = self.view if self.mask is None else self.view.sparse(self.mask)
        for call in self.stack:
            if call.saved is not None:
                call.saved = _scatter_saved(call, part, self, dense)
        mask = self.view.dense_mask(self.mask)
        self.bank, self.view = dense, dense.view
        self.regs = dense.registers(self.code)
        self.set_mask(mask)

    def condense(self) -> None:
        """Give the few lanes of a group arrays of their own."""
        assert self.mask is not None
        self.spread()
        assert self.mask is not None
        dense, mask = self.bank, self.mask
        view = dense.view.sparse(mask)
        for call in self.stack:
            if call.saved is not None:
                call.saved = [view.gather(value) for value in call.saved]
        self.bank, self.view = Bank(view, dense), view
        self.regs = self.bank.registers(self.code)
        self.set_mask(None)

    def absorb(self, other: Group) -> None:
        """Take in the lanes of another group that is at the same place."""
        if self.bank is not other.bank:
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
        """Block of the launch and thread of the element at a flat index of the view."""
        thread = int(self.view.thread.reshape(-1)[flat])
        return self.machine.first_block + thread // self.view.threads, thread % self.view.threads

    def first_active(self) -> int:
        """Flat index of the first selected lane."""
        if self.mask is None:
            return 0
        return int(np.argmax(self.view.full(self.mask)))


def _scatter_saved(call: Call, part: View, group: Group, dense: Bank) -> list[Array]:
    """Registers saved in a sparse view, as dense arrays (other lanes: whatever they hold now)."""
    assert call.saved is not None
    picked = group.mask
    full = [
        group.view.full(v) if picked is None else group.view.full(v)[group.view.full(picked)]
        for v in call.saved
    ]
    return [part.scatter(v, np.zeros(1, v.dtype)) for v in full]


def lowest(groups: Iterable[Group]) -> Group | None:
    """The group to run next: not blocked, least penalised, earliest in the program."""
    return min((g for g in groups if not g.blocked), key=lambda g: (g.penalty, g.key), default=None)
