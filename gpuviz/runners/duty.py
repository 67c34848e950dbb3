"""How long a GPU may be kept busy: a share of the time, a little of it in advance."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

AHEAD_SECONDS = 3.0  # of being busy that a rested GPU may have at once: figures come soon


class Duty:
    """Spends a share of the wall time, from 0 to 1, whatever is measured meanwhile."""

    def __init__(self, share: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.share, self._clock = share, clock
        self._left, self._since = AHEAD_SECONDS, clock()

    def spend(self, busy: float) -> None:
        """The GPU was busy for so many seconds, which ended now."""
        self._left = self._now() - busy

    @contextmanager
    def busy(self) -> Iterator[None]:
        """The GPU is busy meanwhile."""
        began = self._clock()
        try:
            yield
        finally:
            self.spend(self._clock() - began)

    @property
    def due(self) -> float:
        """Seconds to wait until it may be busy again."""
        return max(0.0, -self._now() / self.share)

    def _now(self) -> float:
        """Seconds that may be spent now; what is not used is not kept for long."""
        now = self._clock()
        earned = (now - self._since) * self.share
        self._left, self._since = min(self._left + earned, AHEAD_SECONDS), now
        return self._left
