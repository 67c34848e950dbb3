"""Bulk copies (TMA): what they ask of L2, and what wgmma reads of shared memory.

The hardware serves a copy 128 bytes of shared memory at a time, and each of these touches sectors
of its own: 2,048 bytes from 16 on are 80 sectors, 5 for each line, where 65 hold them all. Boxes go
line by line likewise; what is beyond the edges of a tensor is not read. What goes to several blocks
of a cluster arrives in each of them, in pairs of sectors. A wgmma reads 128 bytes in a wavefront,
however its matrices lie.

Read from an H200 (9.0), and equal: 33 launches of plain copies, reductions, boxes of one to three
directions and multicasts (tests/data/bulk_copies_h200.json), 274 of wgmma. Boxes that reach beyond
their tensor, prefetches, and copies between blocks, in which L2 has no part, were not compared.
"""

import numpy as np

from gpuviz.base.arrays import I64
from gpuviz.memory.counts import Count
from gpuviz.traces.observe import Report, Sums, Transfer, TransferKind
from gpuviz.traces.trace import Launch

_LINE, _SECTOR = 128, 32
_COUNTS: dict[TransferKind, tuple[Count, Count, Count]] = {
    "load": (Count.BULK_LOAD_REQUESTS, Count.BULK_LOAD_SECTORS, Count.BULK_LOAD_BYTES),
    "store": (Count.BULK_STORE_REQUESTS, Count.BULK_STORE_SECTORS, Count.BULK_STORE_BYTES),
    "reduce": (
        Count.BULK_REDUCTION_REQUESTS,
        Count.BULK_REDUCTION_SECTORS,
        Count.BULK_REDUCTION_BYTES,
    ),
}


def sectors(address: I64, size: I64, into: I64, paired: bool = False) -> int:
    """Sectors of (R,) runs of bytes in global memory that lie `into` bytes in shared memory;
    `paired`: two at a time, as they come to several blocks.
    """
    begin, end = into, into + size
    total = 0
    for line in range(int((-(-end // _LINE) - begin // _LINE).max(initial=0))):
        low = np.maximum(begin, (begin // _LINE + line) * _LINE)
        high = np.minimum(end, (begin // _LINE + line + 1) * _LINE)
        some = low < high
        total += _touched((address + low - begin)[some], (address + high - begin)[some], paired)
    return total


def _touched(first: I64, end: I64, paired: bool) -> int:
    """Of pieces within one line of shared memory, which may lie in two of global memory."""
    if not paired:
        return int(((end - 1) // _SECTOR - first // _SECTOR + 1).sum())
    cut = np.minimum(end, (first // _LINE + 1) * _LINE)
    return sum(
        int((((b - 1) // _SECTOR - a // _SECTOR + 2) // 2 * 2)[a < b].sum())
        for a, b in ((first, cut), (cut, end))
    )


class BulkCopies(Sums):
    """Sums up the bulk copies of a launch, and what wgmma reads: `counts`."""

    def __init__(self) -> None:
        self.counts: dict[Count, int] = {}
        self._repeat = 1

    def launch_begin(self, launch: Launch, report: Report) -> None:
        """Of one launch."""
        self.start_over()

    def start_over(self) -> None:
        """Nothing has been heard."""
        self.counts = {}

    def transfer(self, transfer: Transfer) -> None:
        """Add some."""
        self._repeat = transfer.repeat
        if transfer.kind == "product":
            self._add(Count.SHARED_MATRIX_WAVEFRONTS, int(transfer.size.sum()) // _LINE)
            return
        requests, moved, asked = _COUNTS[transfer.kind]
        runs = transfer.runs
        if runs is not None:
            address, size, into = runs.address, runs.size, runs.into
        elif (transfer.source >= 0).all():
            address, size, into = transfer.source, transfer.size, transfer.address
        else:  # between blocks: L2 has no part in it
            return
        before = transfer.before
        self._add(requests, len(transfer.size) - (0 if before is None else int(before.sum())))
        self._add(moved, sectors(address, size, into, transfer.multicast))
        self._add(asked, int(size.sum()))

    def _add(self, count: Count, more: int) -> None:
        self.counts[count] = self.counts.get(count, 0) + more * self._repeat
