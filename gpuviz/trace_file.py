"""Traces on disk: a zip of `manifest.json` and `requests.npz`, so that they can be shown elsewhere.

The manifest holds everything but the arrays, and a version. Nothing in the file is ever executed:
arrays are read without pickle, records are rebuilt field by field.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from gpuviz import archive
from gpuviz.archive import Arrays, Form
from gpuviz.trace import Branch, Finding, Launch, MemoryInstruction, Requests, Stretch, Trace
from gpuviz.trace import Path as Way

FORM = Form("gpuviz trace", 1, "trace", "requests.npz", 1 << 34)
_ARRAYS = tuple(field.name for field in fields(Requests))
_WAY = tuple(field.name for field in fields(Way))  # stored as way_stretch and so on


@dataclass(frozen=True)
class _Manifest:
    """Everything but the arrays, by the names that `Trace` has."""

    launch: Launch
    instructions: tuple[MemoryInstruction, ...]
    branches: tuple[Branch, ...]
    findings: tuple[Finding, ...]
    recorded: tuple[int, ...]
    blocks_emulated: int
    thread_instructions: int
    warp_instructions: int
    flops: int
    printed: str
    source: str
    ptx: str
    arch: str
    notes: tuple[str, ...]
    stretches: tuple[Stretch, ...] = ()


def save(trace: Trace, path: Path) -> None:
    """Write a trace; the file appears whole or not at all.

    Raises
    ------
    InputError : the file cannot be written
    """
    kept = {field.name: getattr(trace, field.name) for field in fields(_Manifest)}
    archive.write(path, FORM, _Manifest(**kept), _arrays(trace))


def load(path: Path) -> Trace:
    """Read a trace.

    Raises
    ------
    InputError : the file cannot be read
    FormatError : it is damaged, not a trace, or written by a newer gpuviz
    """
    with archive.opened(path, FORM, _Manifest) as (manifest, arrays):
        requests = Requests(**{name: arrays[name] for name in _ARRAYS})
        return Trace(requests=requests, path=_way(arrays), **vars(manifest))


def _arrays(trace: Trace) -> dict[str, Any]:
    """The arrays of a trace by the names they are stored under."""
    found = {name: getattr(trace.requests, name) for name in _ARRAYS}
    if trace.path is not None:
        found |= {f"way_{name}": getattr(trace.path, name) for name in _WAY}
    return found


def _way(arrays: Arrays) -> Way | None:
    """The way of warps through the program, if it was recorded."""
    if "way_stretch" not in arrays:
        return None
    return Way(**{name: arrays[f"way_{name}"] for name in _WAY})
