"""Easing: how far a movement has come, 0 to 1, at a share of its time, 0 to 1."""

import numpy as np

from gpuviz.base.arrays import F64, I64


def smooth(share: F64 | float) -> F64:
    """Starts and ends at rest (cubic); clipped outside 0 to 1."""
    x = np.clip(share, 0.0, 1.0)
    return np.asarray(x * x * (3.0 - 2.0 * x))


def out(share: F64 | float) -> F64:
    """Starts at full speed and comes to rest; clipped outside 0 to 1."""
    x = 1.0 - np.clip(share, 0.0, 1.0)
    return np.asarray(1.0 - x * x * x)


def progress(t: float, start: F64 | float, end: F64 | float) -> F64:
    """Share of each stretch [start, end] that is over at time t; an empty stretch jumps."""
    begin, stop = np.asarray(start, np.float64), np.asarray(end, np.float64)
    length = np.maximum(stop - begin, 1e-9)
    return np.asarray(np.clip((t - begin) / length, 0.0, 1.0))


def staggered(share: float, count: int, overlap: float = 0.5) -> F64:
    """(count,) progress of items that go one after another while `share` goes from 0 to 1.

    `overlap` is the part of its own time during which an item's successor is already under way.
    """
    span = 1.0 / (1.0 + (count - 1) * (1.0 - overlap)) if count else 1.0
    start: F64 = np.arange(count, dtype=np.float64) * span * (1.0 - overlap)
    return progress(share, start, start + span)


def passed(arrived: float) -> int:
    """How many of several things that come one after another are over.

    One that lacks a hundredth counts: stories are stopped just before the next step begins.
    """
    return int(arrived + 0.01)


def ticking(before: I64, after: I64, share: float) -> I64:
    """Counts on their way from one state to the next."""
    return np.asarray(before + np.rint((after - before) * share).astype(np.int64))
