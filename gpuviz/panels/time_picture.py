"""The pictures of where the time of a launch goes: the timeline, and what limits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpuviz.panels.layout import at_least, columns, first, rows, share
from gpuviz.panels.limit_bars import LimitBars, WhatIfs, bars_of
from gpuviz.panels.limit_words import limit_sentence, model_note, size_note, time_words
from gpuviz.panels.picture import Picture
from gpuviz.panels.warp_timeline import WarpTimeline
from gpuviz.timing.explained import Explained


def timeline_picture(
    e: Explained, source: Sequence[str] = (), begin: float = 0.0, end: float = 0.0
) -> Picture:
    """The multiprocessor that takes longest, from a cycle to another (0: to the end), as
    far as it was recorded.
    """
    record = e.timeline
    shown = WarpTimeline(record, max(begin, record.since), min(end or np.inf, record.recorded))
    return Picture(limit_sentence(e, source), notes(e), shown)


def limits_picture(e: Explained, source: Sequence[str] = ()) -> Picture:
    """Bars of what each resource takes, and what would be without."""
    bars = LimitBars(bars_of(e), e.prediction.cycles, e.limits.limiter)
    what_ifs = WhatIfs(e)
    body = first(
        at_least(columns(share(3, bars), share(2, what_ifs)), width=62), rows(bars, what_ifs)
    )
    return Picture(limit_sentence(e, source), notes(e), body)


def notes(e: Explained) -> str:
    """The time, what was looked at, and how far the model can be trusted."""
    said = time_words(e), size_note(e), model_note(e.timeline.device)
    return " · ".join(filter(None, said))
