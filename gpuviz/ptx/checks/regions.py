"""The memories that the race check watches: shared memory of a batch, and each global array."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import I64, Bool
from gpuviz.ptx.checks.batch import Batch
from gpuviz.ptx.checks.flag_order import SHARED
from gpuviz.traces.observe import Access
from gpuviz.traces.trace import LANES

# --- who touched a cell last ---------------------------------------------------------------------
#
# Of a cell it is enough to know two of the threads that wrote it since anything ordered them, and
# two that read it: the first and the last by number. If any two of them are of different lanes,
# warps or blocks, then so are these. A newer access that is ordered after an older one takes its
# place.

After = Callable[[I64, I64, I64], Bool]  # (steps, their threads, threads): are these over for those
STEP = np.int64((1 << 32) - 1)
_PAGE, _NOWHERE = 1024, np.int64(-(1 << 62))  # bytes
_MUCH = 1 << 22  # bytes of an array from which on it has pages


@dataclass(frozen=True, eq=False)
class Touch:
    """Accesses of one event, in the order of their threads: (n,) cells and threads.

    Each lane's access takes `parts` cells in a row.
    """

    cell: I64
    thread: I64
    parts: int = 1


@dataclass(frozen=True, eq=False)
class Earlier:
    """What was there before: for each access of an event, the step and thread of an earlier one.

    `step` is 0 where there is none.
    """

    step: I64
    thread: I64


class Shadow:
    """The cells of a memory, `unit` bytes each; grows as higher cells are touched.

    An access is a number: its thread (from 1) in the upper, its step in the lower 32 bits.
    """

    def __init__(self, cells: int, unit: int = 4) -> None:
        self.unit = unit
        self._writes = np.zeros((2, cells), np.int64)
        self._reads = np.zeros((2, cells), np.int64)

    def __len__(self) -> int:
        """How many cells there are."""
        return self._reads.shape[1]

    def refine(self, unit: int) -> None:
        """Cells of fewer bytes from now on."""
        parts = self.unit // unit
        self._writes, self._reads = (a.repeat(parts, axis=1) for a in (self._writes, self._reads))
        self.unit = unit

    def widen(self, rows: int, wide: int) -> None:
        """Cells are `rows` of one length: now `wide` each."""

        def wider(kept: I64) -> I64:
            room = np.zeros((2, rows, wide), np.int64)
            room[:, :, : kept.shape[1] // rows] = kept.reshape(2, rows, -1)
            return room.reshape(2, -1)

        self._writes = wider(self._writes)
        self._reads = wider(self._reads)

    def each_block(self, blocks: int, threads: int) -> None:
        """What one block did, each of several did: those after it, of `threads` each, as well."""
        later = (np.arange(blocks) * threads << 32)[:, None]

        def each(kept: I64) -> I64:
            both = np.where(kept[:, None] != 0, kept[:, None] + later, 0)
            return np.asarray(both.reshape(len(kept), -1))

        self._writes, self._reads = each(self._writes), each(self._reads)

    def writes(self, touch: Touch) -> list[Earlier]:
        """Of the cells touched, the first and the last of those that wrote them."""
        return _earlier(self._writes, touch)

    def reads(self, touch: Touch) -> list[Earlier]:
        """Of the cells touched, the first and the last of those that read them."""
        return _earlier(self._reads, touch)

    def read(self, step: int, touch: Touch, after: After) -> None:
        """Threads have read cells."""
        _keep(self._reads, step, touch, after)

    def write(self, step: int, touch: Touch, after: After) -> Earlier | None:
        """Threads have written cells. Who of the same event wrote them last, where that is another
        thread (step 0 elsewhere); None when nobody's cell is another's, too.
        """
        _keep(self._writes, step, touch, after)
        last = self._writes[1].take(touch.cell)
        winner = (last >> 32) - 1
        if (last & STEP != step).any():  # that of an earlier event stays: who was it of this one?
            cells, which = np.unique(touch.cell, return_inverse=True)
            winner = np.zeros(len(cells), np.int64)
            winner[which] = touch.thread
            winner = winner[which]
        others = winner != touch.thread
        return Earlier(np.where(others, step, 0), winner) if others.any() else None


def _earlier(kept: I64, touch: Touch) -> list[Earlier]:
    first, last = kept[0].take(touch.cell), kept[1].take(touch.cell)
    if not last.any():
        return []
    both = (first,) if (first == last).all() else (first, last)
    return [Earlier(one & STEP, (one >> 32) - 1) for one in both]


def _keep(kept: I64, step: int, touch: Touch, after: After) -> None:
    """Take accesses among the first and the last of their cells."""
    fresh = (touch.thread + 1) << 32 | step
    cell = touch.cell
    first, last = kept[0].take(cell), kept[1].take(cell)
    if last.any():
        first = np.where(_stays(first, touch, after) & (first < fresh), first, fresh)
        last = np.where(_stays(last, touch, after) & (last > fresh), last, fresh)
    else:
        first = last = fresh
    kept[0][cell[::-1]] = first[::-1]  # of several to one cell, the first thread ...
    kept[1][cell] = last  # ... and the last one are what is left


def _stays(entry: I64, touch: Touch, after: After) -> Bool:
    """Which of earlier accesses are of others, and not over for the threads that come now."""
    other = (entry >> 32) - 1
    stays: Bool = (entry != 0) & (other != touch.thread)
    some = np.flatnonzero(stays)
    if len(some):
        over = after(entry[some] & STEP, other[some], touch.thread[some])
        stays[some] = ~over
    return stays


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

    def __init__(self, number: int, start: int, end: int) -> None:
        super().__init__()
        self.number, self._start, self._size = number, start, end - start

    def _cells(self, where: I64, thread: I64, unit: int, width: int) -> I64:
        if not len(self.shadow):
            self.shadow.widen(1, -(-self._size // unit))
        return (where - self._start) // unit

    def address(self, cell: int) -> int:
        """Global address."""
        return self._start + cell * self.shadow.unit


class PagedRegion(ArrayRegion):
    """Much global memory: only pages that are touched have cells, in the order of being touched."""

    def __init__(self, number: int, start: int, end: int) -> None:
        super().__init__(number, start & -_PAGE, end)
        self._page = np.arange(-(-self._size // _PAGE)) * _PAGE
        self._shift = np.full(len(self._page), _NOWHERE)  # of each page, in bytes, to its place
        self._used = 0  # bytes that have places

    def _cells(self, where: I64, thread: I64, unit: int, width: int) -> I64:
        offset = where - self._start
        page = offset // _PAGE
        shift = self._shift.take(page)
        if shift.min() == _NOWHERE:
            self._make_room(np.unique(page[shift == _NOWHERE]), unit)
            shift = self._shift.take(page)
        return (offset + shift) // unit

    def _make_room(self, pages: I64, unit: int) -> None:
        """Places for pages, one after the other."""
        end = self._used + len(pages) * _PAGE
        self._shift[pages] = np.arange(self._used, end, _PAGE) - self._page[pages]
        self._used = end
        if end > len(self.shadow) * unit:
            self.shadow.widen(1, min(2 * end, len(self._page) * _PAGE) // unit)

    def address(self, cell: int) -> int:
        """Global address."""
        place = cell * self.shadow.unit
        page = self._page[self._page + self._shift == place & -_PAGE][0]
        return int(self._start + page + place % _PAGE)


Arrays = tuple[I64, I64]  # where those of global memory start, and where they end
NOWHERE: Arrays = (np.zeros(0, np.int64), np.zeros(0, np.int64))


class GlobalRegions:
    """Buffers, variables and the heap of a launch. What is outside of all, and was reported, is in
    none.

    `waiting` counts the addresses of reads put off.
    """

    def __init__(self, arrays: Arrays) -> None:
        self.waiting = 0
        self._starts, self._ends = arrays
        self.regions = [
            (PagedRegion if end - start > _MUCH else ArrayRegion)(number, start, end)
            for number, (start, end) in enumerate(np.stack(arrays, 1).tolist())
        ]

    def of(self, access: Access) -> Iterator[tuple[ArrayRegion, Bool | None]]:
        """The regions that an access touches, each with the lanes that do."""
        where, active = access.address.view(np.int64), access.active
        width = access.instruction.width
        some = where if active is None else where[active]
        if not some.size or not self.regions:
            return
        number = int(self._starts.searchsorted(some.min(), side="right")) - 1
        if number >= 0 and int(some.max()) + width <= self._ends[number]:
            yield self.regions[number], active
            return
        slot = self._starts.searchsorted(where, side="right") - 1
        inside = (slot >= 0) & (where <= self._ends[slot] - width)
        inside = inside if active is None else inside & active
        for one in np.unique(slot[inside]).tolist():
            yield self.regions[one], inside & (slot == one)
