"""Where a count comes from: the line of the kernel that has most of it."""

from __future__ import annotations

from collections import Counter

from gpuviz.memory.counts import Count, find
from gpuviz.run.run import Run

# Bounds over all loads, which no instruction has by itself: shown where the sectors come from.
_INSTEAD = {
    Count.L2_LOAD_SECTORS_LEAST: Count.GLOBAL_LOAD_SECTORS,
    Count.L2_LOAD_SECTORS_MOST: Count.GLOBAL_LOAD_SECTORS,
}


def dearest_line(run: Run, counter: str) -> int:
    """The line of the source that counts most of this; 0 where none does."""
    count = find(counter)
    if count is None:
        return 0
    count = _INSTEAD.get(count, count)
    lines: Counter[int] = Counter()
    for row in run.counts.rows:
        lines[row.instruction.line] += row.counts.get(count, 0)
    ((line, most),) = lines.most_common(1) or [(0, 0)]
    return line if most else 0
