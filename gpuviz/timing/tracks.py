"""How busy what all warps of a multiprocessor share is, over a timeline."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from gpuviz.base.arrays import F32, F64
from gpuviz.timing.multiprocessor import PARTS
from gpuviz.timing.timeline import Timeline

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
    edges, curves = np.linspace(begin, end, columns + 1), _curves(timeline)
    wide = (end - begin) / columns

    def share(name: str, most: float = 1.0) -> F64:
        return np.asarray(curves[name].between(edges) / (most * wide), np.float64)

    hit, missed = share("hit", SECTORS), share("missed", SECTORS)
    whole = np.maximum(hit + missed, 1.0)
    return (
        Busy("issue", np.minimum(share("issue", PARTS), 1.0)),
        Busy("lsu", np.clip(share("lsu"), 0.0, 1.0)),
        Busy("l1", hit / whole, missed / whole),
        Busy("l2", np.clip(share("l2"), 0.0, 1.0)),
        Busy("dram", np.clip(share("dram"), 0.0, 1.0)),
    )


@dataclass(frozen=True, eq=False)
class _Curve:
    """An amount that has come by each of some cycles, in order; evenly between where it `flows`."""

    at: F64
    amount: F64
    flows: bool

    def between(self, edges: F64) -> F64:
        """What comes from each edge to the next."""
        if not len(self.at):
            return np.zeros(len(edges) - 1)
        if self.flows:
            return np.diff(np.interp(edges, self.at, self.amount))
        come = np.concatenate([[0.0], self.amount])
        return np.diff(come[np.searchsorted(self.at, edges, side="left")])


@lru_cache(maxsize=4)
def _curves(timeline: Timeline) -> dict[str, _Curve]:
    """What is worked and moved, added up once for all zooms."""
    e = timeline.events
    order = np.argsort(e.end, kind="stable")
    ended = e.end[order].astype(np.float64)
    found = {
        name: _Curve(ended, np.cumsum(sectors[order], dtype=np.float64), False)
        for name, sectors in (("hit", e.hit), ("missed", e.missed))
    }
    issued = np.arange(1, len(e) + 1, dtype=np.float64)
    return found | {
        "issue": _Curve(e.at.astype(np.float64), issued, False),
        "lsu": _work(e.begin, e.end),
        "l2": _work(e.l2_end - e.l2_busy, e.l2_end),
        "dram": _work(e.dram_end - e.dram_busy, e.dram_end),
    }


def _work(begin: F32, end: F32) -> _Curve:
    """The cycles worked by something that does one thing after another."""
    some = np.flatnonzero(end > begin)
    order = some[np.argsort(end[some], kind="stable")]
    low, high = begin[order].astype(np.float64), end[order].astype(np.float64)
    done = np.cumsum(high - low)
    at = np.stack([low, high], axis=1).ravel()
    amount = np.stack([done - (high - low), done], axis=1).ravel()
    return _Curve(np.maximum.accumulate(at), amount, True)
