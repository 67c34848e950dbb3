"""Whose rows an event has: warps of the batch, folded for as long as all its blocks do the same.

Blocks of a regular kernel do the very same, and an engine tells them in one row. A check then keeps
the state of one block for all of them (`height` 1). The first event that tells blocks apart unfolds
it: from then on, to the end of the batch, there is state for each block.
"""

from collections.abc import Callable

import numpy as np

from gpuviz.base.arrays import I64, Array, Bool
from gpuviz.traces.observe import Warps
from gpuviz.traces.trace import LANES, Launch


class Batch:
    """Consecutive blocks that run together.

    Attributes
    ----------
    first, blocks : the first block and how many there are
    warps : of a block
    height : 1 while one block's state stands for all, else `blocks`
    """

    def __init__(self, launch: Launch, first: int, blocks: int) -> None:
        self.first, self.blocks = first, blocks
        self.warps = launch.warps_per_block
        self.height = 1
        self._unfold: list[Callable[[int], None]] = []

    def on_unfold(self, unfold: Callable[[int], None]) -> None:
        """Call `unfold(blocks)` when the state of one block is to become that of each."""
        self._unfold.append(unfold)

    def unfold(self) -> None:
        """From now on blocks differ."""
        if self.height < self.blocks:
            self.height = self.blocks
            for call in self._unfold:
                call(self.blocks)

    def spread(
        self, warps: Warps, active: Bool | None = None, *columns: Array
    ) -> tuple[I64, Bool | None, list[Array]]:
        """Rows of an event, one for each warp there is state of: (M,) which, their active lanes
        (None: all), and the rows of other columns.

        The warp is `block` * `self.warps` + warp within the block, counted from the batch's first;
        with height 1, that of the one block that stands for all.
        """
        alike = warps.blocks == self.blocks
        if not alike:
            self.unfold()
        which = warps.first - self.first * self.warps
        blocks = warps.blocks if self.height > 1 else 1
        if blocks * warps.warps == 1:
            return which, active, list(columns)
        row = np.arange(len(which)).repeat(warps.warps)
        which = which.repeat(warps.warps) + np.tile(np.arange(warps.warps), len(warps.first))
        if blocks > 1:
            which = (np.arange(blocks)[:, None] * self.warps + which).reshape(-1)
            row = np.tile(row, blocks)
        return which, active if active is None else active[row], [c[row] for c in columns]

    def block_rows(self, blocks: I64) -> slice | I64:
        """Where the state of some blocks is, (B,) linear ids."""
        if len(blocks) == self.blocks:
            return slice(None)
        self.unfold()
        return blocks - self.first


def ends(
    warps: Warps, active: Bool | None, *columns: Array
) -> tuple[I64, Bool | None, list[Array]]:
    """Rows of an event with the first and the last of the warps that each stands for.

    (M,) warps, counted over the launch, their active lanes, and other columns' rows. Enough to
    know whether several warps, or several blocks, are there at all.
    """
    if warps.repeat == 1:
        return warps.first, active, list(columns)
    last = warps.first + (warps.blocks - 1) * warps.per_block + warps.warps - 1
    lanes = active if active is None else np.concatenate([active, active])
    both = [np.concatenate([column, column]) for column in columns]
    return np.concatenate([warps.first, last]), lanes, both


def flat(address: Array, active: Bool | None, warp: I64) -> tuple[I64, I64]:
    """(n,) the addresses of the active lanes of (M,) warps, and their threads."""
    where, thread = address.view(np.int64), (warp * LANES)[:, None] + np.arange(LANES)
    if active is None:
        return where.reshape(-1), thread.reshape(-1)
    return where[active], thread[active]
