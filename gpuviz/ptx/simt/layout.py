"""Which threads a group of lanes stands for, and how its arrays are laid out.

In a *dense* layout arrays broadcast to (blocks, threads), threads padded to whole warps; a value
that is the same for all blocks is kept as (1, threads), for all threads of a block as (blocks, 1),
for everybody as (1,). So what does not differ is computed once, and counted once. A *sparse* layout
holds a few of the threads as flat arrays (k,): lanes that went their own way do not make the others
wait.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from gpuviz.base.arrays import I64, Array, Bool
from gpuviz.traces.observe import Warps
from gpuviz.traces.trace import LANES


class Layout:
    """The threads of a batch: `blocks` from `first_block` on, of `threads` (a multiple of 32) each.

    `flat` chooses some of them, by their number in the batch: then the layout is sparse.
    """

    def __init__(
        self, first_block: int, blocks: int, threads: int, flat: I64 | None = None
    ) -> None:
        self.first_block = first_block
        self.blocks = blocks
        self.threads = threads
        self.flat = flat
        self.shape: tuple[int, ...] = (blocks, threads) if flat is None else (len(flat),)
        self.size = blocks * threads if flat is None else len(flat)
        self._rows: dict[tuple[bool, bool], Warps] = {}

    @property
    def dense(self) -> bool:
        """True when arrays broadcast to (blocks, threads)."""
        return self.flat is None

    @cached_property
    def row(self) -> I64:
        """Block (within the batch) of each element: (blocks, 1) or (k,)."""
        if self.flat is None:
            return np.arange(self.blocks)[:, None]
        return self.flat // self.threads

    @cached_property
    def column(self) -> I64:
        """Thread within its block, padded numbering: (1, threads) or (k,)."""
        if self.flat is None:
            return np.arange(self.threads)[None, :]
        return self.flat % self.threads

    @cached_property
    def thread(self) -> I64:
        """Number of each thread in the batch, shaped as a full value."""
        return self.row * self.threads + self.column

    @cached_property
    def _warps(self) -> tuple[I64, I64]:
        """Sparse only: the warps present (numbers in the batch), and each element's place there."""
        assert self.flat is not None
        warps, place = np.unique(self.flat // LANES, return_inverse=True)
        return warps, place * LANES + self.flat % LANES

    @cached_property
    def present(self) -> Bool | None:
        """(N, 32): lanes of `warp_rows` that exist in this layout; None when all do."""
        if self.flat is None:
            return None
        warps, place = self._warps
        mask = np.zeros(len(warps) * LANES, bool)
        mask[place] = True
        return mask.reshape(-1, LANES)

    def rows(self, each_block: bool, each_warp: bool) -> Warps:
        """Whom rows stand for, one for each block or one for all, one for each warp or one for all.

        A sparse layout has one row for each warp present.
        """
        key = each_block, each_warp
        if key not in self._rows:
            self._rows[key] = self._made_rows(each_block, each_warp)
        return self._rows[key]

    def _made_rows(self, each_block: bool, each_warp: bool) -> Warps:
        per_block = self.threads // LANES
        start = self.first_block * per_block
        if self.flat is not None:
            return Warps(start + self.warp_numbers(), per_block)
        blocks, warps = self.blocks if each_block else 1, per_block if each_warp else 1
        block, warp = np.arange(blocks)[:, None], np.arange(warps)
        first = start + (block * per_block + warp).reshape(-1)
        return Warps(first, per_block, self.blocks // blocks, per_block // warps)

    def warp_numbers(self) -> I64:
        """Number in the batch (block * warps per block + warp) of each row of `warp_rows`."""
        if self.flat is None:
            return np.arange(self.size // LANES)
        return self._warps[0]

    def full(self, value: Array) -> Array:
        """The value with one element a thread, in the layout's shape (read-only when broadcast)."""
        return value if value.shape == self.shape else np.broadcast_to(value, self.shape)

    def warp_rows(self, value: Array) -> Array:
        """A value as (N, 32), one row a warp of the layout; absent lanes of a sparse one are 0."""
        if self.flat is None:
            return self.full(value).reshape(-1, LANES)
        warps, place = self._warps
        rows = np.zeros(len(warps) * LANES, value.dtype)
        rows[place] = value
        return rows.reshape(-1, LANES)

    def of_warps(self, value: Array, warps: I64) -> Array:
        """A value as (K, 32), of some of the layout's warps, counted over the launch."""
        number = warps - self.first_block * (self.threads // LANES)
        if self.flat is None:
            return self.full(value).reshape(-1, LANES)[number]
        return self.warp_rows(self.full(value))[self._warps[0].searchsorted(number)]

    def from_warp_rows(self, rows: Array) -> Array:
        """The inverse of `warp_rows`."""
        if self.flat is None:
            return rows.reshape(self.shape)
        return rows.reshape(-1)[self._warps[1]]

    def count(self, mask: Bool | None) -> int:
        """Number of threads a mask selects."""
        if mask is None:
            return self.size
        return int(np.count_nonzero(mask)) * (self.size // mask.size)

    def count_warps(self, mask: Bool | None) -> int:
        """Number of warps with at least one selected lane."""
        if mask is None:
            return self.size // LANES if self.flat is None else len(self._warps[0])
        if self.flat is None and mask.ndim == 2 and mask.shape[1] == self.threads:
            warps = mask.reshape(mask.shape[0], -1, LANES).any(axis=2)
            return int(np.count_nonzero(warps)) * (self.blocks // int(mask.shape[0]))
        if self.flat is None:
            return self.count(mask) // LANES
        return int(np.count_nonzero(self.warp_rows(mask).any(axis=1)))

    def gather(self, value: Array) -> Array:
        """A dense value as this sparse layout sees it: (1,) or (k,)."""
        assert self.flat is not None
        if value.size == 1:
            return value.reshape(1)
        if value.shape == (self.blocks, self.threads):
            return value.reshape(-1).take(self.flat)
        if value.shape[0] == 1:
            return value.reshape(-1).take(self.column)
        return value.reshape(-1).take(self.row)

    def scatter(self, value: Array, into: Array) -> Array:
        """A copy of a dense value in which this sparse layout's elements are replaced."""
        assert self.flat is not None
        dense = np.array(np.broadcast_to(into, (self.blocks, self.threads)), order="C")
        dense.reshape(-1)[self.flat] = value
        return dense

    def sparse(self, mask: Bool) -> Layout:
        """The layout of just the selected threads."""
        picked = np.flatnonzero(self.full(mask))
        flat = picked if self.flat is None else self.flat[picked]
        return Layout(self.first_block, self.blocks, self.threads, flat)

    def dense_mask(self, mask: Bool | None) -> Bool:
        """A mask over this layout as a mask over the dense one."""
        if self.flat is None:
            assert mask is not None
            return mask
        out = np.zeros(self.blocks * self.threads, bool)
        out[self.flat if mask is None else self.flat[self.full(mask)]] = True
        return out.reshape(self.blocks, self.threads)
