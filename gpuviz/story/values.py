"""Parameter values as the numbers that they are."""

from __future__ import annotations

from gpuviz.base.errors import InputError
from gpuviz.story.lesson import Value, Values
from gpuviz.words.language import tr


def number(values: Values, name: str) -> int:
    """A whole-number parameter.

    Raises
    ------
    InputError : it is a word
    """
    value: Value = values[name]
    if isinstance(value, str):
        raise InputError(f"{name} is {value!r}; it has to be a whole number")
    return int(value)


def no_such_warp(values: Values) -> str:
    """Why a block of `threads` threads cannot show its warp `warp`, or ""."""
    warp, threads = number(values, "warp"), number(values, "threads")
    if warp * 32 >= threads:
        return tr(
            "A block of {threads} threads has no warp {warp}: its last one is warp {last}.",
            threads=threads,
            warp=warp,
            last=threads // 32 - 1,
        )
    return ""
