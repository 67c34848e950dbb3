"""What becomes of the bytes that a request moves and does not use: whether others find them in L1.

A sector that is fetched for a few of its bytes is not wasted where a later request uses the rest
and finds it in L1. The requests of the recorded blocks are led through an H200's L1, in turns.
"""

from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.base.arrays import I64
from gpuviz.base.keeping import kept_with_first
from gpuviz.memory.request import Request
from gpuviz.memory.units import in_bytes
from gpuviz.timing.caches import Loads, Lookups, loads_of, lookups
from gpuviz.timing.device import H200
from gpuviz.timing.traffic import LINE, SECTOR
from gpuviz.traces.trace import Trace, lane_mask
from gpuviz.words.language import tr

L1 = H200.l1_bytes - H200.carve_outs[0]  # bytes, where no shared memory is asked for


@dataclass(frozen=True)
class Fate:
    """Of the `rest` of a request's sectors, in bytes, other loads of its blocks use so many as are
    `wanted`; `kept` says whether L1 still has them whenever they are asked for.
    """

    rest: int
    wanted: int
    kept: bool

    def said(self) -> str:
        """In a sentence; "" where nothing is left over."""
        if not self.rest:
            return ""
        if not self.wanted:
            return tr("No other request of its block asks for the rest.")
        if not self.kept:
            return tr("Other requests of its block use the rest, which L1 has lost by then.")
        if self.wanted == self.rest:
            return tr("Other requests of its block use all the rest, and find it in L1.")
        return tr(
            "Other requests of its block use {n} of the rest, and find it in L1.",
            n=in_bytes(self.wanted),
        )


@kept_with_first(4)
def _through_l1(trace: Trace) -> tuple[Loads, Lookups]:
    found = loads_of(trace, trace.recorded)
    return found, lookups(found, L1 // LINE)


def fate_of(trace: Trace, arch: Architecture, request: Request) -> Fate | None:
    """Of a load's bytes; None for a store, and where loads are not looked up in L1."""
    if request.is_store or not (arch.looks_in_l1 and arch.has_sectors):
        return None
    loads, found = _through_l1(trace)
    width = request.instruction.width
    own = _bytes(request.buffer.address + request.address[request.active], width)
    sectors = np.unique(own // SECTOR)
    every = trace.requests.select(loads.row)
    kind = np.array([i.width for i in trace.instructions], np.int64)[every.instruction]
    active = lane_mask(every.active)
    address = every.address.astype(np.int64)
    near = active & np.isin(address // SECTOR, sectors)
    others = np.concatenate(
        [own, *(_bytes(address[near & (kind == n)[:, None]], n) for n in np.unique(kind).tolist())]
    )
    others = np.unique(others[np.isin(others // SECTOR, sectors)])
    return Fate(
        len(sectors) * SECTOR - len(own), len(others) - len(own), _kept(loads, found, sectors)
    )


def _bytes(address: I64, width: int) -> I64:
    """Every byte of words, each once."""
    return np.unique(np.asarray(address, np.int64)[:, None] + np.arange(width))


def _kept(loads: Loads, found: Lookups, sectors: I64) -> bool:
    """Whether each of the sectors is missed once, and found whenever it is asked for again."""
    for sector in sectors.tolist():
        line, bit = divmod(sector, LINE // SECTOR)
        at = np.searchsorted(loads.address, line * LINE)
        asked = (loads.line == at) & (loads.mask >> bit & 1 == 1)
        if int((found.hit[asked] >> bit & 1 == 0).sum()) > 1:
            return False
    return True
