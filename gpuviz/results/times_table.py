"""The durations that the timing panel has, as a table."""

from __future__ import annotations

from collections.abc import Mapping

from gpuviz.recordings.measurement import Measurement
from gpuviz.results.count_tables import timed_badge
from gpuviz.results.table import Table
from gpuviz.results.timings import Series

HEAD = ("run", "size", "launch", "microseconds", "badge")


def times_table(series: Mapping[str, Series], known: Mapping[str, Measurement]) -> Table:
    """A row a launch, numbered from the first one of its run; each says where it is from."""
    rows: list[tuple[str, ...]] = []
    for run, one in series.items():
        source = timed_badge(known[run]) if run in known else one.badge
        first = one.launches - len(one.microseconds) + 1
        rows += [
            (run, one.size, str(first + number), f"{time:.6g}", source)
            for number, time in enumerate(one.microseconds.tolist())
        ]
    return Table(HEAD, tuple(rows))
