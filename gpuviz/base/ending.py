"""Told to end by a signal (Ctrl+C, a closed terminal, a desktop that ends): what is half written is
taken away, and the exit status is 128 + the signal's number, as shells have it.
"""

import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
_PATIENCE = 1.0  # seconds in which what is told again is no more than a second press
_told: list[int] = []
_since = [0.0]


def told() -> int:
    """The exit status when this process was told to end, else 0: libraries may make an error of
    their own of what is raised then, or nothing.
    """
    return 128 + _told[0] if _told else 0


def obey() -> None:
    """Raise at these signals from now on; when told again within a second, go on ending."""
    _call(_end)


def note() -> None:
    """Raise nothing from now on, for who would take it, or die of it, and asks `told` himself."""
    _call(lambda number, frame: _told.append(number))


def _call(end: Callable[[int, FrameType | None], object]) -> None:
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
            signal.signal(number, end)


def over() -> None:
    """All is done: what comes now comes too late to change the exit status."""
    exec("")  # else CPython recalls an `exec` that was stopped, and ends by the signal itself
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # else CPython's end dies of the signal itself


def _end(number: int, frame: object) -> None:
    again = bool(_told) and time.monotonic() - _since[0] < _PATIENCE
    _told.append(number)
    if not again:
        _since[0] = time.monotonic()
        _raise(number)


def _raise(number: int) -> NoReturn:
    raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)
