"""The file that a sweep's finished cells are kept in: lines of JSON, added to as cells come.

The first line says what the sweep is, each other one what came of a cell. A line that was cut short
is left out, and overwritten.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from gpuviz import files, records
from gpuviz.errors import FormatError, InputError
from gpuviz.sweeps.axis import Cell
from gpuviz.sweeps.cell import Found, Outcome

_FORMAT, _VERSION = "gpuviz-sweep", 1


@dataclass(frozen=True)
class Head:
    """What decides every cell besides its own values; `of` is `Subject.says`."""

    of: Mapping[str, str]
    arch: str
    on: str
    level: str
    device: str = ""
    format: str = _FORMAT
    version: int = _VERSION


@dataclass(frozen=True)
class _Line:
    cell: Mapping[str, str]
    found: tuple[Found, ...] = ()
    error: str = ""
    seconds: float = 0.0


Key = tuple[tuple[str, str], ...]


def key(cell: Cell) -> Key:
    """A cell by its values, whatever their order."""
    return tuple(sorted(cell.items()))


class Record:
    """Cells of one sweep by their values, and the file they are added to."""

    def __init__(self, file: BinaryIO, outcomes: dict[Key, Outcome]) -> None:
        self._file = file
        self.outcomes = outcomes

    def add(self, cell: Cell, outcome: Outcome) -> None:
        """Keep what came of a cell; it survives the end of this process from now on.

        Raises
        ------
        InputError : it cannot be written
        """
        self.outcomes[key(cell)] = outcome
        line = _Line(dict(cell), outcome.found, outcome.error, round(outcome.seconds, 3))
        try:
            self._file.write(records.text(line).encode() + b"\n")
            self._file.flush()
        except OSError as error:
            raise InputError(
                f"cannot write {self._file.name}: {error.strerror or error}; the cells before are "
                "in it, the same command goes on with the rest"
            ) from None


@contextmanager
def kept(path: Path, head: Head) -> Iterator[Record]:
    """The record of a sweep in a file, with what is in it already.

    Raises
    ------
    InputError : the file cannot be read or written
    FormatError : it is of another sweep, or no sweep
    """
    if not path.exists():
        files.write(path, records.text(head) + "\n")
    try:
        with path.open("r+b") as file:
            yield Record(file, _read(file, head, path))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise InputError(f"cannot use {path}: {error.strerror or error}") from None


def _read(file: BinaryIO, head: Head, path: Path) -> dict[Key, Outcome]:
    """The whole lines; the file is left at their end."""
    first = file.readline(_LONGEST)
    name = f"{path} is no sweep, or damaged"
    have = records.read(first, Head, name)
    if (have.format, have.version) != (_FORMAT, _VERSION):
        raise FormatError(f"{path} is no sweep that this gpuviz reads")
    if have != head:
        different = _difference(have, head)
        raise FormatError(
            f"{path} holds another sweep ({different}): give another name with -o, or delete it"
        )
    outcomes: dict[Key, Outcome] = {}
    end = file.tell()
    while (line := file.readline(_LONGEST)).endswith(b"\n"):
        try:
            one = records.read(line, _Line, name)
        except FormatError:
            break
        outcomes[key(one.cell)] = Outcome(one.found, one.error, one.seconds)
        end = file.tell()
    file.seek(end)
    file.truncate()
    return outcomes


_LONGEST = 2**20  # bytes of a line


def _difference(have: Head, wanted: Head) -> str:
    """The first thing in which two sweeps differ."""
    had, want = ({**records.plain(one), **one.of} for one in (have, wanted))
    names = [name for name in {**had, **want} if name != "of" and had.get(name) != want.get(name)]
    name = names[0]
    return f"{name}: {had.get(name, 'none')} there, {want.get(name, 'none')} here"
