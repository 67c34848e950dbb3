"""How far a launch is, for who waits at a terminal."""

from __future__ import annotations

import time

from gpuviz.base.waiting import TimeLeft
from gpuviz.words.terminal import passing

_EVERY = 0.2  # seconds


class Waiting:
    """Tells of a fraction done, and of the time that is left."""

    def __init__(self) -> None:
        self._left = TimeLeft()
        self._told = time.monotonic()

    def __call__(self, fraction: float) -> None:
        """So much is done."""
        left, now = self._left.at(fraction), time.monotonic()
        if fraction >= 1:
            passing("")
        elif left and now - self._told >= _EVERY:
            self._told = now
            passing(f"emulating: {fraction:.0%}, about {left} left (Ctrl+C stops)")
