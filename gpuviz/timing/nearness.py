"""What other multiprocessors have brought to L2 before this one asks for it.

A few multiprocessors were simulated as if each were alone: when each first touched each line is
known. How often one of them came clearly before another, at each stage of a launch, says how likely
it is that any of all the others did. Where all do the same at the same time, nobody comes before.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpuviz.base.arrays import F64

_STAGES = 12


def nearness(touched: Sequence[F64], latency: float, active: int) -> list[F64]:
    """For each multiprocessor (L,): the probability that a line is in L2 when it first asks.

    `touched` (L,) are the cycles in which each first touched each line, -1 for never.
    """
    when = np.array([np.where(t < 0, np.inf, t) for t in touched])
    return [_of(when, own, latency, active) for own in range(len(when))]


def _of(when: F64, own: int, latency: float, active: int) -> F64:
    found = np.zeros(when.shape[1])
    lines = np.flatnonzero(np.isfinite(when[own]))
    if len(when) == 1 or not len(lines):
        return found
    mine = when[own][lines]
    before = (np.delete(when, own, 0)[:, lines] + latency < mine).mean(axis=0)
    order = np.argsort(mine, kind="stable")
    for stage in np.array_split(order, min(_STAGES, len(order))):
        found[lines[stage]] = 1.0 - (1.0 - before[stage].mean()) ** (active - 1)
    return found
