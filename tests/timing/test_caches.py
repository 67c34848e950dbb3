"""L1 as the lesson on caches shows it: against a cache written down as plainly as can be."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import pytest

from gpuviz.timing.caches import Loads, lookups, missed_by_size


def loads(seed: int = 3, count: int = 3000, lines: int = 60) -> Loads:
    random = np.random.default_rng(seed)
    line = (random.random(count) ** 2 * lines).astype(np.int32)
    mask = random.integers(1, 16, count).astype(np.int32)
    number = np.arange(count)
    return Loads(number, np.arange(count + 1), line, mask, np.arange(lines) * 128)


def plainly(given: Loads, capacity: int) -> tuple[list[int], list[int]]:
    """What is hit, and when each line asked for is driven out."""
    held: OrderedDict[int, int] = OrderedDict()
    hit, gone, asked = [], [len(given.line)] * len(given.line), {}
    for i, (line, mask) in enumerate(zip(given.line.tolist(), given.mask.tolist(), strict=True)):
        there = held.pop(line, 0)
        if not there and len(held) == capacity:
            out, _ = held.popitem(last=False)
            gone[asked[out]] = i
        hit.append(mask & there)
        held[line], asked[line] = there | mask, i
    return hit, gone


@pytest.mark.parametrize("capacity", [1, 7, 20, 60])
def test_least_recently_used_lines_make_room(capacity: int) -> None:
    given = loads()
    hit, gone = plainly(given, capacity)
    found = lookups(given, capacity)
    assert found.hit.tolist() == hit and found.gone.tolist() == gone
    missed = sum(int(m).bit_count() for m in given.mask) - sum(int(h).bit_count() for h in hit)
    assert found.missed == missed


def test_a_larger_cache_never_misses_more_and_none_misses_all() -> None:
    given = loads()
    missed = missed_by_size(given, tuple(128 * n for n in (0, 1, 4, 16, 60)))
    assert missed[0] == given.sectors and (np.diff(missed) < 0).all()
    assert missed[-1] == len(np.unique(np.repeat(given.line, 4)[_asked(given)] * 4 + _bit(given)))


def _asked(given: Loads) -> np.ndarray:
    return np.asarray((given.mask[:, None] >> np.arange(4) & 1).ravel() == 1)


def _bit(given: Loads) -> np.ndarray:
    return np.tile(np.arange(4), len(given.line))[_asked(given)]
