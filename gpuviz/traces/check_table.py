"""The checks of a launch, one a row: what the command line, the window and the documents know.

What looks for them while a launch runs is in `gpuviz.ptx.checks`.
"""

from typing import NamedTuple

from gpuviz.base.errors import InputError
from gpuviz.words.language import later


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
