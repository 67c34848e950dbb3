"""What each number of stages of a ring keeps under way, needs, and takes: a table."""

from __future__ import annotations

from collections.abc import Sequence

from gpuviz.panels.table import Column, Table
from gpuviz.run.run import Run
from gpuviz.story.measured import time_column, time_of
from gpuviz.words.language import grouped, tr


def stage_table(
    runs: Sequence[Run], counts: Sequence[int], ahead: Sequence[int], tile: int, shown: int
) -> Table:
    """Runs with so many stages of `tile` bytes each, `ahead` of which may be on their way."""
    return Table(
        (
            Column((tr("stages"),), tuple(map(str, counts))),
            Column((tr("tiles on their way"), tr("on the way")), tuple(map(str, ahead))),
            Column(
                (tr("bytes on their way in a block"), tr("bytes")),
                tuple(grouped(n * tile) for n in ahead),
            ),
            Column(
                (tr("shared memory of a block"), tr("shared")),
                tuple(grouped(n * tile) for n in counts),
                optional=1,
            ),
            *time_column([time_of(run) for run in runs], always=True),
        ),
        counts.index(shown),
    )
