"""Compiled programs that a lecture carries, for machines that have no compiler.

They are found by kernel, source, macros and architecture; where there is a compiler nobody asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuviz.compile.cache import from_json, to_json
from gpuviz.compile.compiler import own_headers, read_text
from gpuviz.compile.program import Program
from gpuviz.compile.source_hash import source_hash
from gpuviz.errors import FormatError


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


def pack(key: ProgramKey, program: Program) -> dict[str, Any]:
    """A program and its key as JSON values."""
    return {
        "kernel": key.kernel,
        "source_hash": key.source_hash,
        "arch": key.arch,
        "defines": [list(pair) for pair in key.defines],
        "program": to_json(program),
    }


def unpack(plain: Any) -> tuple[ProgramKey, Program]:
    """What `pack` made; FormatError for anything else."""
    try:
        defines = tuple((str(name), str(value)) for name, value in plain["defines"])
        key = ProgramKey(
            str(plain["kernel"]), str(plain["source_hash"]), defines, str(plain["arch"])
        )
        return key, from_json(plain["program"])
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"a compiled program in the lecture is damaged: {error}") from None
