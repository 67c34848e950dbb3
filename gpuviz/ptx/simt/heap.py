"""The heap that kernels allocate from."""

from __future__ import annotations

import numpy as np

from gpuviz.base.arrays import I64, U64

HEAP_BYTES = 8 << 20  # CUDA's default


class Heap:
    """A bump allocator over `HEAP_BYTES` from an address on; 0 when the kernel has no heap."""

    def __init__(self, address: int) -> None:
        self._address = address
        self._used = 0

    def allocate(self, sizes: I64) -> U64:
        """Addresses of new pieces of (k,) bytes each, 0 for those that no longer fit."""
        ends = self._used + np.cumsum(sizes)
        starts = (ends - sizes + self._address).astype(np.uint64)
        fits = ends <= HEAP_BYTES
        if fits.any():
            self._used = int(ends[fits][-1])
        return np.where(fits, starts, np.uint64(0))
