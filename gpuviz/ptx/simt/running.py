"""Which threads of a batch are still running."""

from __future__ import annotations

import numpy as np

from gpuviz.base.arrays import I64, Bool
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.layout import Layout
from gpuviz.traces.observe import Warps
from gpuviz.traces.trace import LANES


class Running:
    """The threads of a batch that have not ended.

    Attributes
    ----------
    threads : how many there are
    mask : which elements of the batch's layout they are, None for all
    """

    def __init__(self, layout: Layout, threads_per_block: int) -> None:
        self._layout = layout
        self._per_block = threads_per_block
        self.threads = layout.blocks * threads_per_block
        self.mask: Bool | None = None
        if layout.threads != threads_per_block:
            self.mask = (np.arange(layout.threads) < threads_per_block)[None, :]

    def end(self, group: Group) -> None:
        """The lanes of a group end."""
        if group.mask is None and group.layout.dense:
            self.mask = np.zeros((1, self._layout.threads), bool)
        else:
            ended = group.layout.dense_mask(group.mask)
            self.mask = ~ended if self.mask is None else self.mask & ~ended
        self.threads -= group.threads

    def per_block(self) -> I64:
        """(B,) how many threads of each block are running."""
        if self.mask is None:
            return np.full(self._layout.blocks, self._layout.threads)
        return np.asarray(self._layout.full(self.mask).sum(axis=1))

    def some_ended(self, blocks: slice | Bool) -> bool:
        """Whether a thread of some blocks has ended."""
        if self.threads == self._layout.blocks * self._per_block:
            return False
        return bool((self.per_block()[blocks] < self._per_block).any())

    def rows(self, layout: Layout) -> Bool:
        """(N, 32): running lanes of the warps of a layout (present in the layout or not)."""
        warps = layout.warp_numbers()
        if self.mask is None:
            return np.ones((len(warps), LANES), bool)
        return self._layout.full(self.mask).reshape(-1, LANES)[warps]

    def of(self, warps: Warps) -> Bool:
        """(N, 32): running lanes of the warps of rows that stand for one warp each."""
        if self.mask is None:
            return np.ones((len(warps.first), LANES), bool)
        within = warps.first - self._layout.first_block * warps.per_block
        return self._layout.full(self.mask).reshape(-1, LANES)[within]
