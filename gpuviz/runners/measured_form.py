"""What the records of a file of measurements must look like, as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gpuviz.errors import FormatError

LANES = 32
Test = Callable[[Any], bool]


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**62


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _list(test: Test) -> Test:
    return lambda value: isinstance(value, list) and all(map(test, value))


def _lanes(value: Any) -> bool:
    return _list(_whole)(value) and len(value) == LANES


def _object(test: Test) -> Test:
    return lambda value: isinstance(value, dict) and all(map(test, value.values()))


# field: whether it must be there, what its value must be, and that in words
LAUNCH: Mapping[str, tuple[bool, Test, str]] = {
    "source": (True, _text, "a text"),
    "entry": (False, _text, "a text"),
    "grid": (True, _list(_whole), "a list of whole numbers"),
    "block": (True, _list(_whole), "a list of whole numbers"),
    "args": (True, _list(_text), "a list of texts"),
    "defines": (False, _object(lambda v: _text(v) or _whole(v)), "an object of texts"),
    "dynamic_shared": (False, _whole, "a whole number"),
    "measured": (False, _object(lambda v: v is None or _number(v)), "an object of numbers"),
}
CASE: Mapping[str, tuple[bool, Test, str]] = {
    "op": (True, _text, "a text"),
    "width_bytes": (True, _whole, "a whole number"),
    "index": (True, _lanes, f"a list of {LANES} whole numbers"),
    "wavefronts": (True, _number, "a number"),
}


def records(
    content: Mapping[str, Any], kind: str, form: Mapping[str, tuple[bool, Test, str]]
) -> tuple[Mapping[str, Any], ...]:
    """The records under "launches" or "cases" of a file, each of the given form.

    Raises
    ------
    FormatError : names the record, the field and what it should be
    """
    found = content.get(kind, [])
    if not isinstance(found, list):
        raise FormatError(f'"{kind}" is not a list')
    for number, record in enumerate(found):
        if not isinstance(record, dict):
            raise FormatError(f"{kind}[{number}] is not an object")
        _check(record, f"{kind}[{number}] {record.get('name', '')}".rstrip(), form)
    return tuple(found)


def _check(
    record: Mapping[str, Any], name: str, form: Mapping[str, tuple[bool, Test, str]]
) -> None:
    for field, (needed, fits, words) in form.items():
        if field not in record:
            if needed:
                raise FormatError(f'{name} has no "{field}"')
        elif not fits(record[field]):
            raise FormatError(f'{name}: "{field}" is not {words}')
