"""The transactions of one request as pieces of memory, in the order they are served."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import I64, U64, Bool

Counted = tuple[I64, I64, I64]
"""(N,) transactions, what would be ideal, and bytes moved."""


@dataclass(frozen=True, eq=False)
class Segment:
    """One transaction of a request: `size` bytes from `base`, and the lanes it serves."""

    base: int
    size: int
    lanes: I64


def by_block(address: U64, lanes: I64, block: int) -> list[Segment]:
    """Blocks of fixed size the lanes touch, that of the lowest lane first."""
    base = address[lanes] // np.uint64(block) * np.uint64(block)
    return [Segment(int(b), block, lanes[base == b]) for b in dict.fromkeys(base.tolist())]


def serve_blocks(address: U64, active: Bool, width: int, block: int, group: I64) -> list[Segment]:
    """2.0 and later: the blocks of fixed size that one group of lanes touches."""
    return by_block(address, group[active[group]], block)
