"""Keeping freed memory: arrays of an emulation are made and dropped thousands of times a second."""

from __future__ import annotations

import numpy as np

# Just below the most that glibc lets its limits grow to (DEFAULT_MMAP_THRESHOLD_MAX, 32 MiB).
_LARGE = 31 << 20


def keep_freed_memory() -> None:
    """Have the C library reuse freed blocks instead of handing them back to the system.

    glibc maps blocks of 128 KiB and more afresh, and each page of them costs a fault at first
    touch: many times what arithmetic on it costs. Freeing one large block raises that limit for the
    whole process (mallopt(3), M_MMAP_THRESHOLD, "dynamic"). Elsewhere this does nothing.
    """
    block = np.empty(_LARGE, np.uint8)
    del block
