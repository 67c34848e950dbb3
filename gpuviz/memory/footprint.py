"""Which sectors of global memory a launch loads at all: what must come from L2 at the least.

Every sector a request loads is looked up in L1. What L1 holds already is not asked of L2; how much
that is depends on when blocks run and where: cache hits are not modelled. But two numbers bound
it. At least every distinct sector comes from L2 once; at most every sector of every request does.
Where both agree the launch *streams* (nothing is loaded twice) and the number of sectors
requested from L2 is exact (l1tex__m_xbar2l1tex_read_sectors_mem_lg_op_ld on the hardware).
"""

from __future__ import annotations

import numpy as np

from gpuviz.base.arrays import I64, Bool
from gpuviz.traces.observe import Access

SECTOR_BITS = 5
_PAGE_BITS = 20  # sectors of one page: 32 MiB of memory


class Footprint:
    """A bit for each sector loaded so far, in pages that appear when first touched."""

    def __init__(self) -> None:
        self._pages: dict[int, Bool] = {}

    def mark(self, access: Access) -> None:
        """Note the sectors of a global load; accesses are aligned, so each touches one sector."""
        address = access.address if access.active is None else access.address[access.active]
        sector = (address.reshape(-1) >> np.uint64(SECTOR_BITS)).astype(np.int64)
        if not sector.size:
            return
        first, last = int(sector.min()) >> _PAGE_BITS, int(sector.max()) >> _PAGE_BITS
        if first == last:
            self._mark_page(first, sector)
            return
        page = sector >> _PAGE_BITS
        for number in np.unique(page).tolist():
            self._mark_page(number, sector[page == number])

    def _mark_page(self, number: int, sector: I64) -> None:
        self._page(number)[sector & (1 << _PAGE_BITS) - 1] = True

    def _page(self, number: int) -> Bool:
        if number not in self._pages:
            self._pages[number] = np.zeros(1 << _PAGE_BITS, bool)
        return self._pages[number]

    def copy(self) -> Footprint:
        """A footprint with the same sectors."""
        other = Footprint()
        other._pages = {number: page.copy() for number, page in self._pages.items()}
        return other

    @property
    def sectors(self) -> int:
        """Number of distinct sectors loaded."""
        return sum(int(np.count_nonzero(page)) for page in self._pages.values())

    @property
    def pairs(self) -> int:
        """Number of distinct pairs of sectors loaded: memory is read 64 bytes at a time (H200)."""
        pages = self._pages.values()
        return sum(int(np.count_nonzero(page.reshape(-1, 2).any(axis=1))) for page in pages)
