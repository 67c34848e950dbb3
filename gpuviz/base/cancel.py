"""Who asks work to stop, and how work that waits for another program hears of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Cancel = Callable[[], bool]  # asked now and then; True stops the work with errors.Cancelled


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
