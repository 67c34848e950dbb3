"""Compiled programs on disk, found by the content they were made from.

They are JSON: nothing in them is ever executed or unpickled.
"""

from __future__ import annotations

import base64
import json
from dataclasses import asdict
from typing import Any

from gpuviz import disk_cache
from gpuviz.compile.program import Diagnostic, Program, Resources
from gpuviz.disk_cache import DiskCache

_FORMAT = 1
KEPT = DiskCache("compile")


def key(*parts: object) -> str:
    """A name made of everything that decides the result."""
    return disk_cache.key(_FORMAT, *parts)


def load(name: str) -> Program | None:
    """The program kept under a key, None when there is none or it is damaged."""
    try:
        return from_json(json.loads(KEPT.load(name) or b""))
    except (ValueError, KeyError, TypeError):
        return None


def store(name: str, program: Program) -> None:
    """Keep a program under a key."""
    KEPT.store(name, json.dumps(to_json(program)).encode())


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
