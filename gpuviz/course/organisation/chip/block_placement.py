"""Which multiprocessor runs which block, and when: as noted on a GPU, or by the usual rule."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuviz.base.arrays import F64, I64
from gpuviz.recordings.measurement import Placement
from gpuviz.recordings.slots import slots_of
from gpuviz.run.run import Run
from gpuviz.words.language import tr


@dataclass(frozen=True, eq=False)
class BlockPlacement:
    """(B,) the multiprocessor and the slot in it of each block, when it came and when it left.

    `unit` is what times are in: nanoseconds as noted, or turns where all blocks last alike. `badge`
    and `sources` (wordings from the longest) say whose word it is; `measured` whether a GPU's.
    """

    sms: int
    slots: int
    sm: I64
    slot: I64
    start: F64
    end: F64
    measured: bool
    badge: str
    sources: tuple[str, ...]

    @cached_property
    def last(self) -> float:
        """When the last block leaves."""
        return float(self.end.max())

    def resident(self, now: float) -> int:
        """Blocks that are on the chip at a time."""
        return int(((self.start <= now) & (now < self.end)).sum())

    def left(self, now: float) -> int:
        """Blocks that have left."""
        return int((self.end <= now).sum())


def placed_of(run: Run, resident: int, sms: int) -> BlockPlacement:
    """Where the blocks of a run went; by the usual rule where nobody noted it.

    `resident` blocks fit a multiprocessor, of which the rule knows `sms`.
    """
    found, blocks = run.measurement, run.trace.launch.blocks
    noted = found.placement if found is not None else None
    if found is None or noted is None or len(noted.block) != blocks:
        return by_rule(blocks, resident, sms)
    order = np.argsort(noted.block)
    sm, start, end = (array[order] for array in (noted.sm, noted.start_ns, noted.end_ns))
    number = np.searchsorted(np.unique(sm), sm)
    count = max(found.device.multiprocessors, int(number.max()) + 1)
    slot = slots_of(Placement(np.arange(blocks), number, start, end))
    times = start.astype(np.float64), np.maximum(end, start + 1).astype(np.float64)
    sources = (
        tr("{device}, noting where and when blocks run: that takes time", device=found.gpu),
        tr("{device}; to note where blocks run takes time", device=found.gpu),
        found.gpu,
    )
    return BlockPlacement(
        count, int(slot.max()) + 1, number, slot, *times, True, found.badge, sources
    )


def by_rule(blocks: int, resident: int, sms: int) -> BlockPlacement:
    """Blocks dealt to multiprocessors in turn until all are full, then the next ones, all alike."""
    number, room = np.arange(blocks), max(resident, 1)
    turn = number // (sms * room)
    return BlockPlacement(
        sms,
        room,
        number % sms,
        number // sms % room,
        turn.astype(np.float64),
        (turn + 1).astype(np.float64),
        False,
        tr("model"),
        (
            tr("dealt in turn, every block as long as the others: nobody has noted where they ran"),
            tr("dealt in turn, all equally long: where they ran is not noted"),
            tr("dealt in turn, all equally long"),
        ),
    )
