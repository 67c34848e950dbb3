"""The small memories: shared (of a block), local (of a thread), constants and parameters.

Each turns addresses into indices of cells of `unit` bytes, or raises `Violation` for the first lane
whose `width`-byte access is outside or misaligned; the rest is the same everywhere.
"""

from __future__ import annotations

import numpy as np

from gpuviz.base.arrays import I64, Array
from gpuviz.ptx.simt.cells import Cells, Violation, check_alignment, check_inside
from gpuviz.ptx.simt.cluster import RANK_BIT, Cluster, split_told
from gpuviz.ptx.simt.layout import Layout
from gpuviz.words.language import tr

_GAP = 16  # bytes of zeros behind all blocks, and as many to write to
_BESIDE = 4096  # bytes behind a block's memory: so near may be what others have of the same


class _Bounded:
    """A memory out of which no run goes on."""

    def beside(
        self, layout: Layout, violation: Violation, width: int, unit: int, writes: bool
    ) -> I64 | None:
        """None."""
        return None


class SharedMemory:
    """`size` bytes for each block of a batch; blocks of a `cluster` see each other's."""

    def __init__(self, blocks: int, size: int, cluster: Cluster, first_block: int) -> None:
        self.size = size
        self._cluster, self._first = cluster, first_block
        self.stride = -(-max(size, 1) // 16) * 16
        self._gap = blocks * self.stride
        self.cells = Cells(self._gap + 2 * _GAP)

    def index(self, layout: Layout, address: Array, width: int, unit: int) -> I64:
        """Cell index of every offset in the blocks of a layout, one a thread or a block."""
        row = layout.row
        if self._cluster.size > 1 and int(address.max()) >> RANK_BIT:
            address, row = self._of_cluster(layout, address)
        check_inside(layout, address, width, self.size, tr("shared memory of the block"))
        check_alignment(layout, address, width)
        return self._cell(address, row, unit)

    def _cell(self, address: Array, row: I64, unit: int) -> I64:
        shift = unit.bit_length() - 1
        return np.asarray((address.astype(np.int64) >> shift) + row * (self.stride >> shift))

    def _of_cluster(self, layout: Layout, address: Array) -> tuple[Array, I64]:
        """Offsets, and the rows of the blocks whose shared memory they are in."""
        rank, offset = split_told(address.astype(np.int64))
        if (lost := rank >= self._cluster.size).any():
            where = layout.full(address)
            raise Violation("an access of no block of the cluster", layout.full(lost), where)
        own = layout.row
        peer = self._cluster.peer(own + self._first, np.maximum(rank, 0)) - self._first
        return offset, np.where(rank < 0, own, peer)

    def beside(
        self, layout: Layout, violation: Violation, width: int, unit: int, writes: bool
    ) -> I64 | None:
        """See `Memory`; None where one is far outside, and in clusters."""
        bad, address = violation.bad, violation.address
        if int(address.max()) >= self.size + _BESIDE or self._cluster.size > 1:
            return None
        where = np.where(bad, 0, address)
        check_alignment(layout, where, width)
        gap = (self._gap + (_GAP if writes else 0)) // unit
        return np.where(bad, gap, self._cell(where, layout.row, unit))


class LocalMemory(_Bounded):
    """`size` bytes for each thread of a batch; grows as calls go deeper."""

    LIMIT = 512 << 10

    def __init__(self, threads: int, size: int) -> None:
        self.threads = threads
        self.size = -(-max(size, 16) // 16) * 16
        self.cells = Cells(threads * self.size)

    def reserve(self, size: int) -> bool:
        """Make room for deeper calls; whether cells have moved. `LIMIT` is CUDA's."""
        if size <= self.size:
            return False
        wider = -(-max(size, 2 * self.size) // 16) * 16
        grown = np.zeros((self.threads, wider), np.uint8)
        grown[:, : self.size] = self.cells.bytes[: self.threads * self.size].reshape(
            self.threads, self.size
        )
        self.cells.replace(grown.reshape(-1))
        self.size = wider
        return True

    def index(self, layout: Layout, address: Array, width: int, unit: int) -> I64:
        """Cell index of every offset in the threads of a layout."""
        check_inside(layout, address, width, self.size, tr("local memory of the thread"))
        check_alignment(layout, address, width)
        shift = unit.bit_length() - 1
        return np.asarray(
            (address.astype(np.int64) >> shift) + layout.thread * (self.size >> shift)
        )


class ReadOnlyMemory(_Bounded):
    """Constant banks and kernel parameters: the same for every thread."""

    def __init__(self, name: str, content: bytes) -> None:
        self.name = name
        self.size = len(content)
        self.cells = Cells(len(content))
        self.cells.bytes[: len(content)] = np.frombuffer(content, np.uint8)

    def index(self, layout: Layout, address: Array, width: int, unit: int) -> I64:
        """Cell index of every offset."""
        check_inside(layout, address, width, self.size, self.name)
        check_alignment(layout, address, width)
        return address.astype(np.int64) >> (unit.bit_length() - 1)
