"""Parameter values as the numbers that they are."""

from __future__ import annotations

from gpuviz.errors import InputError
from gpuviz.scenes.base import Value, Values


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
