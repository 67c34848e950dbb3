"""Shared memory of compute capability 1.x: half warps, 16 banks, one word broadcast a pass.

Source: CUDA C Programming Guide 5.5, G.3.3. A pass of a load delivers one word to all lanes that
want anything of it, and one lane's address from every other bank. Which word is broadcast is not
documented; taken is, of the fullest bank, the word most lanes want.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpuviz.base.arrays import I64, U64, Bool
from gpuviz.memory.lanes import any_active, grouped, summed
from gpuviz.traces.trace import Op

BANKS = 16
HALF = 16
Passes = Iterator[Bool]


def requests_of(width: int) -> int:
    """A 64-bit access is two 32-bit requests, a 128-bit one four (of every half warp)."""
    return max(1, width // 4)


def tesla_passes(address: U64, active: Bool, width: int, op: Op) -> tuple[I64, I64]:
    """(N,) passes and conflict-free passes of (N, 32) requests of `width` bytes a lane."""
    on = grouped(active, 2)
    count = np.zeros(len(on), dtype=np.int64)
    for word in range(requests_of(width)):
        half = grouped(address, 2) + np.uint64(4 * word)
        for served in passes(half, on, op):
            count += served.any(axis=1)
    return summed(count, 2), any_active(active, 2) * requests_of(width)


def passes(half: U64, on: Bool, op: Op) -> Passes:
    """The lanes served by each pass over (M, 16) half-warp requests, until none is left.

    A store has no broadcast: lanes that store to one address share a pass (one of them wins).
    """
    step = _load_pass if op == "load" else _store_pass
    left = on.copy()
    while left.any():
        served = step(half, left)
        yield served
        left &= ~served


def _load_pass(half: U64, left: Bool) -> Bool:
    """One pass of a load: the broadcast word, and the first lane of every other bank."""
    word = half // np.uint64(4)
    bank = word % np.uint64(BANKS)
    same_bank = _pairs(bank, left)
    crowd = same_bank.sum(axis=2) * (HALF + 1) + _pairs(word, left).sum(axis=2)
    chosen = np.where(left, crowd, -1).argmax(axis=1)[:, None]
    broadcast = left & (word == np.take_along_axis(word, chosen, axis=1))
    other = left & (bank != np.take_along_axis(bank, chosen, axis=1))
    return np.asarray(broadcast | (other & ~_earlier(same_bank)), dtype=bool)


def _store_pass(half: U64, left: Bool) -> Bool:
    """One pass of a store: the first address of every bank."""
    bank = half // np.uint64(4) % np.uint64(BANKS)
    leader = left & ~_earlier(_pairs(bank, left))
    return np.asarray((_pairs(half, left) & leader[:, None, :]).any(axis=2), dtype=bool)


def _pairs(value: U64, left: Bool) -> Bool:
    """(M, 16, 16): lanes i and j are both left and have the same value."""
    both = left[:, :, None] & left[:, None, :]
    return np.asarray((value[:, :, None] == value[:, None, :]) & both, dtype=bool)


def _earlier(same: Bool) -> Bool:
    """(M, 16): a lane with a lower number shares the property."""
    return np.asarray(np.tril(same, -1).any(axis=2), dtype=bool)
