"""How long somebody waits for a launch: what it may take, and how much of that is left."""

from __future__ import annotations

import time
from collections.abc import Callable

SECONDS = 60.0  # what somebody at a desk may wait for
CHOICES = (5.0, 15.0, SECONDS, 300.0, 1800.0)  # of seconds
_SOON = 1.5  # seconds for which nobody is told to wait


class TimeLeft:
    """Is told the fraction done, 0 to 1, from time to time; the rest is taken to be as fast."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begun, self._before = clock(), 0.0

    def at(self, fraction: float) -> str:
        """The time left, "12 s", or "" while it is too soon; less than before begins anew."""
        now = self._clock()
        if fraction < self._before:
            self._begun = now
        self._before = fraction
        spent = now - self._begun
        return remaining(spent, fraction) if spent >= _SOON and 0 < fraction < 1 else ""


def remaining(spent: float, fraction: float) -> str:
    """The time left, in words, where so many seconds were spent on a fraction."""
    seconds = spent * (1 - fraction) / fraction
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
