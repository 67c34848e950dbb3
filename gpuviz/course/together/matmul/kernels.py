"""Kernels for a matrix product whose barriers are in or out of place: what they do and leave."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import F64
from gpuviz.course.together.matmul.replay import Replay, replay
from gpuviz.course.together.matmul.results import Outcome, outcome
from gpuviz.ptx.checks.hazards import Hazard
from gpuviz.ptx.checks.race import hazards
from gpuviz.run.run import Run


@dataclass(frozen=True, eq=False)
class Kernel:
    """One kernel: its run, the replay of block 0, the races in it, and what it ends up with."""

    run: Run
    tile: int
    replay: Replay
    hazards: tuple[Hazard, ...]
    outcome: Outcome

    @property
    def warps(self) -> int:
        """Warps in a block."""
        return self.run.trace.launch.warps_per_block

    def slot(self, address: int) -> str:
        """The element at a byte offset in shared memory, as in the program: `Ns[0][4]`."""
        first, second = sorted(self.replay.tiles, key=lambda tile: tile.base)
        tile = second if address >= second.base else first
        row, column = divmod((address - tile.base) // 4, self.tile)
        return f"{tile.name}s[{row}][{column}]"


def kernel(run: Run, tile: int, names: tuple[str, ...], last_first: bool) -> Kernel:
    """A run of the product, replayed."""
    side = round(len(run.outputs["P"]) ** 0.5)
    m, n = (np.asarray(run.outputs[name], np.float64).reshape(side, side) for name in "MN")
    made = replay(run.trace, 0, tile, m, n, last_first)
    return Kernel(run, tile, made, hazards(run.trace), _outcome(names, made, m, n, tile))


def _outcome(names: tuple[str, ...], made: Replay, m: F64, n: F64, tile: int) -> Outcome:
    """The block's part of P in the order of the replay, checked."""
    row, column = np.divmod(made.stored, len(m))
    value = np.zeros((tile, tile))
    value[row - row.min(), column - column.min()] = made.value
    down, across = (slice(int(a.min()), int(a.max()) + 1) for a in (row, column))
    return outcome(names, value, m[down], n[:, across])
