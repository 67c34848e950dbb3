"""Kinds of inputs that do break something: what tells of it is tested with them."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from random import Random

from tests.hostile.kind import Call, Command, Kind


def _make(random: Random) -> bytes:
    return b"list"


def dies(file: Path) -> None:
    os.abort()


def waits(file: Path) -> None:
    time.sleep(600)


def computes(file: Path) -> None:
    while True:
        pass


def eats(file: Path) -> None:
    bytearray(3 << 30)


def stumbles(file: Path) -> None:
    raise KeyError("key")


def stumbles_as_command(file: Path) -> Sequence[str]:
    return ("check", None)  # type: ignore[return-value]  # of which no path can be made


def strays(file: Path) -> None:
    (file.parent.parent / "stray").write_text("")


def chatters(file: Path) -> None:
    warnings.warn_explicit("overflow", RuntimeWarning, "gpuviz/mine.py", 1)


def escapes(file: Path) -> None:
    sys.stdout.write("\x1b[2J")


def withstands(file: Path) -> Sequence[str]:
    return (file.read_text(),)


def _kind(name: str, *commands: Command, calls: tuple[Call, ...] = ()) -> Kind:
    return Kind(name, 1, ".txt", _make, commands, calls)


_CALLS: tuple[Call, ...] = (dies, waits, computes, eats, stumbles, strays, chatters, escapes)
_ALL = [_kind(one.__name__, calls=(one,)) for one in _CALLS]
_ALL += [_kind(one.__name__, one) for one in (stumbles_as_command, withstands)]
KINDS = {one.name: one for one in _ALL}
