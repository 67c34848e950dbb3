"""The checks of a launch, one a row: what the command line, the window and the documents know.

What looks for them while a launch runs is in `gpuviz.ptx.checks`.
"""

from typing import NamedTuple

from gpuviz.base.errors import InputError
from gpuviz.traces.trace import Finding
from gpuviz.words.language import texts, tr


class CheckWords(NamedTuple):
    """One of the checks: its title, and what it finds."""

    title: str
    finds: str


CHECKS = {name: CheckWords(**row) for name, row in texts("checks")["checks"].items()}
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
    known = texts("checks")["findings"]
    return tr(known[one.kind]) if one.kind in known else one.kind
