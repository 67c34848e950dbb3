"""What bulk copies ask of L2, beside the requests of warps: bytes side by side, line by line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from gpuviz.base.arrays import I64
from gpuviz.timing.traffic import LINE, SECTOR, Traffic
from gpuviz.traces.trace import HANDOVERS, Trace


def runs_of(trace: Trace) -> tuple[I64, I64, I64]:
    """Bytes that bulk copies bring to shared memory: the row of the handovers, address, size."""
    events = trace.handovers
    empty = np.zeros(0, np.int64)
    if events is None:
        return empty, empty, empty
    plain = np.flatnonzero((events.kind == HANDOVERS.index("load")) & (events.source >= 0))
    return plain, events.source[plain], events.size[plain]


def with_copies(traffic: Traffic, trace: Trace) -> tuple[Traffic, Mapping[int, int]]:
    """The requests of warps and, after them, of bulk copies: of each event of the handovers that
    is one the number of its request.
    """
    row, address, size = runs_of(trace)
    if not len(row):
        return traffic, {}
    lines = (address + size - 1) // LINE - address // LINE + 1
    of = np.repeat(np.arange(len(row)), lines)
    number = np.arange(len(of)) - np.repeat(np.cumsum(lines) - lines, lines)
    line = address[of] // LINE + number
    low = np.maximum(address[of], line * LINE) % LINE // SECTOR
    high = (np.minimum(address[of] + size[of], (line + 1) * LINE) - 1) % LINE // SECTOR
    mask = (2 << high) - (1 << low)
    every, request = np.unique(row, return_inverse=True)
    order = np.argsort(request[of], kind="stable")
    first = np.searchsorted(request[of][order], np.arange(len(every) + 1)) + traffic.first[-1]
    lies = np.union1d(traffic.address, line.astype(np.uint64))
    old = np.searchsorted(lies, traffic.address)[traffic.line]
    new = np.searchsorted(lies, line[order].astype(np.uint64))
    count = len(traffic.first) - 1
    made = replace(
        traffic,
        first=np.concatenate([traffic.first[:-1], first]).astype(np.int64),
        line=np.concatenate([old, new]).astype(np.int32),
        mask=np.concatenate([traffic.mask, mask[order]]).astype(np.int32),
        partial=np.concatenate([traffic.partial, np.zeros(len(new))]).astype(np.int32),
        turns=np.concatenate([traffic.turns, np.diff(first)]).astype(np.int32),
        address=lies,
    )
    return made, dict(zip(every.tolist(), range(count, count + len(every)), strict=True))
