"""Local memory: each thread's own, laid out so that a warp's equal offsets lie side by side.

Word w of lane l lies 4 * (32 * w + l) bytes from the warp's base (PG 12.6, 8.3.2: "consecutive
32-bit words are accessed by consecutive thread IDs"; the formula is an inference from that). The
base is taken to be aligned to a line. Caching, spills and the stack frame's place are not modelled.
"""

from __future__ import annotations

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.base.arrays import U64, Bool
from gpuviz.memory.coalescing import Transactions, transactions
from gpuviz.memory.lanes import bytes_asked, check, distinct
from gpuviz.traces.trace import Op

_LANE = np.arange(32, dtype=np.uint64)


def interleaved(offset: U64, width: int) -> U64:
    """(W, N, 32) physical addresses of the W words that each lane's access covers."""
    words = np.arange(max(1, width // 4), dtype=np.uint64)[:, None, None]
    word = offset[None] // np.uint64(4) + words
    return np.asarray(
        (word * np.uint64(32) + _LANE) * np.uint64(4) + offset[None] % np.uint64(4), dtype=np.uint64
    )


def local_transactions(
    arch: Architecture, offset: U64, active: Bool, width: int, op: Op = "load"
) -> Transactions:
    """Transactions of N requests at (N, 32) offsets in each thread's local memory.

    Before 5.0 every word of a wide access is counted as a request of its own.
    """
    check(width)
    physical = interleaved(offset, width)
    if arch.has_sectors:
        return _sectors(arch, physical, active, width)
    chunks = [transactions(arch, words, active, min(4, width), op) for words in physical]
    parts = ("count", "lines", "ideal", "moved")
    return Transactions(*(np.sum([getattr(c, p) for c in chunks], axis=0) for p in parts))


def _sectors(arch: Architecture, physical: U64, active: Bool, width: int) -> Transactions:
    """5.0 and later: distinct sectors of all words of the warp."""
    lanes = np.concatenate(list(physical), axis=1)
    on = np.tile(active, (1, len(physical)))
    count = distinct(lanes // np.uint64(arch.sector), on)
    lines = distinct(lanes // np.uint64(arch.line), on)
    return Transactions(count, lines, -(-bytes_asked(active, width) // 32), count * 32)
