"""Records in files: plain values, as JSON and TOML have them, to typed records and back.

A record is a frozen dataclass. What does not fit its types is told by its place in the file:
`recordings/0/timing/median: expected a number, got "x"`. What a record does not know is left out.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from gpuviz.base.errors import FormatError

Record = TypeVar("Record")
Place = tuple[str | int, ...]

# A number or a nest beyond any sense; half a character, which is no text.
_SENSELESS = (OverflowError, RecursionError, UnicodeEncodeError)
_DIGITS = 20  # of a number of 64 bits, its sign included
_SHOWN = 60  # letters of a value that an error repeats
_AT = re.compile(r"(?s)(.*?)(?: - at (`key` in )?`\$(.*)`)?")
_STEP = re.compile(r"\.([^.\[\]]+)|\[([^\]]+)\]")
_EXPECTED = re.compile(r"Expected `([^`]+)`(.*?)(?:, got .*)?")
_UNKNOWN = re.compile(r"Invalid enum value .*")
_LACKS = re.compile(r"Object missing required field `(.+)`")
_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "null": "nothing",
}


def read(text: str | bytes, kind: type[Record], name: str) -> Record:
    """The record of a JSON text; errors begin with `name`, such as its file.

    Raises
    ------
    FormatError : it is no JSON, or does not fit; says where
    """
    return record(parsed(text, name), kind, name)


def parsed(text: str | bytes, name: str, *, rest: bool = False) -> Any:
    """The plain values of a JSON text; NaN and Infinity are numbers. A `rest` may follow it.

    Raises
    ------
    FormatError : it is no JSON
    """
    try:
        if rest and isinstance(text, str):
            return json.JSONDecoder(parse_int=_whole).raw_decode(text)[0]
        return json.loads(text, parse_int=_whole)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{name}: not JSON: {error}") from None


def record(plain: object, kind: type[Record], name: str) -> Record:
    """The record that plain values are of.

    Raises
    ------
    FormatError : they do not fit; says where
    """
    try:
        made: Record = _converted(plain, kind)
        return made
    except msgspec.ValidationError as error:
        raise FormatError(f"{name}: {_told(plain, kind, str(error))}") from None
    except _SENSELESS as error:
        raise FormatError(f"{name}: {error}") from None


def fields(plain: Mapping[str, object], kind: type) -> tuple[dict[str, Any], dict[str, str]]:
    """The values that fit the fields of a record, and by its name what is wrong with each other.

    For files that people write: one mistake does not hide the next.
    """
    good: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    hints = _hints(kind)
    for key, value in plain.items():
        if key not in hints:
            wrong[key] = f"{key} is not known here; known are: {', '.join(hints)}"
            continue
        try:
            good[key] = _converted(value, hints[key])
        except msgspec.ValidationError as error:
            wrong[key] = _told(value, hints[key], str(error), key)
        except _SENSELESS as error:
            wrong[key] = f"{key}: {error}"
    return good, wrong


def plain(made: object) -> Any:
    """A record as plain values; TypeError where it holds what is no record, text, number or list.

    Bytes are text in base64, arrays are lists.
    """
    return msgspec.to_builtins(made, enc_hook=_listed)


def text(made: object, indent: int | None = None) -> str:
    """A record as JSON."""
    return json.dumps(plain(made), indent=indent)


def _whole(digits: str) -> int | float:
    """A number without a point: beyond 64 bits it fits no field that counts, only a `float`."""
    value = int(digits) if len(digits) <= _DIGITS else 1 << 64
    return value if -(1 << 63) <= value < 1 << 64 else float(digits)


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _converted(plain: object, kind: Any) -> Any:
    return msgspec.convert(plain, kind, dec_hook=_array)


def _array(kind: Any, value: object) -> Any:
    """An array of a field's type (`F64`), never to be written to."""
    import numpy as np  # of no use to most records

    if get_origin(kind) is not np.ndarray:
        raise NotImplementedError(f"a record has a field of the type {kind}")
    (scalar,) = get_args(get_args(kind)[1])
    try:
        made = np.array(value, scalar)
    except (ValueError, TypeError, OverflowError):
        raise ValueError("expected lists of numbers, all of one length") from None
    made.setflags(write=False)
    return made


def _listed(value: Any) -> Any:
    """Arrays and NumPy's numbers as lists and numbers."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{value!r} cannot be in a file of records")


def _told(plain: object, kind: Any, message: str, name: str = "") -> str:
    """What msgspec says of plain values, with the place and the value, in words."""
    found = _AT.fullmatch(message)
    assert found is not None
    said, of_key, path = found[1], found[2], found[3] or ""
    place, value = _found(plain, kind, message, path)
    if lacks := _LACKS.fullmatch(said):
        what = f'"{lacks[1]}" is missing'
    elif expected := _EXPECTED.fullmatch(said):
        kinds = set(expected[1].split(" | "))
        kinds -= {"int"} if "float" in kinds else set()
        wanted = " or ".join(word for kind, word in _WORDS.items() if kind in kinds)
        what = f"expected {wanted}{expected[2]}"
        what += " as every name" if of_key else f", got {_shown(value)}"
    elif _UNKNOWN.fullmatch(said):
        what = f"{_shown(value)} is not one of those there are"
    else:
        what = f"{said[:1].lower()}{said[1:]}, got {_shown(value)}"
    where = "/".join(map(str, ([name] if name else []) + list(place)))
    return f"{where}: {what}" if where else what


def _shown(value: object) -> str:
    """A value as JSON, as far as it is short."""
    if isinstance(value, str):
        value = value[: _SHOWN + 1]
    pieces = json.JSONEncoder(default=str, ensure_ascii=False).iterencode(value)
    made = "".join(islice(pieces, _SHOWN + 1))
    return made if len(made) <= _SHOWN else f"{made[:_SHOWN]} …"


def _found(plain: Any, kind: Any, message: str, path: str) -> tuple[Place, object]:
    """The place that a path of msgspec means, `.recordings[0].counters[...]`, and what is there."""
    place: Place = ()
    for field, index in _STEP.findall(path):
        if index == "...":  # any name of a mapping
            name = _culprit(plain, place, kind, message)
            plain = _with_only(plain, place, [name])
            place = (*place, name)
        else:
            place = (*place, field or int(index))
    return place, _there(plain, place)


def _culprit(plain: Any, place: Place, kind: Any, message: str) -> str:
    """The first name of a mapping without which the message would be another one."""
    names: Sequence[str] = list(_there(plain, place))

    def fails(number: int) -> bool:
        try:
            _converted(_with_only(plain, place, names[: number + 1]), kind)
        except msgspec.ValidationError as error:
            return str(error) == message
        return False

    return names[bisect_left(range(len(names) - 1), True, key=fails)]


def _there(plain: Any, place: Place) -> Any:
    for step in place:
        plain = plain[step]
    return plain


def _with_only(plain: Any, place: Place, names: Sequence[str]) -> Any:
    """The plain values with only some names of the mapping at a place."""
    if not place:
        return {name: plain[name] for name in names}
    head, *rest = place
    inner = _with_only(plain[head], tuple(rest), names)
    if isinstance(plain, Mapping):
        return {**plain, head: inner}
    return [inner if number == head else one for number, one in enumerate(plain)]
