"""How far a launch is, for who waits at a terminal."""

from __future__ import annotations

import time

from gpuviz.terminal import passing

_SOON = 1.5  # seconds for which nobody is told to wait
_EVERY = 0.2


class Waiting:
    """Tells of a fraction done, and of the time that is left if the rest is done as fast."""

    def __init__(self) -> None:
        self._begun = self._told = time.monotonic()
        self._before = 0.0

    def __call__(self, fraction: float) -> None:
        """So much is done; less than before begins anew."""
        now = time.monotonic()
        if fraction < self._before:
            self._begun = now
        self._before = fraction
        spent = now - self._begun
        if spent < _SOON or now - self._told < _EVERY:
            return
        self._told = now
        left = f", about {remaining(spent, fraction)} left" if 0 < fraction < 1 else ""
        passing("" if fraction >= 1 else f"emulating: {fraction:.0%}{left} (Ctrl+C stops)")


def remaining(spent: float, fraction: float) -> str:
    """The time left, in words."""
    seconds = spent * (1 - fraction) / fraction
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
