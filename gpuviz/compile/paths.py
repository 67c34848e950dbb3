"""File names in PTX, made the same on every machine."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

_FILE = re.compile(r'^([ \t]*\.file\s+\d+\s+)"([^"]*)"(?:,\s*\d+,\s*\d+)?', re.MULTILINE)

_OCTAL = re.compile(r"(?<!\\)(\\[0-7]{3})+")  # how NVRTC writes letters that are not ASCII


def quotable(name: str) -> str:
    """The name of a file as it can stand between quotes, in CUDA C and in PTX."""
    return "".join(c if c.isprintable() and c not in '"\\' else "_" for c in name)


def normalise(ptx: str, name: str, folders: Iterable[Path] = ()) -> str:
    """PTX whose `.file` paths are `name` for the main source, and short for headers.

    The compiler writes the folder it ran in; a header keeps what follows that of these folders, or
    its `include` folder.
    """
    own = tuple(f"{folder.as_posix()}/" for folder in folders)
    return _FILE.sub(lambda match: f'{match[1]}"{_short(match[2], name, own)}"', ptx)


def _short(path: str, name: str, own: tuple[str, ...]) -> str:
    path = _OCTAL.sub(lambda escaped: _letters(escaped[0]), path)
    slashed = path.replace("\\\\", "/").replace("\\", "/")
    if PurePosixPath(slashed).stem == PurePosixPath(name).stem:
        return name
    if found := next(filter(slashed.startswith, own), ""):
        return slashed.removeprefix(found)
    return slashed.rpartition("/include/")[2].rpartition("/../")[2] or slashed


def _letters(escaped: str) -> str:
    octal = escaped.split("\\")[1:]
    return bytes(int(digits, 8) & 0xFF for digits in octal).decode(errors="replace")
