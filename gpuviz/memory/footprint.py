"""Which sectors of global memory a launch loads at all: what must come from L2 at the least.

Every sector a request loads is looked up in L1. What L1 holds already is not asked of L2; how much
that is depends on when blocks run and where: cache hits are not modelled. But two numbers bound
it. At least every distinct sector comes from L2 once; at most every sector of every request does.
Where both agree the launch *streams* (nothing is loaded twice) and the number of sectors
requested from L2 is exact (l1tex__m_xbar2l1tex_read_sectors_mem_lg_op_ld on the hardware).
"""

from __future__ import annotations

import numpy as np

from gpuviz.trace import I64, U64, Access, Bool

SECTOR_BITS = 5
_SPAN = 36  # global addresses of a launch share all bits above these


class Footprint:
    """A bit for each sector loaded so far."""

    def __init__(self) -> None:
        self._base = 0
        self._seen: Bool = np.zeros(0, bool)

    def mark(self, access: Access) -> None:
        """Note the sectors of a global load."""
        address = access.address if access.active is None else access.address[access.active]
        if not address.size:
            return
        if not self._base:
            self._base = int(address.reshape(-1)[0]) >> _SPAN << _SPAN
        first = self._sectors(address)
        self._reserve(int(first.max()) + 1)
        self._seen[first] = True

    def _sectors(self, address: U64) -> I64:
        """Accesses are aligned and at most a sector wide: each touches one sector."""
        return ((address - np.uint64(self._base)) >> np.uint64(SECTOR_BITS)).astype(np.int64)

    def _reserve(self, count: int) -> None:
        if count > len(self._seen):
            wider = np.zeros(max(count, 2 * len(self._seen)), bool)
            wider[: len(self._seen)] = self._seen
            self._seen = wider

    @property
    def sectors(self) -> int:
        """Number of distinct sectors loaded."""
        return int(np.count_nonzero(self._seen))
