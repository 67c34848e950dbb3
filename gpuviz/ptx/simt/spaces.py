"""State spaces: where each lies in the generic address space, and the small memories.

These are shared (of a block), local (of a thread), constants and parameters; global memory has a
module of its own. Each turns addresses into indices of cells of `unit` bytes, or raises `Violation`
for the first lane whose `width`-byte access is outside or misaligned; the rest is the same.
"""

from typing import Protocol

import numpy as np
import numpy.typing as npt

from gpuviz.base.arrays import I64, Array, Bool
from gpuviz.ptx.simt.cluster import RANK_BIT, Cluster, split_told
from gpuviz.ptx.simt.layout import Layout
from gpuviz.words.language import tr

# Real devices choose other numbers; kernels must not depend on them. Global memory is placed high,
# so that a shared or local offset used as a global pointer is seen as the mistake it is.
SHARED = 0x1_0000_0000
LOCAL = 0x2_0000_0000
CONSTANT = 0x3_0000_0000
PARAM = 0x4_0000_0000
CODE = 0x5_0000_0000
GLOBAL = 0x7F00_0000_0000
WINDOW = 0x1_0000_0000

BASES = {"shared": SHARED, "local": LOCAL, "const": CONSTANT, "param": PARAM, "global": 0}


def space_of(address: int) -> str:
    """The state space a generic address points into."""
    for name in ("shared", "local", "const", "param"):
        if BASES[name] <= address < BASES[name] + WINDOW:
            return name
    return "global"


class Violation(Exception):
    """An illegal access: which lanes of the layout are `bad`, and all their addresses."""

    def __init__(self, reason: str, bad: Bool, address: Array, misaligned: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.bad = bad
        self.address = address
        self.misaligned = misaligned


def check_inside(layout: Layout, address: Array, width: int, size: int, what: str) -> None:
    """Raise `Violation` when an access of an offset is not within the first `size` bytes."""
    if int(address.max()) + width > size:
        bad = address > size - width if size >= width else np.ones_like(address, bool)
        raise Violation(
            tr("{n}-byte access outside the {size} bytes of {what}", n=width, size=size, what=what),
            layout.full(bad),
            layout.full(address),
        )


def check_alignment(layout: Layout, address: Array, width: int) -> None:
    """Raise `Violation` when an address is not a multiple of the access width."""
    if width > 1:
        low = address & address.dtype.type(width - 1)
        if low.any():
            raise Violation(
                tr("misaligned {n}-byte access", n=width),
                layout.full(low) != 0,
                layout.full(address),
                True,
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

    def beside(
        self, layout: Layout, violation: Violation, width: int, unit: int, writes: bool
    ) -> I64 | None:
        """Cell index of accesses some of which are outside: theirs is where there is 0, or where
        nobody reads what they write. None where a run cannot go on after that; raises `Violation`.
        """


_GAP = 16  # bytes of zeros behind all blocks, and as many to write to
_BESIDE = 4096  # bytes behind a block's memory: so near may be what others have of the same


class _StrictMemory:
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


class LocalMemory(_StrictMemory):
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


class ReadOnlyMemory(_StrictMemory):
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
