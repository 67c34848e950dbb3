"""The small memories: shared (of a block), local (of a thread), constants and parameters.

Each turns addresses into indices of cells of `unit` bytes, or raises `Violation` for the first lane
whose `width`-byte access is outside or misaligned; the rest is the same everywhere.
"""

from __future__ import annotations

import numpy as np

from gpuviz.arrays import I64, Array
from gpuviz.ptx.simt.cells import Cells, check_alignment, check_inside
from gpuviz.ptx.simt.layout import Layout


class SharedMemory:
    """`size` bytes for each block of a batch."""

    def __init__(self, blocks: int, size: int) -> None:
        self.size = size
        self.stride = -(-max(size, 1) // 16) * 16
        self.cells = Cells(blocks * self.stride)

    def index(self, layout: Layout, address: Array, width: int, unit: int) -> I64:
        """Cell index of every offset in the blocks of a layout, one a thread or a block."""
        check_inside(layout, address, width, self.size, "shared memory of the block")
        check_alignment(layout, address, width)
        shift = unit.bit_length() - 1
        return np.asarray((address.astype(np.int64) >> shift) + layout.row * (self.stride >> shift))


class LocalMemory:
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
        check_inside(layout, address, width, self.size, "local memory of the thread")
        check_alignment(layout, address, width)
        shift = unit.bit_length() - 1
        return np.asarray(
            (address.astype(np.int64) >> shift) + layout.thread * (self.size >> shift)
        )


class ReadOnlyMemory:
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
