"""The checks of a launch, one a row: what the command line, the window and the documents know.

What looks for them while a launch runs is in `gpuviz.ptx.checks`.
"""

from typing import NamedTuple

from gpuviz.base.errors import InputError
from gpuviz.traces.trace import BESIDE, OUTSIDE, Finding
from gpuviz.words.language import later, tr


class CheckWords(NamedTuple):
    """One of the checks: its title, and what it finds."""

    title: str
    finds: str


CHECKS = {
    "memory": CheckWords(
        later("Memory"),
        later("accesses outside, misaligned, beside what malloc gave, or after free"),
    ),
    "race": CheckWords(
        later("Races"), later("threads that touch the same bytes in no order, one of them writing")
    ),
    "init": CheckWords(
        later("Initial values"),
        later("reads of shared, local and allocated memory that nobody wrote"),
    ),
    "sync": CheckWords(
        later("Synchronisation"),
        later("barriers, warp barriers, shuffles and votes that not everybody named comes to"),
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


def name_of(one: Finding) -> str:
    """What a finding is, in a few words."""
    known = {
        "race, read after write": tr("race: read after write"),
        "race, write after read": tr("race: write after read"),
        "race, write after write": tr("race: write after write"),
        OUTSIDE: tr("outside of all buffers"),
        BESIDE: tr("outside of shared memory"),
        "illegal local access": tr("outside of local memory"),
        "misaligned global access": tr("misaligned access of global memory"),
        "misaligned shared access": tr("misaligned access of shared memory"),
        "misaligned local access": tr("misaligned access of local memory"),
        "uninitialised shared read": tr("shared memory read before it was written"),
        "uninitialised local read": tr("local memory read before it was written"),
        "uninitialised global read": tr("memory read before it was written"),
        "barrier passed by": tr("threads that pass a barrier by"),
        "barriers apart": tr("threads at different barriers"),
        "member mask": tr("a mask that does not name who comes"),
        "shuffle from nobody": tr("a shuffle from a lane that is not there"),
    }
    return known.get(one.kind, one.kind)
