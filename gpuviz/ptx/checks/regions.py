"""The memories that the race check watches: shared memory of a batch, and each global array."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import I64, Array, Bool
from gpuviz.ptx.checks.batch import Batch
from gpuviz.ptx.checks.flags import SHARED
from gpuviz.ptx.checks.shadow import Shadow, Touch
from gpuviz.traces.observe import Access
from gpuviz.traces.trace import LANES, Launch

WAITING = 1 << 24  # addresses of reads put off


@dataclass(frozen=True, eq=False)
class Later:
    """A read that was put off: some lanes of an access, as of these steps of the last barriers."""

    step: int
    access: Access
    lanes: Bool | None
    barriers: I64


class Marks:
    """Which steps have a property."""

    def __init__(self) -> None:
        self._marked = np.zeros(1024, bool)

    def add(self, step: int, marked: bool) -> None:
        """Mark a step."""
        if step >= len(self._marked):
            self._marked = np.pad(self._marked, (0, 2 * step))
        if marked:
            self._marked[step] = True

    def of(self, steps: I64) -> Bool:
        """(n,) which of some steps are marked."""
        return np.asarray(self._marked.take(steps))


class Region:
    """A memory with a shadow; `number` tells it from others.

    While it is `only_read`, its reads wait in `later`.
    """

    number = SHARED
    only_read = False

    def __init__(self) -> None:
        self.shadow = Shadow(0)
        self.later: list[Later] = []

    def touch(self, where: I64, thread: I64, width: int) -> Touch:
        """The cells of `width` bytes from (n,) addresses on, with their threads."""
        unit = self._unit(width)
        parts = width // unit
        cell = self._cells(where, thread, unit, width)
        if parts > 1:
            cell = (cell[:, None] + np.arange(parts)).reshape(-1)
            thread = thread.repeat(parts)
        return Touch(cell, thread, parts)

    def _unit(self, width: int) -> int:
        """Bytes of a cell, made smaller for narrower accesses."""
        unit = min(self.shadow.unit, width)
        if unit < self.shadow.unit:
            self.shadow.refine(unit)
        return unit

    def _cells(self, where: I64, thread: I64, unit: int, width: int) -> I64:
        """The first cell of each access; makes room."""
        raise NotImplementedError

    def address(self, cell: int) -> int:
        """The address of a cell."""
        raise NotImplementedError


class SharedRegion(Region):
    """Shared memory of a batch: one block's while all do the same."""

    def __init__(self, batch: Batch) -> None:
        super().__init__()
        self._batch = batch
        self._wide = 0  # cells of a block
        batch.on_unfold(self._unfold)

    def _unfold(self, blocks: int) -> None:
        self.shadow.each_block(blocks, self._batch.warps * LANES)

    def _unit(self, width: int) -> int:
        before = self.shadow.unit
        unit = super()._unit(width)
        self._wide *= before // unit
        return unit

    def _cells(self, where: I64, thread: I64, unit: int, width: int) -> I64:
        batch = self._batch
        top = (int(where.max()) + width) // unit
        if top > self._wide:
            wide = max(top, 2 * self._wide)
            self.shadow.widen(batch.height, wide)
            self._wide = wide
        cell = where // unit
        if batch.height > 1:
            cell = cell + (thread // (LANES * batch.warps) - batch.first) * self._wide
        return cell

    def address(self, cell: int) -> int:
        """Offset in shared memory."""
        return cell % self._wide * self.shadow.unit


class ArrayRegion(Region):
    """Global memory from an address on."""

    only_read = True

    def __init__(self, number: int, start: int, size: int) -> None:
        super().__init__()
        self.number, self._start, self._size = number, start, size

    def _cells(self, where: I64, thread: I64, unit: int, width: int) -> I64:
        cell = (where - self._start) // unit
        top = int(cell.max()) + width // unit
        if top > len(self.shadow):
            whole = -(-self._size // unit)
            self.shadow.widen(1, whole if top <= whole else 2 * top)
        return cell

    def address(self, cell: int) -> int:
        """Global address."""
        return self._start + cell * self.shadow.unit


class GlobalRegions:
    """The buffers of a launch, and one region for what lies behind them (heap, variables).

    `waiting` counts the addresses of reads put off.
    """

    def __init__(self, launch: Launch) -> None:
        self.waiting = 0
        found = [(b.address, b.size) for b in launch.buffers]
        self._starts = np.array([address for address, _ in found], np.int64)
        self._ends = np.array([address + size for address, size in found], np.int64)
        self.regions: list[ArrayRegion] = [
            ArrayRegion(n, address, size) for n, (address, size) in enumerate(found)
        ]
        self._rest: ArrayRegion | None = None

    def of(self, address: Array, active: Bool | None) -> Iterator[tuple[ArrayRegion, Bool | None]]:
        """The regions that an access touches, each with the lanes that do."""
        where = address.view(np.int64)
        some = where if active is None else where[active]
        if not some.size:
            return
        low, high = self._number(int(some.min())), self._number(int(some.max()))
        if low == high:
            yield self._region(low, int(some.min())), active
            return
        number = self._starts.searchsorted(where, side="right") - 1
        inside = (number >= 0) & (where < self._ends[np.maximum(number, 0)])
        number = np.where(inside, number, len(self._ends))
        for one in np.unique(number if active is None else number[active]).tolist():
            mine = number == one
            mine = mine if active is None else mine & active
            yield self._region(one, int(where[mine].min())), mine

    def _number(self, address: int) -> int:
        number = int(self._starts.searchsorted(address, side="right")) - 1
        inside = number >= 0 and address < self._ends[number]
        return number if inside else len(self._ends)

    def _region(self, number: int, lowest: int) -> ArrayRegion:
        if number < len(self._ends):
            return self.regions[number]
        if self._rest is None:
            start = int(self._ends[-1]) if len(self._ends) else lowest >> 32 << 32
            self._rest = ArrayRegion(number, start, 0)
            self.regions.append(self._rest)
        return self._rest
