"""run, device, record and verify --live: with a made-up GPU, and on a machine without one."""

import json
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpuviz.cli import launches_to_record, main, record
from gpuviz.cli.launches_to_record import in_order, variants
from gpuviz.course import SCENES, lesson
from gpuviz.files import checksums
from gpuviz.gpu import client, live
from gpuviz.gpu.client import Gpu
from gpuviz.gpu.faults import NoDevice
from gpuviz.launch.job import Job
from gpuviz.recordings import lookup
from gpuviz.recordings.measurement import DeviceFacts, Measurement
from gpuviz.recordings.recording import Entry, Recording, read, write

WORKER = Path(__file__).parents[1] / "gpu" / "fake_worker.py"
KERNEL = """extern "C" __global__ void copy(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}"""
ARGUMENTS = (
    "--grid",
    "2",
    "--block",
    "128",
    "--arg",
    "f32[256]=zeros",
    "--arg",
    "f32[256]=zeros",
    "--arg",
    "i32=256",
    "--repeat",
    "5",
)


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "command", lambda device: [sys.executable, str(WORKER)])


@pytest.fixture
def kernel(tmp_path: Path) -> str:
    (tmp_path / "copy.cu").write_text(KERNEL)
    return str(tmp_path / "copy.cu")


@pytest.mark.usefixtures("made_up")
def test_run_puts_measured_beside_predicted(
    kernel: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", kernel, *ARGUMENTS]) == 0
    told = capsys.readouterr().out
    assert "measured on Made-up GPU" in told and "5 launches (warm): median 2.50 us" in told
    assert "0.8 GB/s asked for" in told and "0.1% of a copy's 1,000" in told
    assert "largest difference to the emulator's in: 1" in told
    (row,) = [line.split() for line in told.splitlines() if line.startswith("global_load_requests")]
    assert row == ["global_load_requests", "8", "8", "0"]


@pytest.mark.usefixtures("made_up")
@pytest.mark.machine_code
def test_run_tells_the_time_that_is_modelled_and_what_limits(
    kernel: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", kernel, *ARGUMENTS]) == 0
    told = capsys.readouterr().out
    assert "modelled: " in told and "for the launch itself; measured " in told
    assert "Limited by latency" in told and "if (i < n) out[i] = in[i];" in told
    assert main(["run", kernel, *ARGUMENTS, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["modelled"]
    assert found["limiter"] == "latency" and found["duration_ns"] > 2000
    assert found["l2_to_l1_sectors"] == 32 and found["dram_read_sectors"] == 0  # all is in L2


@pytest.mark.usefixtures("made_up")
def test_run_tells_what_the_checks_find(kernel: str, capsys: pytest.CaptureFixture[str]) -> None:
    shared = "__shared__ float s[128]; s[threadIdx.x] = in[i]; out[i] = s[127 - threadIdx.x];"
    Path(kernel).write_text(KERNEL.replace("if (i < n) out[i] = in[i];", shared))
    assert main(["run", kernel, *ARGUMENTS, "--check", "race"]) == 1
    assert "error, race" in capsys.readouterr().err
    assert main(["run", kernel, *ARGUMENTS, "--check", "none", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["findings"] == [] == told["checks"]


@pytest.mark.usefixtures("made_up")
def test_run_as_json(kernel: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", kernel, *ARGUMENTS, "--places", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["kernel"] == "copy" and told["timing"]["median_us"] == 2.5
    assert told["counters"]["global_load_requests"]["value"] == 8
    assert told["counters"]["global_store_lines"]["status"] == "unavailable"
    assert told["predicted"]["global_store_sectors"] == 32
    assert told["placement"]["end_ns"] == [4, 4] and told["device"]["capability"] == "9.0"


@pytest.mark.usefixtures("made_up")
def test_run_without_counters(kernel: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", kernel, *ARGUMENTS, "--no-counters"]) == 0
    assert "global_load" not in capsys.readouterr().out


@pytest.mark.usefixtures("made_up")
def test_run_refuses_launches_beyond_the_device(
    kernel: str, capsys: pytest.CaptureFixture[str]
) -> None:
    beyond = ["2048" if word == "128" else word for word in ARGUMENTS]
    assert main(["run", kernel, *beyond]) == 2
    assert "allows at most 1\u202f024" in capsys.readouterr().err
    assert main(["run", kernel, *ARGUMENTS[:-1], "0"]) == 2


@pytest.mark.usefixtures("made_up")
def test_device(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["device"]) == 0
    told = capsys.readouterr().out
    assert "Made-up GPU  compute capability 9.0, sm_90" in told and "counters: available" in told
    assert "held back by power limit" in told
    assert main(["device", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["devices"][0]["multiprocessors"] == 4


@pytest.mark.usefixtures("made_up")
def test_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "made.gpurec"
    assert main(["record", "--scene", "coalescing", "--repeat", "3", "-o", str(out)]) == 0
    assert "measured on Made-up GPU" in capsys.readouterr().out
    recording = read(out)
    assert {entry.lesson for entry in recording.entries} == {"coalescing"}
    assert len({entry.launch for entry in recording.entries}) == len(recording.entries) > 3
    assert all(e.measurement.timing is not None for e in recording.entries)
    assert main(["record", "-o", str(out)]) == 2
    capsys.readouterr()
    assert main(["record", "--check", "--scene", "coalescing", "-o", str(out)]) == 0
    assert main(["record", "--check", "--scene", "transpose", "-o", str(out)]) == 1
    assert "transpose" in capsys.readouterr().out


RECORD = ("record", "--scene", "transpose", "--scene", "alignment", "--repeat", "1", "-o")


@pytest.mark.slow
@pytest.mark.usefixtures("made_up")
def test_a_recording_goes_on_where_it_was_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One file for each lesson, written as each launch is done; what is there stays."""
    place, measured = tmp_path / "made", []
    measure = live.measure

    def stopped_at_the_third(gpu: Gpu, job: Job, *given: Any, **named: Any) -> Measurement:
        if len(measured) == 2:
            raise KeyboardInterrupt
        measured.append(job)
        return measure(gpu, job, *given, **named)

    monkeypatch.setattr(live, "measure", stopped_at_the_third)
    with suppress(KeyboardInterrupt):
        main([*RECORD, str(place)])
    before = {file.stem: read(file).entries for file in place.glob("*.gpurec")}
    assert sum(map(len, before.values())) == 2

    monkeypatch.setattr(live, "measure", measure)
    assert main([*RECORD, str(place)]) == 0
    after = {file.stem: read(file).entries for file in place.glob("*.gpurec")}
    assert set(after) == {"transpose", "alignment"} and len(after["transpose"]) == 4
    first = [one.launch for entries in before.values() for one in entries]
    now = [one.launch for entries in after.values() for one in entries]
    assert len(set(now)) == len(now) and set(first) < set(now)
    assert main([*RECORD, str(place), "--check"]) == 0
    assert "everything is recorded" in capsys.readouterr().out


@pytest.mark.usefixtures("made_up")
def test_a_recording_ends_with_its_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hour = iter(range(0, 360_000, 3600))
    monkeypatch.setattr(record, "monotonic", lambda: next(hour))
    assert main([*RECORD, str(tmp_path / "made"), "--time-limit", "5000"]) == 1
    told = capsys.readouterr().out
    assert "the same command goes on" in told and "1 of 7 launches" in told


@pytest.mark.usefixtures("made_up")
def test_another_gpu_is_not_mixed_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = lookup.shipped().recordings[0]
    write(tmp_path / "banks.gpurec", Recording(other.device, other.entries[:1]))
    assert main([*RECORD, str(tmp_path)]) == 2
    assert "holds measurements of NVIDIA H200, and this is Made-up GPU" in capsys.readouterr().err


def test_what_nobody_has_recorded_comes_first() -> None:
    every = tuple(variants(SCENES))
    shipped = lookup.shipped()
    ordered = in_order(every, shipped, missing=False)
    known = [shipped.find(plan).measurement is not None for _, _, plan, _ in ordered]
    assert known == sorted(known) and 0 < sum(known) < len(known)
    missing = in_order(every, shipped, missing=True)
    assert missing == ordered[: known.index(True)] and len(ordered) == len(every)


def test_recordings_are_merged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest of each launch stays, and what is no launch of the course any more goes."""
    monkeypatch.setattr(launches_to_record, "SCENES", (lesson("banks"),))
    (device, entries), (new, into) = own_entries(), (tmp_path / "new", tmp_path / "ours")
    new.mkdir(), into.mkdir()
    one, two, three, gone = entries
    newer = replace(two, measurement=replace(two.measurement, date="2099-01-01"), role="renamed")
    write(into / "any.gpurec", Recording(device, (one, two, gone)))
    write(new / "coalescing.gpurec", Recording(device, (newer, three)))
    assert main(["record", "--merge", str(new), "-o", str(into)]) == 0
    assert "2 new, 1 kept, 1 dropped" in capsys.readouterr().out
    merged = {entry.launch: entry for entry in read(into / "nvidia-h200.gpurec").entries}
    assert merged.keys() == {one.launch, two.launch, three.launch}
    assert merged[two.launch].measurement.date == "2099-01-01"
    assert merged[two.launch].role == two.role
    checksums.check(into / "nvidia-h200.gpurec")
    assert main(["record", "--merge", str(tmp_path), "-o", str(into)]) == 2


def own_entries() -> tuple[DeviceFacts, tuple[Entry, ...]]:
    """Three entries of launches of the course, and one that is none any more."""
    recording = lookup.shipped().recordings[0]
    ours = {key for _, _, _, key in variants((lesson("banks"),))}
    now = [entry for entry in recording.entries if entry.launch in ours][:3]
    gone = replace(now[0], launch=replace(now[0].launch, source_hash="of before"))
    return recording.device, (*now, gone)


@pytest.mark.usefixtures("made_up")
def test_verify_live_replaces_what_the_file_says(
    tmp_path: Path, kernel: str, capsys: pytest.CaptureFixture[str]
) -> None:
    launch = {
        "name": "one",
        "source": "copy.cu",
        "grid": [2],
        "block": [128],
        "args": ["f32[256]=rand", "f32[256]=zeros", "i32=256"],
        "measured": {"global_load_requests": 77},
    }
    file = tmp_path / "launches.json"
    file.write_text(json.dumps({"compute_capability": "8.0", "launches": [launch]}))
    assert main(["verify", str(file)]) == 1
    assert main(["verify", str(file), "--live", "--trust"]) == 0
    assert "Made-up GPU, Hopper (9.0): 1 of 1 launch equal" in capsys.readouterr().out


@pytest.mark.parametrize(
    "command", [("device",), ("record", "--all", "-o", "x.gpurec"), ("run", "{kernel}", *ARGUMENTS)]
)
def test_without_a_gpu_the_status_is_three(
    command: tuple[str, ...], kernel: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Gpu() as gpu, suppress(NoDevice):
        pytest.skip(f"there is one: {gpu.facts().name}")
    assert main([word.format(kernel=kernel) for word in command]) == 3
    told = capsys.readouterr().err
    assert told.startswith("gpuviz: ") and told.count("\n") == 1
