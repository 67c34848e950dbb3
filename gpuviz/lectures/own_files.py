"""Kernels and traces of a lecture: files that lie beside it, and are named as seen from there."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gpuviz.errors import InputError
from gpuviz.local import local
from gpuviz.scenes import traced

KERNEL, TRACE = "kernel", "trace"
_KNOWN = ("file", "entry", "name", "grid", "block", "arguments", "shared")
Plain = Mapping[str, Any]
Launch = dict[str, int | str | bool]


def launch_in(plain: Plain, folder: Path) -> Launch:
    """What a view's record has of a slide's kernel or trace; nothing for a lesson of the course.

    Raises
    ------
    InputError : the file is not there, or something about it is not known
    """
    if TRACE in plain:
        return {traced.FILE: _there(str(plain[TRACE]), folder, "trace").as_posix()}
    return _kernel(plain[KERNEL], folder) if KERNEL in plain else {}


def told(launch: Mapping[str, int | str | bool], folder: Path) -> dict[str, Any]:
    """The keys of a slide for what `launch_in` found."""
    if traced.FILE in launch:
        return {TRACE: _seen(Path(str(launch[traced.FILE])).expanduser(), folder)}
    if launch:
        file = Path(str(launch["file"])).expanduser()
        return {KERNEL: {**launch, "file": _seen(file, folder)}}
    return {}


def plain_values(given: Plain) -> Launch:
    """Numbers, texts, yes and no; InputError for anything else."""
    for key, value in given.items():
        if not isinstance(value, int | str | bool):
            raise InputError(f"{key} cannot be {value!r}: it is a number, a text, true or false")
    return dict(given)


def _kernel(given: Plain, folder: Path) -> Launch:
    """A launch with its file, and those that its arguments are read from, found."""
    for key in given:
        if key not in _KNOWN:
            raise InputError(f"{key} is not known of a kernel; known are: {', '.join(_KNOWN)}")
    launch = plain_values(given)
    if not launch.get("file"):
        raise InputError("a kernel without a file: it needs file, entry, grid, block")
    found = _there(str(launch["file"]), folder, "kernel")
    arguments = shlex.split(str(launch.get("arguments", "")))
    there = shlex.join(_argument(folder, spec) for spec in arguments)
    return {**launch, "file": found.as_posix(), **({"arguments": there} if there else {})}


def _there(name: str, folder: Path, what: str) -> Path:
    """A file, as seen from the lecture's folder."""
    try:
        file = Path(local(name, folder)).expanduser()
        found = file if file.is_absolute() else folder / file
        if found.is_file():
            return found
    except (OSError, RuntimeError, ValueError):  # no name of a file, or nobody's home folder
        found = Path(name)
    raise InputError(f"there is no {what} file {found}")


def _argument(folder: Path, spec: str) -> str:
    """An argument that is read from a file beside the lecture, with the place of that file."""
    head, sign, name = spec.partition("=@")
    beside = folder / (local(name, folder) if sign else name)
    return f"{head}={sign[1:]}{beside.as_posix()}" if sign and beside.is_file() else spec


def _seen(file: Path, folder: Path) -> str:
    """A file's name as seen from the folder, where it lies in there."""
    return (file.relative_to(folder) if file.is_relative_to(folder) else file).as_posix()
