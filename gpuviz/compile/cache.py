"""Compiled programs on disk, found by the content they were made from.

An entry is a line with the checksum of what follows, then JSON. One that is damaged, cut short or
of another format counts as absent. Nothing in it is ever executed or unpickled.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gpuviz import __version__, files, folders
from gpuviz.compile.program import Diagnostic, Program, Resources
from gpuviz.errors import InputError

_FORMAT = 1
_KEPT = 400  # entries; the oldest go first


def folder() -> Path:
    """Where programs are kept."""
    return folders.cache() / "compile"


def key(*parts: object) -> str:
    """A name made of everything that decides the result."""
    text = json.dumps([_FORMAT, __version__, *parts], default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def load(name: str) -> Program | None:
    """The program kept under a key, None when there is none or it is damaged."""
    try:
        checksum, _, body = (folder() / f"{name}.json").read_bytes().partition(b"\n")
        if hashlib.sha256(body).hexdigest().encode() != checksum:
            return None
        return from_json(json.loads(body))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def store(name: str, program: Program) -> None:
    """Keep a program under a key. A disk that is full or read-only is no error: nothing is kept."""
    body = json.dumps(to_json(program)).encode()
    text = hashlib.sha256(body).hexdigest().encode() + b"\n" + body
    try:
        files.write(folder() / f"{name}.json", text, parents=True, durable=False)
        _prune(folder())
    except (InputError, OSError):
        return


def _prune(place: Path) -> None:
    entries = sorted(place.glob("*.json"), key=lambda file: file.stat().st_mtime)
    for file in entries[:-_KEPT]:
        file.unlink(missing_ok=True)


def to_json(program: Program) -> dict[str, Any]:
    """A program as JSON values."""
    plain = asdict(program)
    return plain | {"cubin": base64.b64encode(program.cubin).decode()}


def from_json(plain: dict[str, Any]) -> Program:
    """The program of `to_json`; KeyError or TypeError for anything else."""
    resources = {name: Resources(**facts) for name, facts in plain["resources"].items()}
    warnings = tuple(Diagnostic(**warning) for warning in plain["warnings"])
    cubin = base64.b64decode(plain["cubin"], validate=True)
    return Program(**plain | {"cubin": cubin, "resources": resources, "warnings": warnings})
