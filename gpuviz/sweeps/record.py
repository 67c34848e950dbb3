"""The file that a sweep's finished cells are kept in: lines of JSON, added to as cells come.

The first line says what the sweep is, each other one what came of a cell. A line that was cut short
is left out, and overwritten. What ships is packed with gzip, and only read.
"""

import gzip
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from gpuviz.base import records
from gpuviz.base.errors import FormatError, InputError
from gpuviz.files import bounded
from gpuviz.files import writing as files
from gpuviz.recordings.measurement import DeviceFacts
from gpuviz.run.run import Level
from gpuviz.sweeps.axis import Cell
from gpuviz.sweeps.cell import Found, On, Outcome

_FORMAT, _VERSION = "gpuviz-sweep", 1


@dataclass(frozen=True)
class SweepOrigin:
    """How cells were measured: on which GPU, from which day on, how many launches were timed."""

    gpu: DeviceFacts
    date: str
    repeats: int


@dataclass(frozen=True)
class Head:
    """What decides every cell besides its own values; `of` is `Subject.says`. `made` is told, and
    decides nothing: a sweep may be gone on with on another day.
    """

    of: Mapping[str, str]
    arch: str
    on: On
    level: Level
    device: str = ""
    made: SweepOrigin | None = field(default=None, compare=False)
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
            self._file.write(records.text(_brief(records.plain(line))).encode() + b"\n")
            self._file.flush()
        except OSError as error:
            raise InputError(
                f"cannot write {self._file.name}: {error.strerror or error}; the cells before are "
                "in it, the same command goes on with the rest"
            ) from None


def _brief(said: object) -> object:
    """Without what is empty, and whole numbers without a point."""
    if isinstance(said, dict):
        return {key: _brief(one) for key, one in said.items() if one not in (None, "", [], ())}
    if isinstance(said, list | tuple):
        return [_brief(one) for one in said]
    return int(said) if isinstance(said, float) and said.is_integer() else said


def read_head(path: Path) -> Head:
    """What a file says it is.

    Raises
    ------
    InputError : it cannot be read
    FormatError : it is no sweep
    """
    with bounded.opened(path, _LARGEST) as file:
        return _head(file, path)


def read(path: Path) -> tuple[Head, dict[Key, Outcome]]:
    """A whole file, be it packed; errors as `read_head`."""
    content = bounded.read(path, _LARGEST)
    try:
        file = BytesIO(gzip.decompress(content) if path.suffix == ".gz" else content)
    except (OSError, EOFError, zlib.error) as error:
        raise FormatError(f"{path} is damaged: {error}") from None
    return _head(file, path), _cells(file)[0]


@contextmanager
def kept(path: Path, head: Head) -> Iterator[Record]:
    """The record of a sweep in a file, with what is in it already.

    Raises
    ------
    InputError : the file cannot be read or written
    FormatError : it is of another sweep, or no sweep
    """
    files.check_place(path)
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
    have = _head(file, path)
    if have != head:
        different = _difference(have, head)
        raise FormatError(
            f"{path} holds another sweep ({different}): give another name with -o, or delete it"
        )
    outcomes, end = _cells(file)
    file.seek(end)
    file.truncate()
    return outcomes


def _head(file: BinaryIO, path: Path) -> Head:
    """The first line."""
    have = records.read(file.readline(_LONGEST), Head, f"{path} is no sweep, or damaged")
    if (have.format, have.version) != (_FORMAT, _VERSION):
        raise FormatError(f"{path} is no sweep that this gpuviz reads")
    return have


def _cells(file: BinaryIO) -> tuple[dict[Key, Outcome], int]:
    """The cells of the whole lines that follow, and where these end."""
    outcomes: dict[Key, Outcome] = {}
    end = file.tell()
    while (line := file.readline(_LONGEST)).endswith(b"\n"):
        try:
            one = records.read(line, _Line, "a cell")
        except FormatError:
            break
        outcomes[key(one.cell)] = Outcome(one.found, one.error, one.seconds)
        end = file.tell()
    return outcomes, end


_LONGEST = 1 << 20  # bytes of a line
_LARGEST = 1 << 30  # bytes of a file: 65,536 cells with all counters have a tenth of it


def _difference(have: Head, wanted: Head) -> str:
    """The first thing in which two sweeps differ."""
    had, want = ({**records.plain(one), **one.of} for one in (have, wanted))
    names = [name for name in {**had, **want} if name != "of" and had.get(name) != want.get(name)]
    name = names[0]
    return f"{name}: {had.get(name, 'none')} there, {want.get(name, 'none')} here"
