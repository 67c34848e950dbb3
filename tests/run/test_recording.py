"""Recordings: there and back, damaged, foreign, newer, stale."""

import io
import json
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpuviz.base import resources
from gpuviz.base.errors import FormatError, InputError
from gpuviz.cli.launches_to_record import variants
from gpuviz.course import SCENES
from gpuviz.recordings import lookup
from gpuviz.recordings.measurement import (
    CounterValue,
    DeviceFacts,
    Measurement,
    Peaks,
    Placement,
    Telemetry,
    Timing,
)
from gpuviz.recordings.recording import Entry, Recording, key_of, read, write
from tests.course.performed import real

DEVICE = DeviceFacts(
    0,
    "NVIDIA X",
    "9.0",
    "580.1",
    "13.0",
    132,
    1 << 37,
    60 << 20,
    "0:1",
    1980.0,
    2619.0,
    {"warpSize": 32},
)


@dataclass(frozen=True)
class Plan:
    kernel: str = "coalescing.cu"
    entry: str = "f"
    grid: tuple[int, int, int] = (4, 1, 1)
    block: tuple[int, int, int] = (256, 1, 1)
    arguments: tuple[str, ...] = ("f32[64]=rand", "i32=3")
    defines: tuple[tuple[str, str], ...] = (("B", "2"), ("A", "1"))
    dynamic_shared: int = 0
    options: tuple[str, ...] = ()


def measurement() -> Measurement:
    places = Placement(*(np.arange(4, dtype=np.int64) * n for n in (1, 2, 32, 64)))
    return Measurement(
        "live",
        "2026-11-20",
        DEVICE,
        {
            "global_load_sectors": CounterValue(512.0),
            "local_load_lines": CounterValue(None, "no such"),
        },
        Timing(np.array([1.5, 2.0, 1.75]), "rotated", (1980.0, 1965.0)),
        places,
        Telemetry(1980.0, 2619.0, 40.0, 91.5, 1 << 30, ("power limit",)),
        Peaks(4e12, 6e13),
        {"out": 0.0, "in": float("inf")},
        ("a note",),
        12,
    )


def recording(plan: Plan = Plan()) -> Recording:
    return Recording(
        DEVICE,
        (
            Entry(
                "coalescing",
                "copy",
                {"stride": 2, "on": True, "kind": "x"},
                key_of(plan),
                measurement(),
            ),
            Entry(
                "coalescing",
                "bare",
                {},
                key_of(replace(plan, entry="g")),
                Measurement("live", "2026-11-20", DEVICE),
            ),
        ),
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write(tmp_path / "a.gpurec", recording())
    return tmp_path / "a.gpurec"


def test_what_is_written_is_read(file: Path) -> None:
    found, sent = read(file).entries[0], recording().entries[0]
    got, m = found.measurement, sent.measurement
    assert (found.lesson, found.role, found.values, found.launch) == (
        sent.lesson,
        sent.role,
        sent.values,
        sent.launch,
    )
    assert got.source == "recorded" and got.caption == "recorded on NVIDIA X, 2026-11-20"
    for name in (
        "date",
        "device",
        "counters",
        "telemetry",
        "peaks",
        "differences",
        "notes",
        "resident_blocks",
    ):
        assert getattr(got, name) == getattr(m, name), name
    assert got.timing is not None and m.timing is not None
    assert got.timing.microseconds.tolist() == m.timing.microseconds.tolist()
    assert (got.timing.mode, got.timing.clocks) == (m.timing.mode, m.timing.clocks)
    assert got.placement is not None and m.placement is not None
    assert got.placement.end_ns.tolist() == m.placement.end_ns.tolist()
    assert read(file).entries[1].measurement.timing is None


def test_a_recording_without_the_drivers_answer_is_read(file: Path) -> None:
    with zipfile.ZipFile(file) as archive:
        entries = json.loads(archive.read("manifest.json"))["entries"]
    assert entries[0].pop("resident_blocks") == 12
    old = repacked(file, manifest_json=manifest(file, entries=entries))
    assert read(old).entries[0].measurement.resident_blocks is None


def test_nothing_is_left_over_and_an_old_file_survives_a_failure(file: Path) -> None:
    assert [path.name for path in file.parent.iterdir()] == ["a.gpurec"]
    before = file.read_bytes()
    broken = replace(recording().entries[0], values={"bad": object()})
    with pytest.raises(TypeError):
        write(file, Recording(DEVICE, (broken,)))
    assert file.read_bytes() == before and len(list(file.parent.iterdir())) == 1


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a file, not a folder")
    with pytest.raises(InputError, match="cannot write"):
        write(tmp_path / "a" / "b.gpurec", recording())


def repacked(file: Path, **members: bytes | None) -> Path:
    """The file with other contents of some members; None leaves one out."""
    with zipfile.ZipFile(file) as archive:
        content: dict[str, bytes | None] = {n: archive.read(n) for n in archive.namelist()}
    content |= {name.replace("_", "."): data for name, data in members.items()}
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in content.items():
            if data is not None:
                archive.writestr(name, data)
    return file


def manifest(file: Path, **changes: Any) -> bytes:
    with zipfile.ZipFile(file) as archive:
        return json.dumps({**json.loads(archive.read("manifest.json")), **changes}).encode()


def pickled() -> bytes:
    packed = io.BytesIO()
    np.savez(packed, t0=np.array([{"a": 1}], dtype=object), p0=np.zeros((4, 4)))
    return packed.getvalue()


@pytest.mark.parametrize("size", [0, 10, 200, -30])
def test_files_cut_short_are_damaged(file: Path, size: int) -> None:
    file.write_bytes(file.read_bytes()[:size])
    with pytest.raises(FormatError, match="is damaged"):
        read(file)


def test_members_that_are_damaged_or_missing(file: Path) -> None:
    good = file.read_bytes()
    for members in (
        {"arrays_npz": None},
        {"manifest_json": None},
        {"arrays_npz": b"no zip"},
        {"manifest_json": b"{"},
        {"arrays_npz": pickled()},
        {"manifest_json": manifest(file, entries=[{}])},
        {"manifest_json": manifest(file, entries=None)},
        {"manifest_json": manifest(file, device={"name": "X"})},
    ):
        file.write_bytes(good)
        with pytest.raises(FormatError, match="damaged"):
            read(repacked(file, **members))


def test_flipped_bytes_are_noticed(file: Path) -> None:
    good, noticed = file.read_bytes(), 0
    for place in range(0, len(good), 7):
        content = bytearray(good)
        content[place] ^= 0xFF
        file.write_bytes(content)
        try:
            read(file)  # some bytes, of dates for one, mean nothing
        except (FormatError, InputError):
            noticed += 1
    assert noticed > len(good) / 7 * 0.8


def test_foreign_and_newer_files_are_told_apart(file: Path) -> None:
    good = file.read_bytes()
    with pytest.raises(FormatError, match="no recording of gpuviz"):
        read(repacked(file, manifest_json=b'{"format": "another"}'))
    file.write_bytes(good)
    newer = manifest(file, version=2, gpuviz="9.9")
    with pytest.raises(FormatError, match=r"version 2.*written by gpuviz 9\.9"):
        read(repacked(file, manifest_json=newer))
    with pytest.raises(InputError, match="cannot read"):
        read(file.with_name("none.gpurec"))


def test_a_launch_is_found_by_what_it_does(file: Path) -> None:
    shelf = lookup.load([file])
    found = shelf.find(replace(Plan(), defines=(("A", "1"), ("B", "2"))))
    assert found.measurement is not None and found.why == ""
    for other in (
        replace(Plan(), grid=(5, 1, 1)),
        replace(Plan(), arguments=("i32=3",)),
        replace(Plan(), defines=()),
        replace(Plan(), dynamic_shared=1),
        replace(Plan(), options=("-use_fast_math",)),
        replace(Plan(), kernel="transpose.cu"),
    ):
        assert shelf.find(other).measurement is None
        assert shelf.find(other).why == lookup.NOT_RECORDED


def test_a_recording_of_another_source_is_not_shown(
    file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = resources.path("kernels/coalescing.cu").read_text()
    (tmp_path / "kernels").mkdir()
    changed = tmp_path / "kernels" / "coalescing.cu"
    monkeypatch.setattr(resources, "path", lambda name="": tmp_path / name)
    changed.write_text(text)
    shelf = lookup.load([file])
    assert shelf.find(Plan()).measurement is not None and shelf.entry(Plan()) is not None
    changed.write_text(text + "// one more line\n")
    assert shelf.find(Plan()).measurement is None and shelf.find(Plan()).why == lookup.STALE
    assert shelf.entry(Plan()) is None


def test_recordings_that_ship_can_be_read() -> None:
    shelf = lookup.shipped()
    assert shelf.recordings and all(one.entries and one.device.name for one in shelf.recordings)
    assert all(e.measurement.values() for one in shelf.recordings for e in one.entries)


def test_every_launch_without_a_recording_says_what_to_do() -> None:
    """Of all presets, as they ship: recorded on a GPU that is named, or how it can be."""
    shelf = lookup.shipped()
    found = [(plan, shelf.find(plan)) for *_, plan, _ in variants(tuple(map(real, SCENES)))]
    for plan, one in found:
        if one.measurement is None:
            assert "gpuviz record" in one.why or one.why == lookup.STALE, plan
        else:
            entry = shelf.entry(plan)
            assert entry is not None and entry.launch == key_of(plan)
            assert one.measurement.kind == "recorded" and one.measurement.device.name
    assert any(one.measurement for _, one in found)


@pytest.mark.parametrize(
    "change",
    [
        {"counters": {"global_load_sectors": CounterValue(np.inf)}},
        {"counters": {"global_load_sectors": CounterValue(np.nan)}},
        {"counters": {"global_load_sectors": CounterValue(-1.0)}},
        {"timing": Timing(np.array([1.0]), "warm", (np.nan, 1980.0))},
        {"peaks": Peaks(0.0, 1e12)},
        {"telemetry": Telemetry(power=-np.inf)},
    ],
)
def test_numbers_that_nobody_can_have_measured_are_refused(
    change: dict[str, Any], tmp_path: Path
) -> None:
    made = Entry("a", "b", {}, key_of(Plan()), replace(measurement(), **change))
    write(tmp_path / "x.gpurec", Recording(DEVICE, (made,)))
    with pytest.raises(FormatError, match="negative, or larger than any can be"):
        read(tmp_path / "x.gpurec")
