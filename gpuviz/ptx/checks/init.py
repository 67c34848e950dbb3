"""Init check: reads of memory that nobody wrote.

Watched are shared memory, local memory (automatic arrays), what device-side malloc gave, and
buffers whose content the launch leaves open (`f32[64]=unset`, as cudaMalloc gives them).

A read counts when it is executed, whatever becomes of its value; but of a vector load (float4) only
the elements count that some instruction of the function uses. So padding that comes along with a
wide load, and is dropped or only passed on by a vector store, is no fault.
"""

from __future__ import annotations

import numpy as np

from gpuviz.base.arrays import I64, U64, Array, Bool
from gpuviz.ptx.checks.batch import Batch, flat
from gpuviz.ptx.checks.report import Check
from gpuviz.ptx.checks.transfers import UNIT, instruction_of, pieces
from gpuviz.ptx.simt.cluster import Cluster, split_told
from gpuviz.ptx.simt.spaces import Cells
from gpuviz.traces.observe import Access, BarrierEvent, Place, Report, Transfer
from gpuviz.traces.trace import BESIDE, LANES, Finding, Launch, MemoryInstruction

_REMEDIES = {
    "shared": "write it first, with a barrier in between, or read only what was written",
    "local": "give the array its values where it is declared",
    "global": "set it first: cudaMemset, a copy, or a store of this kernel",
}


class InitCheck(Check):
    """Reports reads of what nobody wrote as they happen.

    From `system` on shared memory is the system's, which has written all of it; 0 for nowhere.
    Blocks in a `cluster` access each other's.
    """

    name = "init"

    def __init__(self, system: int = 0, cluster: Cluster | None = None) -> None:
        self._system = system
        self._cluster = cluster if cluster and cluster.size > 1 else None

    def launch_begin(self, launch: Launch, report: Report) -> None:
        """Know the buffers."""
        super().launch_begin(launch, report)
        self._open = [_WrittenBytes(b.address, b.size) for b in launch.buffers if b.unset]
        self._heap: _WrittenBytes | None = None
        self._outside: set[tuple[int, int]] = set()

    def finding(self, finding: Finding) -> None:
        """What lies outside of shared memory has been told so."""
        if finding.kind == BESIDE:
            self._outside.add((finding.ptx_line, finding.address))

    def blocks_begin(self, first: int, count: int) -> None:
        """Nobody has written shared or local memory of these blocks."""
        self._batch = Batch(self._launch, first, count)
        threads = self._batch.warps * LANES
        self._inner = {"shared": _Inner(self._batch, 1), "local": _Inner(self._batch, threads)}
        if self._cluster is not None:
            self._batch.unfold()

    def barrier(self, at: Place, blocks: I64, meeting: BarrierEvent | None = None) -> None:
        """Stop watching what is all written."""
        self._inner["shared"].settle()

    def allocated(self, address: U64, size: I64) -> None:
        """What malloc gives has no content."""
        starts = address.astype(np.int64)
        if self._heap is None:
            self._heap = _WrittenBytes(int(starts.min()), 0)
            self._open.append(self._heap)
        self._heap.reach(int((starts + size).max()))
        for start, length in zip(starts.tolist(), size.tolist(), strict=True):
            self._heap.forget(start, length)

    def transfer(self, transfer: Transfer) -> None:
        """Bulk copies and wgmma write shared memory, or read it."""
        self._batch.unfold()
        where, thread = pieces(transfer)
        if len(where):
            block = np.repeat(transfer.block, transfer.size // UNIT) - self._batch.first
            owner = block * self._batch.warps * LANES  # a thread of the block whose memory it is
            memory, at = self._inner["shared"], instruction_of(transfer)
            index = memory.index(where, owner, UNIT)
            if transfer.kind == "load":
                memory.write(index, UNIT)
            else:
                self._checked(at, memory, index, where, thread, transfer.repeat)
        if transfer.kind == "store":
            self._stored(transfer)

    def _stored(self, transfer: Transfer) -> None:
        """Out of shared memory; where that goes of boxes is not told."""
        if (transfer.source < 0).any():
            self._open.clear()
        for memory in self._open:
            for start, size in zip(transfer.source.tolist(), transfer.size.tolist(), strict=True):
                if memory.start <= start < memory.end:
                    memory.write(np.array([start - memory.start]), size)

    def access(self, access: Access) -> None:
        """Stores and copies write; loads read; atomics do both."""
        at = access.instruction
        if at.space == "global":
            for memory in self._open:
                self._at_open(at, memory, access)
        elif at.space in self._inner and not self._inner[at.space].settled(access):
            self._at_inner(at, self._inner[at.space], access)

    def _at_inner(self, at: MemoryInstruction, memory: _Inner, access: Access) -> None:
        warp, active, (address,) = self._batch.spread(access.warps, access.active, access.address)
        where, thread = flat(address, active, warp)
        owner = thread
        if self._cluster is not None and at.space == "shared":
            where, owner = self._of_cluster(self._cluster, where, thread)
        index = memory.index(where, owner, at.width)
        alike = self._batch.blocks if self._batch.height == 1 else 1
        first = self._batch.first * self._batch.warps * LANES
        self._checked(at, memory, index, where, thread + first, alike)

    def _of_cluster(self, cluster: Cluster, where: I64, thread: I64) -> tuple[I64, I64]:
        """Offsets in the memory of one block or another, and a thread of the block that has it."""
        rank, offset = split_told(where)
        each, first = self._batch.warps * LANES, self._batch.first
        peer = cluster.peer(thread // each + first, np.maximum(rank, 0)) - first
        return offset, np.where(rank < 0, thread, peer * each)

    def _at_open(self, at: MemoryInstruction, memory: _WrittenBytes, access: Access) -> None:
        where = access.address.view(np.int64)
        inside = (where >= memory.start) & (where + at.width <= memory.end)
        inside = inside if access.active is None else inside & access.active
        if inside.any():
            thread = (access.warps.first * LANES)[:, None] + np.arange(LANES)
            there = where[inside]
            self._checked(at, memory, there - memory.start, there, thread[inside], access.repeat)

    def _checked(
        self,
        at: MemoryInstruction,
        memory: _WrittenBytes,
        index: I64,
        where: I64,
        thread: I64,
        times: int,
    ) -> None:
        if at.op != "store" and (at.op != "copy" or at.space == "global"):
            bad = memory.unwritten(index, at)
            if bad is not None and self._system and at.space == "shared":
                bad &= where < self._system
            if bad is not None and bad.any():
                self._unwritten(at, where[bad], thread[bad], times)
        if at.op != "load" and (at.op != "copy" or at.space != "global"):
            memory.write(index, at.width)

    def _unwritten(self, at: MemoryInstruction, where: I64, thread: I64, times: int) -> None:
        address = int(where[0])
        if (at.ptx_line, address) in self._outside:
            return
        buffer = self._launch.buffer_at(address) if at.space == "global" else None
        if buffer is not None:
            what = f"byte {address - buffer.address} of buffer {buffer.name}"
        elif at.space == "global":
            what = f"memory of malloc at {address:#x}"
        else:
            what = f"{at.space} memory at offset {address}"
        self._tell(
            f"uninitialised {at.space} read",
            f"{what} is read before anything was written there",
            at,
            int(thread[0]),
            _REMEDIES[at.space],
            address,
            len(where) * times,
        )


class _WrittenBytes:
    """Which bytes from an address on have been written: 255 for those, 0 for others."""

    def __init__(self, start: int, size: int) -> None:
        self.start, self.end = start, start + size
        self.cells = Cells(size)

    def reach(self, end: int) -> None:
        """Watch as far as an address; what is new there counts as written."""
        if end > self.end:
            room = np.full(-(-2 * (end - self.start) // 16) * 16, 255, np.uint8)
            room[: len(self.cells.bytes)] = self.cells.bytes
            self.cells.replace(room)
            self.end = end

    def forget(self, start: int, size: int) -> None:
        """Bytes from an address on have no content (again)."""
        self.cells.bytes[start - self.start :][:size] = 0

    def write(self, index: I64, width: int) -> None:
        """Accesses of some bytes from (n,) indices on write."""
        unit = min(width, 8)
        ones = np.array((1 << 8 * unit) - 1, f"u{unit}")
        for part in range(width // unit):
            self.cells.of(unit)[index // unit + part] = ones

    def unwritten(self, index: I64, at: MemoryInstruction) -> Bool | None:
        """(n,) which loads use a byte that nobody wrote; None for no one."""
        unit, bad = min(at.width, 8), np.zeros(len(index), bool)
        for part in range(at.width // unit):
            used = [not at.unused >> part * unit + byte & 1 for byte in range(unit)]
            ones = (np.array(used, np.uint8) * np.uint8(255)).view(f"u{unit}")[0]
            if ones:
                bad |= self.cells.of(unit).take(index // unit + part) & ones != ones
        return bad if bad.any() else None


class _Inner(_WrittenBytes):
    """Shared memory of blocks, or local memory of threads: `rows` of one length a block."""

    def __init__(self, batch: Batch, rows: int) -> None:
        super().__init__(0, 0)
        self._batch, self._rows = batch, rows
        self._wide = 0  # bytes of a row
        self._settled = False
        self.cells = Cells(0)
        batch.on_unfold(self._unfold)

    def _unfold(self, blocks: int) -> None:
        self.cells.replace(np.tile(self._bytes(1).reshape(-1), blocks))

    def _bytes(self, height: int) -> Array:
        used = height * self._rows * self._wide
        return self.cells.bytes[:used].reshape(height * self._rows, self._wide)

    def index(self, where: I64, thread: I64, width: int) -> I64:
        """Where offsets are, of the rows of some threads of the batch."""
        batch = self._batch
        top = int(where.max()) + width
        if top > self._wide:
            wide = -(-max(top, 2 * self._wide) // 16) * 16
            room = np.zeros((batch.height * self._rows, wide), np.uint8)
            room[:, : self._wide] = self._bytes(batch.height)
            self.cells.replace(room.reshape(-1))
            self._wide, self._settled = wide, False
        row = thread if self._rows > 1 else thread // (batch.warps * LANES)
        return where + row * self._wide

    def settle(self) -> None:
        """Everything known of is written: look no more, up to that offset."""
        self._settled = self._settled or bool(self._wide and self.cells.bytes.all())

    def settled(self, access: Access) -> bool:
        """Whether an access can only meet what is written."""
        return self._settled and int(access.address.max()) + 32 <= self._wide
