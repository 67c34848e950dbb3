"""Blocks of a cluster that end while others still reach into their shared memory.

The memory of a block is gone when all its threads have ended. What another block does there is in
time when some thread of the block knew of it before it ended: at a barrier of the cluster, through
an mbarrier, or, of bytes that were copied, because it waited for them. An H200 ends a launch in
which it is not, if it comes to that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import I64
from gpuviz.traces.observe import Place

_Block = tuple[int, int]  # a cluster, and the rank in it


@dataclass(frozen=True)
class Reach:
    """What a thread (counted over clusters) did at a step in the memory of another block."""

    step: int
    at: Place
    thread: int
    block: _Block


class Leaving:
    """Who reached into which block last, and what each block knew when it ended."""

    def __init__(self) -> None:
        self._last: dict[tuple[_Block, int], Reach] = {}  # by warp
        self._copied: dict[tuple[_Block, int], Reach] = {}  # by mbarrier
        self._knew: dict[_Block, I64] = {}  # (warps,) steps
        self._seen: dict[_Block, I64] = {}  # (mbarriers,) steps

    def reached(self, reach: Reach, warp: int) -> None:
        """A thread of a warp of the cluster."""
        self._last[reach.block, warp] = reach

    def copied(self, reach: Reach, mbarrier: int) -> None:
        """A copy begins whose bytes are counted."""
        self._copied[reach.block, mbarrier] = reach

    def left(self, block: _Block, knew: I64, seen: I64) -> None:
        """Threads of a block end."""
        for kept, now in ((self._knew, knew), (self._seen, seen)):
            before = kept.get(block, now)
            wide = np.zeros(max(len(now), len(before)), np.int64)
            wide[: len(before)] = before
            wide[: len(now)] = np.maximum(wide[: len(now)], now)
            kept[block] = wide

    def early(self) -> Iterator[Reach]:
        """What came too late, perhaps."""
        for kept, known in ((self._last, self._knew), (self._copied, self._seen)):
            for (block, which), reach in kept.items():
                steps = known.get(block)
                if steps is not None and (which >= len(steps) or steps[which] <= reach.step):
                    yield reach
