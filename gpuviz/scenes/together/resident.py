"""How many blocks a GPU held at once on one multiprocessor, from when and where each one ran."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.runners.base import Run
from gpuviz.runners.measurement import Placement
from gpuviz.words import tr


def most_at_once(placement: Placement) -> int:
    """The largest number of blocks that ran on one multiprocessor at the same time.

    A block that ends at the moment another starts has made room for it.
    """
    moments = np.concatenate([placement.start_ns, placement.end_ns])
    change = np.repeat([1, -1], len(placement.block))
    sm = np.concatenate([placement.sm, placement.sm])
    order = np.lexsort((change, moments, sm))
    # Every block that started on a multiprocessor has ended on it: the sum starts over at 0.
    return int(np.cumsum(change[order]).max(initial=0))


@dataclass(frozen=True)
class Resident:
    """What was measured: blocks at once, the badge, and wordings from long to short."""

    blocks: int | None
    badge: str
    texts: tuple[str, ...]


def resident_of(run: Run) -> Resident:
    """What a GPU's run of this launch tells."""
    measurement = getattr(run, "measurement", None)
    placement = getattr(measurement, "placement", None)
    if measurement is None or placement is None:
        return Resident(None, tr("unavailable"),
                        (tr("blocks at once on one multiprocessor: no GPU and no recording"),
                         tr("measured: no GPU and no recording")))  # fmt: skip
    blocks, device = most_at_once(placement), measurement.device.name
    badge = tr("recorded") if measurement.badge == "recorded" else tr("live")
    grid, sms = run.trace.launch.blocks, measurement.device.multiprocessors
    return Resident(blocks, badge, (
        tr("at most {n} blocks at once on one multiprocessor; {grid} blocks on {sms} of them, "
           "{device}", n=blocks, grid=grid, sms=sms, device=device),
        tr("at most {n} blocks at once, {device}", n=blocks, device=device)))  # fmt: skip
