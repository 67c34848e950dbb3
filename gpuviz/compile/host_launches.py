"""The launches that the host code of a file writes, as proposals for launches of one's own."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gpuviz.base.errors import InputError
from gpuviz.compile import headers, nvrtc
from gpuviz.compile.compiler import read_text
from gpuviz.compile.split import Split
from gpuviz.source.launches import HostLaunch


def written_launches(path: Path, include: tuple[Path, ...] = ()) -> tuple[HostLaunch, ...]:
    """Every `kernel<<<grid, block>>>(...)` in a file and its project's headers, in order.

    Nothing is compiled. InputError when the file cannot be read.
    """
    if path.suffix == ".ptx":
        return ()
    folders = headers.folders(nvrtc.libraries()[0]) if nvrtc.libraries() else ()

    def known(header: str) -> bool:
        return any((folder / header).is_file() for folder in folders)

    return Split(read_text(path), path.name, path.parent.resolve(), include, known).launches


def launches_in(
    path: Path, kernel: str = "", include: tuple[Path, ...] = ()
) -> tuple[HostLaunch, ...]:
    """The launches that a file itself writes, not its headers; of one kernel where it is named,
    and then those of the headers if the file has none of it.
    """
    every = written_launches(path, include)
    own = [one for one in every if one.file == path.name and kernel in ("", *_names(one))]
    return tuple(own or [one for one in every if kernel and kernel in _names(one)])


def _names(launch: HostLaunch) -> tuple[str, ...]:
    """What the kernel of a launch may be called."""
    return launch.kernel, launch.kernel.rpartition("::")[2], launch.instance or launch.kernel


def launch_at(path: Path, line: int, include: tuple[Path, ...] = ()) -> HostLaunch:
    """The launch that is written at a line of a file; InputError, with the others, if none is."""
    found = launches_in(path, include=include)
    for one in found:
        if one.line == line:
            return one
    raise InputError(f"{path.name} has no launch at line {line}; lines with one: {lines_of(found)}")


def lines_of(found: Iterable[HostLaunch]) -> str:
    """Launches as lines and kernels: "12 (saxpy), 40 (dot)"."""
    return ", ".join(f"{one.line} ({one.kernel})" for one in found) or "none"
