"""Compiled programs that a lecture carries, for machines that have no compiler.

They are found by kernel, source, headers, macros and architecture, for kernels that lie in the same
file; where there is a compiler nobody asks. That they were compiled from their source is the file's
word.
"""

import hashlib
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from gpuviz.base import records
from gpuviz.base.errors import InputError
from gpuviz.compile.program import BuildOptions, Program
from gpuviz.files import bounded
from gpuviz.files.allowed_paths import Reach
from gpuviz.files.checksums import source_hash

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ProgramKey:
    """What a program was compiled from: `kernel` is the file's name, `arch` the one asked for.

    `headers` are names as seen from the kernel's folder, each with its checksum.
    """

    kernel: str
    source_hash: str
    defines: Pairs
    arch: str
    headers: Pairs = ()


Programs = Mapping[ProgramKey, Program]


def key_of(
    kernel: str, source: str, defines: Mapping[str, str], arch: str, headers: Pairs = ()
) -> ProgramKey:
    """The key of a program."""
    return ProgramKey(kernel, source_hash(source), tuple(sorted(defines.items())), arch, headers)


def building(defines: Mapping[str, str], options: Iterable[str]) -> dict[str, str]:
    """What decides a program besides its texts, as the `defines` of a key: no macro is called as
    an option is.
    """
    return {**defines, **dict.fromkeys(options, "")}


def own_key(path: Path, program: Program, defines: Mapping[str, str], arch: str) -> ProgramKey:
    """The key of a program that was made of a user's own file; InputError if that is gone."""
    headers = sorted(
        (Path(os.path.relpath(file, path.parent.resolve())).as_posix(), _checksum(Path(file)))
        for file in program.read or ()
    )
    return key_of(path.name, bounded.text(path), defines, arch, tuple(headers))


def find(
    programs: Programs, path: Path, arch: str, defines: Mapping[str, str], reach: Reach | None
) -> Program | None:
    """The program that was made of a file and its headers as they are now; None if there is none.

    Headers beyond the reach are not looked at.
    """
    folder = path.parent.resolve()
    wanted = key_of(path.name, bounded.text(path), defines, arch)
    for key, program in programs.items():
        files = {folder / name: checksum for name, checksum in key.headers}
        if (
            replace(key, headers=()) == wanted
            and not any(reach and reach.elsewhere(file) for file in files)
            and all(_checksum(file) == checksum for file, checksum in files.items())
        ):
            return replace(program, read=tuple(map(str, files)))
    return None


def _checksum(file: Path) -> str:
    """Of a file's content, "" when it cannot be read."""
    with suppress(InputError):
        return hashlib.sha256(bounded.read(file)).hexdigest()
    return ""


@dataclass(frozen=True, eq=False)
class _BundleEntry:
    """A program and its key in one record."""

    kernel: str
    source_hash: str
    arch: str
    defines: Pairs
    program: Program
    headers: Pairs = ()


def of_file(program: Program, name: str) -> Program:
    """The program, saying that this file brought it."""
    return replace(program, origin=name)


def pack(key: ProgramKey, program: Program) -> str:
    """A program and its key as a text, which says nothing of where its files lay."""
    made = replace(program, read=(), asked=BuildOptions())
    return records.text(
        _BundleEntry(key.kernel, key.source_hash, key.arch, key.defines, made, key.headers)
    )


def unpack(text: bytes) -> tuple[ProgramKey, Program]:
    """What `pack` made; FormatError for anything else."""
    kept = records.read(text, _BundleEntry, "a compiled program in the lecture is damaged")
    key = ProgramKey(kept.kernel, kept.source_hash, kept.defines, kept.arch, kept.headers)
    return key, kept.program
