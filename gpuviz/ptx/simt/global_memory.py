"""Global memory: the buffers and variables of a launch."""

import numpy as np
import numpy.typing as npt

from gpuviz.base.arrays import I64, U64, Array
from gpuviz.base.errors import LaunchError
from gpuviz.ptx.simt.layout import Layout
from gpuviz.ptx.simt.spaces import GLOBAL, Cells, Violation, check_alignment
from gpuviz.words.language import tr

_STRING = 1 << 16
_ZERO, _LOST = 256, 128  # bytes before the end of the gap after the last buffer
ALIGNMENT = 512  # of buffers, as CUDA's allocators give at least 256


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

    def bounds(self) -> tuple[I64, I64]:
        """(B,) where the buffers start, and where they end."""
        return self._low, self._high

    def content(self, number: int) -> npt.NDArray[np.uint8]:
        """The bytes of a buffer as they are now."""
        start = self._starts[number] - GLOBAL
        return self.cells.bytes[start : self._ends[number] - GLOBAL]

    def write(self, address: int, data: bytes) -> None:
        """Put bytes at an address."""
        at = address - GLOBAL
        self.cells.bytes[at : at + len(data)] = np.frombuffer(data, np.uint8)

    def string_at(self, address: int) -> bytes:
        """The zero-terminated string at an address, of at most `_STRING` bytes."""
        at = address - GLOBAL
        if not 0 <= at < len(self.cells.bytes):
            return b"(bad pointer)"
        return self.cells.bytes[at : at + _STRING].tobytes().partition(b"\0")[0]

    def index(self, layout: Layout, address: Array, width: int, unit: int) -> I64:
        """Cell index of every address; all lanes of the layout count as active."""
        where = address.astype(np.uint64, copy=False).view(np.int64)
        low, high = int(where.min()), int(where.max())
        slot = int(np.searchsorted(self._low, low, side="right")) - 1
        if slot < 0 or low < GLOBAL or high + width > self._ends[slot]:
            self._check_each(layout, where, width)
        return self.index_of(layout, where, width, unit)

    def _check_each(self, layout: Layout, where: I64, width: int) -> None:
        slots = np.searchsorted(self._low, where, side="right") - 1
        ends = self._high[np.maximum(slots, 0)] if len(self._high) else np.zeros_like(where)
        bad = (slots < 0) | (where > ends - width)  # the sum may wrap round
        if bad.any():
            raise Violation(tr("{n}-byte access", n=width), layout.full(bad), layout.full(where))

    def index_of(self, layout: Layout, where: I64, width: int, unit: int) -> I64:
        """Cell index of every address, wherever it lies in the cells."""
        check_alignment(layout, where, width)
        return np.asarray((where - GLOBAL) >> (unit.bit_length() - 1))

    def beside(
        self, layout: Layout, violation: Violation, width: int, unit: int, writes: bool
    ) -> I64 | None:
        """See `Memory`: bad lanes go to the gap after the last buffer."""
        gap = self._top - (_LOST if writes else _ZERO)
        where = np.where(violation.bad, gap, violation.address.view(np.int64))
        return self.index_of(layout, where, width, unit)

    def describe(self, address: int) -> str:
        """Where an illegal address lies, relative to the nearest buffer."""
        slot = int(np.searchsorted(np.array(self._starts), address, side="right")) - 1
        if address + ALIGNMENT > GLOBAL and slot < 0 and self.names:
            before = self._starts[0] - address
            return tr("{n} bytes before buffer {name}", n=before, name=self.names[0])
        if slot < 0 or address > self._top + ALIGNMENT:
            return tr("in no buffer")
        name, size = self.names[slot], self._ends[slot] - self._starts[slot]
        past = address - self._ends[slot]
        if past >= 0:
            return tr(
                "{n} bytes past the end of buffer {name} ({size} bytes)",
                n=past,
                name=name,
                size=size,
            )
        return tr(
            "at byte {n} of buffer {name} ({size} bytes)", n=size + past, name=name, size=size
        )


HEAP_BYTES = 8 << 20  # CUDA's default


class Heap:
    """A bump allocator over `HEAP_BYTES` from an address on; 0 when the kernel has no heap."""

    def __init__(self, address: int) -> None:
        self._address = address
        self._used = 0

    def allocate(self, sizes: I64) -> U64:
        """Addresses of new pieces of (k,) bytes each, 0 for those that there is no room for."""
        starts = np.zeros(len(sizes), np.uint64)
        for lane in np.flatnonzero(sizes <= HEAP_BYTES - self._used).tolist():
            if (end := self._used + int(sizes[lane])) <= HEAP_BYTES:
                starts[lane], self._used = self._address + self._used, end
        return starts
