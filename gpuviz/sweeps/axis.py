"""What is varied, and through which values: `x=1..32`, `stride=1,2,4,8`, `arch=sm_80,sm_90`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from gpuviz.base.errors import InputError

ARCH = "arch"  # the axis of this name varies the architecture
MOST_CELLS = 65_536
Cell = Mapping[str, str]
"""One value for each axis, as text."""

_RANGE = re.compile(r"(-?\d{1,18})\.\.(-?\d{1,18})(?:(\.\.|\*)(\d{1,18}))?")
_FORM = "give NAME=FROM..TO, FROM..TO..STEP, FROM..TO*FACTOR, or values: NAME=A,B,C"


@dataclass(frozen=True)
class Axis:
    """A name and its values in their order, each once."""

    name: str
    values: tuple[str, ...]


def parse(text: str) -> Axis:
    """An axis as it is written on the command line.

    Raises
    ------
    InputError : it is not written so, or has too many values
    """
    name, equals, said = text.partition("=")
    if not (name.strip() and equals and said.strip()):
        raise InputError(f"--vary {text!r} names no values: {_FORM}")
    values = [value for part in said.split(",") for value in _values(part.strip(), text)]
    return Axis(name.strip(), tuple(dict.fromkeys(values)))


def _values(part: str, text: str) -> Sequence[str]:
    found = _RANGE.fullmatch(part)
    if found is None:
        if not part or ".." in part:
            raise InputError(f"--vary {text!r}: {part!r} is no value or range: {_FORM}")
        return (part,)
    first, last, how, by = int(found[1]), int(found[2]), found[3], int(found[4] or 1)
    if last < first:
        raise InputError(f"--vary {text!r}: {part} goes down; write the smaller number first")
    if how == "*":
        if by < 2 or first < 1:
            raise InputError(
                f"--vary {text!r}: {part} never arrives; multiply by 2 or more, from 1"
            )
        return tuple(map(str, _powers(first, last, by)))
    if by < 1:
        raise InputError(f"--vary {text!r}: {part} has steps of 0")
    if (last - first) // by >= MOST_CELLS:
        raise InputError(f"--vary {text!r} has more than {MOST_CELLS:,} values: take larger steps")
    return tuple(map(str, range(first, last + 1, by)))


def _powers(first: int, last: int, by: int) -> Iterator[int]:
    while first <= last:
        yield first
        first *= by


def cells(axes: Sequence[Axis]) -> tuple[Cell, ...]:
    """Every combination, the last axis changing slowest (rows of a map are its values).

    Raises
    ------
    InputError : no axis, more than two, one twice, or too many cells
    """
    names = [axis.name for axis in axes]
    if not 1 <= len(names) <= 2 or len(set(names)) != len(names):
        raise InputError(
            f"one or two different things can be varied, not {', '.join(names) or 'none'}"
        )
    count = 1
    for axis in axes:
        count *= len(axis.values)
    if count > MOST_CELLS:
        raise InputError(f"{count:,} cells are too many: at most {MOST_CELLS:,}")
    each = product(*(axis.values for axis in reversed(axes)))
    return tuple(dict(zip(reversed(names), values, strict=True)) for values in each)
