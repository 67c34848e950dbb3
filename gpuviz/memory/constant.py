"""Constant memory: one pass for each distinct address (PG 5.5, 5.3.2; PG 12.6, 8.3.2).

Bytes of one 32-bit word count as one address; a 64 or 128-bit access counts by its own size, which
no document settles. 1.x serves the half warps one after the other. Cache misses are not modelled.
"""

from __future__ import annotations

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.base.arrays import I64, U64, Bool
from gpuviz.memory.lanes import check, distinct, grouped, summed


def passes(arch: Architecture, address: U64, active: Bool, width: int) -> I64:
    """(N,) distinct addresses of (N, 32) requests, `width` bytes a lane."""
    check(width, (1, 2, 4, 8, 16))
    groups = arch.warp_requests
    word = address // np.uint64(max(4, width))
    return summed(distinct(grouped(word, groups), grouped(active, groups)), groups)


def schedule(arch: Architecture, address: U64, active: Bool, width: int) -> tuple[I64, ...]:
    """The lanes served by each pass of one request, (32,) addresses and active lanes.

    As many as `passes` counts: the address of the lowest lane left goes first (the true order is
    not published).
    """
    check(width, (1, 2, 4, 8, 16))
    groups = arch.warp_requests
    word = address // np.uint64(max(4, width))
    served = []
    for lanes in np.arange(len(address)).reshape(groups, -1):
        on = lanes[active[lanes]]
        served += [on[word[on] == w] for w in dict.fromkeys(word[on].tolist())]
    return tuple(served)
