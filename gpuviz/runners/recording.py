"""Recordings of measurements: a zip of a JSON manifest and NumPy arrays, nothing pickled.

manifest.json   format, version, device, and for each launch what was measured
arrays.npz      its durations and block placements, by the names the manifest gives
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from gpuviz import __version__, resources
from gpuviz.compile.compiler import read_text
from gpuviz.compile.source_hash import source_hash
from gpuviz.errors import FormatError, InputError
from gpuviz.files import whole
from gpuviz.runners.measurement import (
    DeviceFacts,
    Measurement,
    Peaks,
    Placement,
    Reading,
    Telemetry,
    Timing,
)
from gpuviz.suffixes import RECORDING

FORMAT, VERSION, SUFFIX = "gpuviz-recording", 1, RECORDING
_PLACES = ("block", "sm", "start_ns", "end_ns")
_SIZE_LIMIT = 1 << 30  # bytes a recording may unpack to

# What reading a damaged zip, JSON or array raises; RuntimeError: one that claims to be encrypted.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    ValueError,
    KeyError,
    TypeError,
    EOFError,
    AttributeError,
    IndexError,
    RuntimeError,
    struct.error,
)

Arrays = dict[str, np.ndarray[Any, Any]]


class Planned(Protocol):
    """A launch of a lesson (`gpuviz.scenes.base.Plan` is one)."""

    @property
    def kernel(self) -> str:
        """File in resources/kernels, or the absolute path of a user's own."""

    @property
    def entry(self) -> str:
        """Name of the kernel."""

    @property
    def grid(self) -> tuple[int, int, int]:
        """Blocks along x, y, z."""

    @property
    def block(self) -> tuple[int, int, int]:
        """Threads along x, y, z."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """SPECs, in order."""

    @property
    def defines(self) -> tuple[tuple[str, str], ...]:
        """Macros, name and value."""

    @property
    def dynamic_shared(self) -> int:
        """Bytes of a block."""


@dataclass(frozen=True)
class LaunchKey:
    """What a recorded launch was; two that are equal do the same."""

    kernel: str
    source_hash: str
    entry: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: tuple[str, ...]
    defines: tuple[tuple[str, str], ...] = ()
    dynamic_shared: int = 0


def key_of(plan: Planned) -> LaunchKey:
    """The key of a lesson's launch, with the source as it is now.

    A user's own kernel is known by the name of its file, wherever that lies, and so is a file that
    an argument is read from.
    """
    own = Path(plan.kernel)
    source = read_text(own if own.is_absolute() else resources.path(f"kernels/{plan.kernel}"))
    return LaunchKey(
        own.name,
        source_hash(source),
        plan.entry,
        plan.grid,
        plan.block,
        tuple(map(_placeless, plan.arguments)),
        tuple(sorted(plan.defines)),
        plan.dynamic_shared,
    )


def _placeless(spec: str) -> str:
    """An argument without the folder of the file that it is read from."""
    head, sign, file = spec.partition("=@")
    return f"{head}{sign}{Path(file).name}" if sign else spec


@dataclass(frozen=True, eq=False)
class Entry:
    """One recorded launch: of which lesson, in which role, with which parameter values."""

    lesson: str
    role: str
    values: Mapping[str, Any]
    launch: LaunchKey
    measurement: Measurement


@dataclass(frozen=True, eq=False)
class Recording:
    """All entries of a file, and the device they were made on."""

    device: DeviceFacts
    entries: tuple[Entry, ...] = field(default=())


def write(path: Path, recording: Recording) -> None:
    """Write a recording, whole or not at all.

    Raises
    ------
    InputError : the file cannot be written
    """
    arrays: Arrays = {}
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "gpuviz": __version__,
        "device": asdict(recording.device),
        "entries": [_plain(e, n, arrays) for n, e in enumerate(recording.entries)],
    }
    packed = io.BytesIO()
    np.savez_compressed(packed, allow_pickle=False, **arrays)
    said = json.dumps(manifest, indent=1)
    with whole(path, parents=True) as file, zipfile.ZipFile(file, "w") as archive:
        archive.writestr("manifest.json", said, zipfile.ZIP_DEFLATED)
        archive.writestr("arrays.npz", packed.getvalue())


def _plain(entry: Entry, number: int, arrays: Arrays) -> dict[str, Any]:
    """An entry as JSON values; its arrays go into `arrays` under names with its number."""
    m = entry.measurement
    plain: dict[str, Any] = {
        "lesson": entry.lesson,
        "role": entry.role,
        "values": dict(entry.values),
        "launch": asdict(entry.launch),
        "date": m.date,
        "notes": list(m.notes),
        "differences": dict(m.differences),
        "counters": {
            k: r.value if r.value is not None else {"unavailable": r.why}
            for k, r in m.counters.items()
        },
        "telemetry": asdict(m.telemetry) if m.telemetry else None,
        "peaks": asdict(m.peaks) if m.peaks else None,
        "timing": None,
        "placement": None,
        "resident_blocks": m.resident_blocks,
    }
    if m.timing is not None:
        plain["timing"] = {"array": f"t{number}", "mode": m.timing.mode, "clocks": m.timing.clocks}
        arrays[f"t{number}"] = m.timing.microseconds.astype(np.float32)
    if m.placement is not None:
        plain["placement"] = f"p{number}"
        arrays[f"p{number}"] = np.stack([getattr(m.placement, name) for name in _PLACES])
    return plain


def read(path: Path) -> Recording:
    """Read a recording.

    Raises
    ------
    InputError : the file cannot be read
    FormatError : it is damaged, no recording, or of a newer gpuviz
    """
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(info.file_size for info in archive.infolist()) > _SIZE_LIMIT:
                raise FormatError(f"{path} would unpack to more than {_SIZE_LIMIT >> 20} MiB")
            manifest = json.loads(archive.read("manifest.json"))
            _check(path, manifest)
            arrays = _arrays(archive.read("arrays.npz"))
        device = DeviceFacts(**manifest["device"])
        entries = tuple(_entry(plain, device, arrays) for plain in manifest["entries"])
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except _DAMAGE as error:
        raise FormatError(f"{path} is damaged, or no recording of gpuviz: {error}") from None
    return Recording(device, entries)


def _check(path: Path, manifest: Any) -> None:
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise FormatError(f"{path} is no recording of gpuviz")
    version = manifest.get("version")
    if version != VERSION:
        raise FormatError(
            f"{path} has format version {version}, this gpuviz ({__version__}) reads "
            f"{VERSION}: it was written by gpuviz {manifest.get('gpuviz', '?')}"
        )


def _arrays(packed: bytes) -> Arrays:
    with np.load(io.BytesIO(packed), allow_pickle=False) as found:
        return {name: found[name] for name in found.files}


def _entry(plain: Mapping[str, Any], device: DeviceFacts, arrays: Arrays) -> Entry:
    counters = {key: _reading(value) for key, value in plain["counters"].items()}
    places = arrays[plain["placement"]] if plain["placement"] else None
    telemetry, peaks = plain["telemetry"], plain["peaks"]
    measurement = Measurement(
        "recorded",
        str(plain["date"]),
        device,
        counters,
        _timing(plain["timing"], arrays),
        None if places is None else Placement(*places.astype(np.int64)),
        Telemetry(**telemetry | {"throttle": tuple(telemetry["throttle"])}) if telemetry else None,
        Peaks(**peaks) if peaks else None,
        {k: float(v) for k, v in plain["differences"].items()},
        tuple(plain["notes"]),
        _resident(plain.get("resident_blocks")),
    )
    return Entry(
        str(plain["lesson"]),
        str(plain["role"]),
        dict(plain["values"]),
        _launch(plain["launch"]),
        measurement,
    )


def _reading(plain: Any) -> Reading:
    if isinstance(plain, dict):
        return Reading(None, str(plain["unavailable"]))
    return Reading(float(plain))


def _resident(plain: Any) -> int | None:
    """The driver's answer; recordings of before it was asked have none."""
    return None if plain is None else int(plain)


def _timing(plain: Mapping[str, Any] | None, arrays: Arrays) -> Timing | None:
    if plain is None:
        return None
    return Timing(
        arrays[plain["array"]].astype(np.float64),
        str(plain["mode"]),
        tuple(map(float, plain["clocks"])),
    )


def _launch(plain: Mapping[str, Any]) -> LaunchKey:
    x, y, z = map(int, plain["grid"])
    u, v, w = map(int, plain["block"])
    return LaunchKey(
        str(plain["kernel"]),
        str(plain["source_hash"]),
        str(plain["entry"]),
        (x, y, z),
        (u, v, w),
        tuple(map(str, plain["arguments"])),
        tuple((str(k), str(value)) for k, value in plain["defines"]),
        int(plain["dynamic_shared"]),
    )
