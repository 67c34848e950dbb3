"""Which sectors of global memory many blocks load from, given where one does and how others shift.

Sectors are kept as spans, (S, 2) first and one after the last, ascending, with gaps between them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpuviz.base.arrays import I64, U64
from gpuviz.traces.trace import LANES

SECTOR = 32  # bytes
PAGE = 1 << 20  # sectors that are told together
_MOST = 1 << 22  # spans that are looked at together
NOWHERE: I64 = np.zeros((0, 2), np.int64)


def merged(spans: I64) -> I64:
    """Spans in any order as they are kept."""
    if not len(spans):
        return NOWHERE
    spans = spans[np.argsort(spans[:, 0], kind="stable")]
    reach = np.maximum.accumulate(spans[:, 1])
    opens = np.flatnonzero(np.append(True, spans[1:, 0] > reach[:-1]))
    return np.stack([spans[opens, 0], reach[np.append(opens[1:] - 1, len(spans) - 1)]], axis=1)


def sectors_of(addresses: I64) -> I64:
    """The spans of some ascending addresses."""
    sectors = np.unique(addresses // SECTOR)
    return merged(np.stack([sectors, sectors + 1], axis=1))


def shifted(addresses: I64, shifts: I64) -> I64:
    """Where addresses go that are shifted by each of some different numbers of bytes."""
    found = [NOWHERE]
    for rest in np.unique(shifts % SECTOR).tolist():
        own = sectors_of(addresses + rest)
        by = shifts[shifts % SECTOR == rest] // SECTOR
        step = max(1, _MOST // max(1, len(own)))
        for start in range(0, len(by), step):
            every = own[None] + by[start : start + step, None, None]
            found = [merged(np.concatenate([*found, every.reshape(-1, 2)]))]
    return found[0]


def addresses_in(spans: I64) -> Iterator[U64]:
    """(N, 32) an address in each sector, of a page at a time; the last row is filled up."""
    for page in range(*_pages(spans)):
        low, high = page * PAGE, (page + 1) * PAGE
        near = spans[np.searchsorted(spans[:, 1], low, "right") :]
        near = near[: np.searchsorted(near[:, 0], high)].clip(low, high)
        if not len(near):
            continue
        sizes = near[:, 1] - near[:, 0]
        before = np.cumsum(sizes) - sizes
        sectors = np.repeat(near[:, 0] - before, sizes) + np.arange(sizes.sum())
        rows = np.full(-(-len(sectors) // LANES) * LANES, sectors[0])
        rows[: len(sectors)] = sectors
        yield (rows.reshape(-1, LANES) * SECTOR).astype(np.uint64)


def _pages(spans: I64) -> tuple[int, int]:
    if not len(spans):
        return 0, 0
    return int(spans[0, 0]) // PAGE, int(spans[-1, 1] - 1) // PAGE + 1
