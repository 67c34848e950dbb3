"""The memories of a launch: cells that are read and written by index, after every index is checked.

Each memory turns addresses into cell indices (`index`, in cells of `unit` bytes), or raises
`Violation` for the first lane whose `width`-byte access is outside or misaligned. What is done with
the cells is the same everywhere.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from gpuviz.arrays import I64, Array, Bool
from gpuviz.errors import LaunchError
from gpuviz.ptx.simt.layout import Layout
from gpuviz.ptx.simt.windows import GLOBAL

ALIGNMENT = 512  # of global buffers, as CUDA's allocators give at least 256


class Violation(Exception):
    """An illegal access: which lanes of the layout are `bad`, and all their addresses."""

    def __init__(self, reason: str, bad: Bool, address: Array) -> None:
        super().__init__(reason)
        self.reason = reason
        self.bad = bad
        self.address = address


def _check_inside(layout: Layout, address: Array, width: int, size: int, what: str) -> None:
    """Raise `Violation` when an access of an offset is not within the first `size` bytes."""
    if int(address.max()) + width > size:
        bad = address > size - width if size >= width else np.ones_like(address, bool)
        raise Violation(
            f"{width}-byte access outside the {size} bytes of {what}",
            layout.full(bad),
            layout.full(address),
        )


def _check_alignment(layout: Layout, address: Array, width: int) -> None:
    """Raise `Violation` when an address is not a multiple of the access width."""
    if width > 1:
        low = address & address.dtype.type(width - 1)
        if low.any():
            raise Violation(
                f"misaligned {width}-byte access", layout.full(low) != 0, layout.full(address)
            )


class Cells:
    """Bytes seen as unsigned integers of 1, 2, 4 or 8 bytes."""

    def __init__(self, size: int) -> None:
        self.bytes = np.zeros(-(-max(size, 1) // 16) * 16, np.uint8)
        self._views: dict[int, Array] = {}

    def of(self, width: int) -> Array:
        """All cells of one width, writable."""
        if width not in self._views:
            self._views[width] = self.bytes.view(f"u{width}")
        return self._views[width]

    def replace(self, data: npt.NDArray[np.uint8]) -> None:
        """Put other bytes in the place of these."""
        self.bytes = data
        self._views = {}


class Memory(Protocol):
    """A memory of one of the state spaces."""

    cells: Cells

    def index(self, layout: Layout, address: Array, width: int, unit: int) -> I64:
        """Cell index of every address; raises `Violation`."""


class GlobalMemory:
    """Buffers side by side with gaps between them, so that a stray index hits nothing."""

    def __init__(self) -> None:
        self.cells = Cells(0)
        self.names: list[str] = []
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._pending: list[npt.NDArray[np.uint8]] = []
        self._top = GLOBAL

    def add(self, name: str, content: npt.NDArray[np.uint8]) -> int:
        """Place a buffer; its address. Call `seal` when all are placed."""
        address = self._top
        self.names.append(name)
        self._starts.append(address)
        self._ends.append(address + len(content))
        self._pending.append(content)
        self._top += (-(-max(len(content), 1) // ALIGNMENT) + 1) * ALIGNMENT
        return address

    def seal(self) -> None:
        """Lay out the cells of all buffers placed so far.

        Raises
        ------
        LaunchError : they do not fit into this machine's memory
        """
        try:
            self.cells = Cells(self._top - GLOBAL)
        except MemoryError:
            raise LaunchError(
                f"the buffers need {self._top - GLOBAL:,} bytes, more than this "
                "machine can give: use smaller arrays"
            ) from None
        for start, content in zip(self._starts, self._pending, strict=True):
            self.cells.bytes[start - GLOBAL : start - GLOBAL + len(content)] = content
        self._pending = [np.zeros(0, np.uint8)] * len(self._pending)
        self._low = np.array(self._starts, np.int64)
        self._high = np.array(self._ends, np.int64)

    def content(self, number: int) -> npt.NDArray[np.uint8]:
        """The bytes of a buffer as they are now."""
        start = self._starts[number] - GLOBAL
        return self.cells.bytes[start : self._ends[number] - GLOBAL]

    def write(self, address: int, data: bytes) -> None:
        """Put bytes at an address."""
        at = address - GLOBAL
        self.cells.bytes[at : at + len(data)] = np.frombuffer(data, np.uint8)

    def string_at(self, address: int) -> bytes:
        """The zero-terminated string at an address."""
        at = address - GLOBAL
        if not 0 <= at < len(self.cells.bytes):
            return b"(bad pointer)"
        end = int(np.argmax(self.cells.bytes[at:] == 0))
        return self.cells.bytes[at : at + end].tobytes()

    def index(self, layout: Layout, address: Array, width: int, unit: int) -> I64:
        """Cell index of every address; all lanes of the layout count as active."""
        where = address.astype(np.uint64, copy=False).view(np.int64)
        low, high = int(where.min()), int(where.max())
        slot = int(np.searchsorted(self._low, low, side="right")) - 1
        if slot < 0 or low < GLOBAL or high + width > self._ends[slot]:
            self._check_each(layout, where, width)
        _check_alignment(layout, address, width)
        return np.asarray((where - GLOBAL) >> (unit.bit_length() - 1))

    def _check_each(self, layout: Layout, where: I64, width: int) -> None:
        slots = np.searchsorted(self._low, where, side="right") - 1
        ends = self._high[np.maximum(slots, 0)] if len(self._high) else np.zeros_like(where)
        bad = (slots < 0) | (where + width > ends)
        if bad.any():
            raise Violation(f"{width}-byte access", layout.full(bad), layout.full(where))

    def describe(self, address: int) -> str:
        """Where an illegal address lies, relative to the nearest buffer."""
        slot = int(np.searchsorted(np.array(self._starts), address, side="right")) - 1
        if address + ALIGNMENT > GLOBAL and slot < 0 and self.names:
            return f"{self._starts[0] - address} bytes before buffer {self.names[0]}"
        if slot < 0 or address > self._top + ALIGNMENT:
            return "in no buffer"
        name, size = self.names[slot], self._ends[slot] - self._starts[slot]
        past = address - self._ends[slot]
        if past >= 0:
            return f"{past} bytes past the end of buffer {name} ({size} bytes)"
        return f"at byte {size + past} of buffer {name} ({size} bytes)"


class SharedMemory:
    """`size` bytes for each block of a batch; knows which bytes have been written."""

    def __init__(self, blocks: int, size: int) -> None:
        self.size = size
        self.stride = -(-max(size, 1) // 16) * 16
        self.cells = Cells(blocks * self.stride)
        self._written: Cells | None = Cells(blocks * self.stride)

    def index(self, layout: Layout, address: Array, width: int, unit: int) -> I64:
        """Cell index of every offset in the blocks of a layout, one a thread or a block."""
        _check_inside(layout, address, width, self.size, "shared memory of the block")
        _check_alignment(layout, address, width)
        shift = unit.bit_length() - 1
        return np.asarray((address.astype(np.int64) >> shift) + layout.row * (self.stride >> shift))

    def mark_written(self, index: I64, width: int) -> None:
        """Remember that cells hold something."""
        if self._written is not None:
            self._written.of(width)[index] = _ONES[width]

    def settle(self) -> None:
        """Stop watching once every byte of every block is written (called at barriers)."""
        if self._written is not None:
            used = self._written.bytes.reshape(-1, self.stride)[:, : self.size]
            if used.all():
                self._written = None

    def unwritten(self, index: I64, width: int) -> Bool | None:
        """Which cells hold a byte nobody wrote, or None when all were written."""
        if self._written is None:
            return None
        seen = self._written.of(width).take(index)
        bad = np.asarray(seen != _ONES[width])
        return bad if bad.any() else None


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
        _check_inside(layout, address, width, self.size, "local memory of the thread")
        _check_alignment(layout, address, width)
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
        _check_inside(layout, address, width, self.size, self.name)
        _check_alignment(layout, address, width)
        return address.astype(np.int64) >> (unit.bit_length() - 1)


_ONES = {
    1: np.uint8(0xFF),
    2: np.uint16(0xFFFF),
    4: np.uint32(0xFFFFFFFF),
    8: np.uint64(0xFFFFFFFFFFFFFFFF),
}
