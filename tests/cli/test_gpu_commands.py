"""run, device, record and verify --live: with a made-up GPU, and on a machine without one."""

import json
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from gpuviz.cli import main
from gpuviz.runners.faults import NoDevice
from gpuviz.runners.gpu import client
from gpuviz.runners.gpu.client import Gpu
from gpuviz.runners.recording import read

WORKER = Path(__file__).parents[1] / "runners" / "fake_worker.py"
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
    assert "allows at most 1\u2009024" in capsys.readouterr().err
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
