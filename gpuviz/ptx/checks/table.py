"""The checks, one a row: what the command line, the window and the documents know of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from gpuviz.errors import InputError
from gpuviz.language import later
from gpuviz.observe import Sink


class Check(NamedTuple):
    """One of the checks: its title, what it finds, and the sinks that do it.

    `make` is given whether the lanes of a warp run in lockstep (compute capability below 7.0).
    """

    title: str
    finds: str
    make: Callable[[bool], tuple[Sink, ...]]


def _memory(lockstep: bool) -> tuple[Sink, ...]:
    from gpuviz.ptx.checks.heap import HeapCheck

    return (HeapCheck(),)


def _race(lockstep: bool) -> tuple[Sink, ...]:
    from gpuviz.ptx.checks.race import RaceCheck

    return (RaceCheck(lockstep),)


def _init(lockstep: bool) -> tuple[Sink, ...]:
    from gpuviz.ptx.checks.init import InitCheck

    return (InitCheck(),)


def _sync(lockstep: bool) -> tuple[Sink, ...]:
    from gpuviz.ptx.checks.sync import SyncCheck

    return (SyncCheck(),)


CHECKS = {
    "memory": Check(
        later("Memory"),
        later("accesses outside, misaligned, beside what malloc gave, or after free"),
        _memory,
    ),
    "race": Check(
        later("Races"),
        later("threads that touch the same bytes in no order, one of them writing"),
        _race,
    ),
    "init": Check(
        later("Initial values"),
        later("reads of shared, local and allocated memory that nobody wrote"),
        _init,
    ),
    "sync": Check(
        later("Synchronisation"),
        later("barriers, warp barriers, shuffles and votes that not everybody named comes to"),
        _sync,
    ),
}
ALL = tuple(CHECKS)
NONE = ()


def chosen(text: str) -> tuple[str, ...]:
    """`memory,race`, `all` or `none` as checks, in the order of the table.

    Raises
    ------
    InputError : there is no such check
    """
    words = [word.strip() for word in text.split(",")]
    if words == ["all"]:
        return ALL
    if words == ["none"]:
        return NONE
    unknown = [word for word in words if word not in CHECKS]
    if unknown:
        raise InputError(
            f"there is no check {unknown[0]!r}: choose among {', '.join(CHECKS)}, all and none"
        )
    return tuple(name for name in CHECKS if name in words)


def sinks(checks: Iterable[str], lockstep: bool) -> tuple[Sink, ...]:
    """The sinks of some checks."""
    return tuple(sink for name in checks for sink in CHECKS[name].make(lockstep))
