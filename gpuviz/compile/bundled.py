"""Compiled programs that a lecture carries, for machines that have no compiler.

They are found by kernel, source, macros and architecture, for kernels that lie in the same file;
where there is a compiler nobody asks. That they were compiled from their source is the file's word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from gpuviz import records
from gpuviz.compile.compiler import own_headers, read_text
from gpuviz.compile.program import Program
from gpuviz.compile.source_hash import source_hash


@dataclass(frozen=True)
class ProgramKey:
    """What a program was compiled from: `kernel` is the file's name, `arch` the one asked for."""

    kernel: str
    source_hash: str
    defines: tuple[tuple[str, str], ...]
    arch: str


Programs = Mapping[ProgramKey, Program]


def key_of(kernel: str, source: str, defines: Mapping[str, str], arch: str) -> ProgramKey:
    """The key of a program."""
    return ProgramKey(kernel, source_hash(source), tuple(sorted(defines.items())), arch)


def text_of(path: Path) -> str:
    """A user's own source with the headers that lie beside it: either makes another program."""
    source = read_text(path)
    headers = own_headers(source, (path.parent.resolve(),))
    return "".join((source, *(headers[file] for file in sorted(headers))))


@dataclass(frozen=True, eq=False)
class _Packed:
    """A program and its key in one record."""

    kernel: str
    source_hash: str
    arch: str
    defines: tuple[tuple[str, str], ...]
    program: Program


def of_file(program: Program, name: str) -> Program:
    """The program, saying that this file brought it."""
    return replace(program, origin=name)


def pack(key: ProgramKey, program: Program) -> str:
    """A program and its key as a text."""
    return records.text(_Packed(key.kernel, key.source_hash, key.arch, key.defines, program))


def unpack(text: bytes) -> tuple[ProgramKey, Program]:
    """What `pack` made; FormatError for anything else."""
    kept = records.read(text, _Packed, "a compiled program in the lecture is damaged")
    return ProgramKey(kept.kernel, kept.source_hash, kept.defines, kept.arch), kept.program
