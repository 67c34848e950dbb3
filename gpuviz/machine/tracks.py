"""How busy what all warps of a multiprocessor share is, over a timeline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.arrays import F32, F64
from gpuviz.machine.simulation import PARTS
from gpuviz.machine.timeline import Timeline

SECTORS = 4.0  # that L1 can give in a cycle: a line


@dataclass(frozen=True, eq=False)
class Busy:
    """(columns,) the part that is used of what there is, 0 to 1, of `resource`: "issue" (slots),
    "lsu" (L1 and shared memory at work), "l1" (sectors found there), "l2" and "dram" (at work, of
    this multiprocessor's share). `lost` (columns,) of "l1" are sectors that were not there.
    """

    resource: str
    used: F64
    lost: F64 | None = None


def tracks(timeline: Timeline, begin: float, end: float, columns: int) -> tuple[Busy, ...]:
    """The resources between two cycles, in equal columns."""
    e, edges = timeline.events, np.linspace(begin, end, columns + 1)
    wide = (end - begin) / columns
    issued = np.histogram(e.at + 0.5, edges)[0] / (PARTS * wide)
    hit, missed = (
        np.histogram(e.end, edges, weights=sectors)[0] / (SECTORS * wide)
        for sectors in (e.hit, e.missed)
    )
    whole = np.maximum(hit + missed, 1.0)
    return (
        Busy("issue", np.minimum(issued, 1.0)),
        Busy("lsu", _worked(e.begin, e.end, edges)),
        Busy("l1", hit / whole, missed / whole),
        Busy("l2", _worked(e.l2_end - e.l2_busy, e.l2_end, edges)),
        Busy("dram", _worked(e.dram_end - e.dram_busy, e.dram_end, edges)),
    )


def _worked(begin: F32, end: F32, edges: F64) -> F64:
    """The part of each column in which something works that does one thing after another."""
    some = np.flatnonzero(end > begin)
    if not len(some):
        return np.zeros(len(edges) - 1)
    order = some[np.argsort(end[some], kind="stable")]
    low, high = begin[order].astype(np.float64), end[order].astype(np.float64)
    done = np.cumsum(high - low)
    at = np.stack([low, high], axis=1).ravel()
    amount = np.stack([done - (high - low), done], axis=1).ravel()
    found = np.diff(np.interp(edges, np.maximum.accumulate(at), amount))
    return np.asarray(np.clip(found / np.diff(edges), 0.0, 1.0), np.float64)
