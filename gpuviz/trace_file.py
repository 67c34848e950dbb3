"""Traces on disk: a zip of `manifest.json` and `requests.npz`, so that they can be shown elsewhere.

The manifest holds everything but the arrays, and a version. Nothing in the file is ever executed:
arrays are read without pickle, records are rebuilt field by field.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from gpuviz.errors import FormatError, InputError
from gpuviz.files import whole
from gpuviz.trace import (
    Branch,
    Buffer,
    Finding,
    Launch,
    MemoryInstruction,
    Requests,
    Stretch,
    Trace,
)
from gpuviz.trace import Path as Way

FORMAT, VERSION = "gpuviz trace", 1
_ARRAYS = tuple(field.name for field in fields(Requests))
_WAY = tuple(field.name for field in fields(Way))  # stored as way_stretch and so on
_PLAIN = (
    "recorded",
    "blocks_emulated",
    "thread_instructions",
    "warp_instructions",
    "flops",
    "printed",
    "source",
    "ptx",
    "arch",
    "notes",
)
# What reading a damaged zip, JSON or array raises; RuntimeError: one that claims to be encrypted.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    KeyError,
    ValueError,
    TypeError,
    EOFError,
    AttributeError,
    IndexError,
    RuntimeError,
    struct.error,
)
Record = TypeVar("Record")


def save(trace: Trace, path: Path) -> None:
    """Write a trace; the file appears whole or not at all.

    Raises
    ------
    InputError : the file cannot be written
    """
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "launch": asdict(trace.launch),
        "instructions": [asdict(i) for i in trace.instructions],
        "branches": [asdict(b) for b in trace.branches],
        "findings": [asdict(f) for f in trace.findings],
        "stretches": [asdict(s) for s in trace.stretches],
        **{name: getattr(trace, name) for name in _PLAIN},
    }
    arrays = io.BytesIO()
    np.savez_compressed(arrays, **_arrays(trace))
    with whole(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        archive.writestr("requests.npz", arrays.getvalue(), zipfile.ZIP_STORED)


def load(path: Path) -> Trace:
    """Read a trace.

    Raises
    ------
    InputError : the file cannot be read
    FormatError : it is damaged, not a trace, or written by a newer gpuviz
    """
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = json.loads(archive.read("manifest.json"))
            _check(manifest, path)
            with np.load(io.BytesIO(archive.read("requests.npz")), allow_pickle=False) as arrays:
                return _trace(manifest, {name: arrays[name] for name in arrays.files})
    except FormatError:
        raise
    except OSError as error:
        raise InputError(f"cannot read the trace {path}: {error.strerror or error}") from None
    except _DAMAGE as error:
        raise FormatError(f"{path} is not a gpuviz trace, or is damaged ({error})") from None


def _check(manifest: Any, path: Path) -> None:
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise FormatError(f"{path} is not a gpuviz trace")
    if manifest.get("version") != VERSION:
        raise FormatError(
            f"{path} is a trace of version {manifest.get('version')}; this gpuviz "
            f"reads version {VERSION}: update gpuviz"
        )


def _trace(manifest: Mapping[str, Any], arrays: Mapping[str, Any]) -> Trace:
    launch = dict(manifest["launch"])
    launch["buffers"] = tuple(_record(Buffer, b) for b in launch["buffers"])
    launch["scalars"] = tuple((name, value) for name, value in launch["scalars"])
    for array in arrays.values():
        array.setflags(write=False)
    plain = {name: manifest[name] for name in _PLAIN}
    plain |= {"recorded": tuple(plain["recorded"]), "notes": tuple(plain["notes"])}
    return Trace(
        _record(Launch, launch),
        tuple(_record(MemoryInstruction, i) for i in manifest["instructions"]),
        Requests(**{name: arrays[name] for name in _ARRAYS}),
        branches=tuple(_record(Branch, b) for b in manifest["branches"]),
        findings=tuple(_record(Finding, f) for f in manifest["findings"]),
        stretches=tuple(_record(Stretch, s) for s in manifest.get("stretches", ())),
        path=_way(arrays),
        **plain,
    )


def _arrays(trace: Trace) -> dict[str, Any]:
    """The arrays of a trace by the names they are stored under."""
    found = {name: getattr(trace.requests, name) for name in _ARRAYS}
    if trace.path is not None:
        found |= {f"way_{name}": getattr(trace.path, name) for name in _WAY}
    return found


def _way(arrays: Mapping[str, Any]) -> Way | None:
    """The way of warps through the program, if it was recorded."""
    if "way_stretch" not in arrays:
        return None
    return Way(**{name: arrays[f"way_{name}"] for name in _WAY})


def _record(kind: Callable[..., Record], values: Mapping[str, Any]) -> Record:
    """A record from its fields; lists become tuples again."""
    return kind(
        **{
            name: tuple(value) if isinstance(value, list) else value
            for name, value in values.items()
        }
    )
