"""Which blocks of a launch can have run one after another in the same place of a multiprocessor."""

from __future__ import annotations

import numpy as np

from gpuviz.base.arrays import I64
from gpuviz.recordings.measurement import Placement

_NEVER = np.iinfo(np.int64).min


def slots_of(placement: Placement) -> I64:
    """(B,) a slot for each block, so that no two share one of a multiprocessor at a time.

    Each takes the first that is free when it begins; a block lasts a nanosecond at least. All
    multiprocessors advance by a block at a time.
    """
    slot = np.zeros(len(placement.block), np.int64)
    sms, owner = np.unique(placement.sm, return_inverse=True)
    end = np.maximum(placement.end_ns, placement.start_ns + 1)
    free = np.full((len(sms), 1), _NEVER)  # when each slot is free again
    for blocks in _nth(owner, np.lexsort((placement.block, placement.start_ns, owner))):
        rows = owner[blocks]
        open_ = free[rows] <= placement.start_ns[blocks, None]
        if not open_.any(axis=1).all():
            free = np.pad(free, ((0, 0), (0, 1)), constant_values=_NEVER)
            open_ = np.pad(open_, ((0, 0), (0, 1)), constant_values=True)
        slot[blocks] = open_.argmax(axis=1)
        free[rows, slot[blocks]] = end[blocks]
    return slot


def _nth(owner: I64, order: I64) -> list[I64]:
    """The first block of each owner, the second of each, and so on, as they are ordered."""
    counts = np.bincount(owner)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    rank = np.arange(len(order)) - first
    by_rank = order[np.argsort(rank, kind="stable")]
    return np.split(by_rank, np.cumsum(np.bincount(rank))[:-1])
