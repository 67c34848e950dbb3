"""Recordings of measurements: a zip of a JSON manifest and NumPy arrays, nothing pickled.

manifest.json   format, version, device, and for each launch what was measured
arrays.npz      its durations and block placements, by the names the manifest gives
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from gpuviz.arguments import parse, renamed
from gpuviz.base import resources
from gpuviz.base.arrays import Array
from gpuviz.files import archive, bounded, checksums
from gpuviz.files.archive import Content, Form
from gpuviz.files.checksums import source_hash
from gpuviz.files.folders import RECORDING
from gpuviz.recordings.measurement import (
    CounterValue,
    DeviceFacts,
    Measurement,
    Peaks,
    Placement,
    Telemetry,
    Timing,
)
from gpuviz.traces.geometry import LaunchSpec, Triple
from gpuviz.words.language import brief, later

FORM = Form("gpuviz-recording", 1, later("recording"), "arrays.npz", 1 << 28)
SUFFIX = RECORDING
# What those of before say of launches whose blocks are too many to place: the window says it now.
_BEFORE = "are too many to show one by one where they ran"
_MOST = 1e24  # beyond any count, rate or size
_PLACES = ("block", "sm", "start_ns", "end_ns")


@dataclass(frozen=True)
class LaunchKey:
    """What a recorded launch was; two that are equal do the same."""

    kernel: str
    source_hash: str
    entry: str
    grid: Triple
    block: Triple
    arguments: tuple[str, ...]
    defines: tuple[tuple[str, str], ...] = ()
    dynamic_shared: int = 0
    options: tuple[str, ...] = ()


def key_of(plan: LaunchSpec, text: str | None = None) -> LaunchKey:
    """The key of a lesson's launch, with the source as it is now, or with another text.

    A user's own kernel is known by the name of its file, wherever that lies, and so is a file that
    an argument is read from.
    """
    own = Path(plan.kernel)
    file = own if own.is_absolute() else resources.path(f"kernels/{plan.kernel}")
    source = bounded.text(file) if text is None else text
    return LaunchKey(
        own.name,
        source_hash(source),
        plan.entry,
        plan.grid,
        plan.block,
        tuple(map(_placeless, plan.arguments)),
        tuple(sorted(plan.defines)),
        plan.dynamic_shared,
        tuple(sorted(one for one in plan.options if not one.startswith("-I"))),
    )


def _placeless(spec: str) -> str:
    """An argument without the folder of the file that it is read from."""
    return str(renamed(parse(spec), lambda file: Path(file).name)) if "=@" in spec else spec


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


def of_file(recording: Recording, name: str) -> Recording:
    """The recording, each of its measurements saying that this file tells it."""
    device = replace(recording.device, name=brief(recording.device.name))
    entries = tuple(
        replace(one, measurement=replace(one.measurement, file=brief(name), device=device))
        for one in recording.entries
    )
    return Recording(device, entries)


@dataclass(frozen=True)
class _Unavailable:
    """A counter without a value."""

    unavailable: str


@dataclass(frozen=True)
class _Timing:
    """A timing, its durations being the array of that name."""

    array: str
    mode: str
    clocks: tuple[float, ...]


@dataclass(frozen=True)
class _Entry:
    """An entry as the manifest has it; `placement` names an array."""

    lesson: str
    role: str
    values: Mapping[str, Any]
    launch: LaunchKey
    date: str
    notes: tuple[str, ...]
    differences: Mapping[str, float]
    counters: Mapping[str, float | _Unavailable]
    telemetry: Telemetry | None
    peaks: Peaks | None
    timing: _Timing | None
    placement: str | None
    resident_blocks: int | None = None  # recordings of before the driver was asked have none
    registers: int | None = None


@dataclass(frozen=True)
class _Manifest:
    device: DeviceFacts
    entries: tuple[_Entry, ...]


def write(path: Path, recording: Recording) -> None:
    """Write a recording, whole or not at all.

    Raises
    ------
    InputError : the file cannot be written
    """
    arrays: dict[str, Array] = {}
    entries = tuple(_told(entry, n, arrays) for n, entry in enumerate(recording.entries))
    manifest = _Manifest(recording.device, entries)
    archive.write(path, FORM, manifest, arrays, indent=1)
    checksums.seal_again(path)


def read(path: Path) -> Recording:
    """Read a recording.

    Raises
    ------
    InputError : the file cannot be read
    FormatError : it is damaged, no recording, or of a newer gpuviz
    """
    found = archive.read(path, FORM, _Manifest)
    said = found.manifest
    above = [said.device.multiprocessors, *(n for e in said.entries for n in _peaks(e))]
    if not (all(0 <= n < _MOST for n in _numbers(said)) and all(0 < n < _MOST for n in above)):
        raise found.damaged("a number in its manifest is negative, or larger than any can be")
    return Recording(said.device, tuple(_entry(e, found) for e in said.entries))


def _peaks(entry: _Entry) -> tuple[float, ...]:
    """What others are divided by."""
    peaks = entry.peaks
    return () if peaks is None else (peaks.bytes_per_second, peaks.flops_per_second)


def _numbers(said: _Manifest) -> Iterator[float]:
    """What was measured, and what is said of the device; differences of results can be infinite."""
    device = said.device
    yield from (device.memory, device.l2, device.clock_mhz, device.memory_clock_mhz)
    yield from device.limits.values()
    for entry in said.entries:
        yield from (n for n in entry.counters.values() if not isinstance(n, _Unavailable))
        yield from entry.timing.clocks if entry.timing else ()
        held = entry.telemetry
        told = () if held is None else (held.sm_clock, held.memory_clock, held.power)
        empty = entry.peaks.empty_us if entry.peaks else None
        told = (*told, empty, entry.resident_blocks, entry.registers)
        yield from (n for n in told if n is not None)
        yield from (*entry.launch.grid, *entry.launch.block, entry.launch.dynamic_shared)


def _told(entry: Entry, number: int, arrays: dict[str, Array]) -> _Entry:
    """An entry for the manifest; its arrays go into `arrays` under names with its number."""
    m = entry.measurement
    timing = placement = None
    if m.timing is not None:
        timing = _Timing(f"t{number}", m.timing.mode, m.timing.clocks)
        arrays[timing.array] = m.timing.microseconds.astype(np.float32)
    if m.placement is not None:
        placement = f"p{number}"
        arrays[placement] = np.stack([getattr(m.placement, name) for name in _PLACES])
    return _Entry(
        entry.lesson,
        entry.role,
        entry.values,
        entry.launch,
        m.date,
        m.notes,
        m.differences,
        {k: _Unavailable(r.why) if r.value is None else r.value for k, r in m.counters.items()},
        m.telemetry,
        m.peaks,
        timing,
        placement,
        m.resident_blocks,
        m.registers,
    )


def _entry(told: _Entry, found: Content[_Manifest]) -> Entry:
    measurement = Measurement(
        "recorded",
        told.date,
        found.manifest.device,
        {key: _reading(value) for key, value in told.counters.items()},
        _timing(told.timing, found),
        _placement(told.placement, found),
        told.telemetry,
        told.peaks,
        told.differences,
        tuple(note for note in told.notes if not note.endswith(_BEFORE)),
        told.resident_blocks,
        registers=told.registers,
    )
    return Entry(told.lesson, told.role, told.values, told.launch, measurement)


def _reading(told: float | _Unavailable) -> CounterValue:
    return (
        CounterValue(None, told.unavailable)
        if isinstance(told, _Unavailable)
        else CounterValue(told)
    )


def _timing(told: _Timing | None, found: Content[_Manifest]) -> Timing | None:
    if told is None:
        return None
    times = found.array(told.array, np.float32, -1).astype(np.float64)
    if not len(times) or not np.isfinite(times).all() or times.min() < 0:
        raise found.damaged(f"{told.array} holds no durations")
    return Timing(times, told.mode, told.clocks)


def _placement(name: str | None, found: Content[_Manifest]) -> Placement | None:
    if not name:
        return None
    rows = found.array(name, np.int64, len(_PLACES), -1)
    if rows.size and (rows.min() < 0 or (rows[3] < rows[2]).any()):
        raise found.damaged(f"{name} says that a block ended before it began")
    return Placement(*rows)
