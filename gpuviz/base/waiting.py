"""How long somebody waits for work: what it may take, how much of that is left; who asks it to
stop, and how work that waits for another program hears of it.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

SECONDS = 60.0  # what somebody at a desk may wait for
CHOICES = (5.0, 15.0, SECONDS, 300.0, 1800.0)  # of seconds
_SOON = 1.5  # seconds for which nobody is told to wait


def longer(seconds: float) -> float:
    """The next choice: what somebody may wait for who goes on."""
    return next((one for one in CHOICES if one > seconds), seconds)


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


Cancel = Callable[[], bool]  # asked now and then; True stops the work with errors.Cancelled
Progress = Callable[[float], None]  # called with the fraction done, 0 to 1


def quiet(fraction: float) -> None:
    """A `Progress` that tells nobody."""


def go_on() -> bool:
    """A `Cancel` that never cancels."""
    return False


_asked: ContextVar[Cancel] = ContextVar("asked whether to stop", default=go_on)


@contextmanager
def stopped_by(cancel: Cancel) -> Iterator[None]:
    """Programs that this thread waits for meanwhile are ended when `cancel` says so: `Cancelled`.

    A compiler is far below what a user stops: nobody on the way there has to know of it.
    """
    token = _asked.set(cancel)
    try:
        yield
    finally:
        _asked.reset(token)


def unwanted() -> bool:
    """Whether what this thread waits for is not wanted any more."""
    return _asked.get()()
