"""A driver that says what cannot be: it is told in words, and never a mistake of gpuviz."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpuviz.base.errors import Error
from gpuviz.cli import main
from gpuviz.gpu import client
from gpuviz.gpu.client import Gpu
from tests.gpu.lying_worker import facts
from tests.gpu.test_client import launch

WORKER = Path(__file__).with_name("lying_worker.py")
REQUESTS = "global_load_requests"
NAN, FAR = float("nan"), 1e300
NAME = "GPU\x1b]0;title\x07\x1b[2J\u202e\n\n" + "x" * 10_000
LIES: dict[str, dict[str, Any]] = {
    "no devices": {"describe": {"values": {"devices": []}}},
    "devices are a text": {"describe": {"values": {"devices": "many"}}},
    "nothing of devices": {"describe": {"values": {"devices": "gone", "own": "gone"}}},
    "own is another": {"describe": {"values": {"own": 7}}},
    "own is below": {"describe": {"values": {"own": -3}}},
    "own is no number": {"describe": {"values": {"own": "first"}}},
    "a name with escapes": facts(name=NAME, bus=NAME, driver=NAME, counters=NAME),
    "no capability": facts(capability=""),
    "a capability of letters": facts(capability="nine.zero"),
    "a capability to come": facts(capability="99.9"),
    "cuda is a word": facts(cuda="latest"),
    "no memory": facts(memory=0, l2=0, multiprocessors=0),
    "less than no memory": facts(memory=-1, l2=-5, multiprocessors=-2, clock_mhz=-1.0),
    "too much of all": facts(memory=2**62, l2=2**62, multiprocessors=2**31, clock_mhz=FAR),
    "clocks that are no numbers": facts(clock_mhz=NAN, memory_clock_mhz=NAN),
    "limits of none": facts(limits={"warpSize": 0, "maxThreadsPerBlock": -1}),
    "limits of letters": facts(limits={"warpSize": "many"}),
    "times below zero": {"time": {"arrays": [[-1.0] * 5]}},
    "times of zero": {"time": {"arrays": [[0.0] * 5]}},
    "times without end": {"time": {"arrays": [[NAN, FAR, float("inf"), 1.0, 2.0]]}},
    "no times": {"time": {"arrays": [[]]}},
    "no array of times": {"time": {"arrays": []}},
    "times in a square": {"time": {"arrays": [[[1.0, 2.0], [3.0, 4.0]]]}},
    "clocks below zero": {"time": {"values": {"clocks": [NAN, -5.0]}}},
    "clocks that are gone": {"time": {"values": {"clocks": "gone"}}},
    "clocks that are words": {"time": {"values": {"clocks": ["fast"]}}},
    "counters that are no numbers": {"count": {"values": {"values": {REQUESTS: NAN}}}},
    "counters below zero": {"count": {"values": {"values": {REQUESTS: -1.0}}}},
    "counters without end": {"count": {"values": {"values": {REQUESTS: FAR}}}},
    "counters of words": {"count": {"values": {"values": {REQUESTS: "8"}}}},
    "counters that are gone": {"count": {"values": {"values": "gone", "whys": "gone"}}},
    "whys with escapes": {"count": {"values": {"values": {}, "whys": {REQUESTS: NAME}}}},
    "peaks of zero": {"peaks": {"values": {"bytes_per_second": 0.0, "flops_per_second": 0.0}}},
    "peaks that are no numbers": {"peaks": {"values": {"bytes_per_second": NAN, "empty_us": -1.0}}},
    "peaks of words": {"peaks": {"values": {"bytes_per_second": "fast"}}},
    "telemetry of words": {"sense": {"values": {"sm_clock": "fast"}}},
    "telemetry with escapes": {"sense": {"values": {"throttle": [NAME], "power": NAN}}},
    "no buffers": {"run": {"arrays": []}},
    "buffers of another size": {"run": {"arrays": [[1.0], [2.0, 3.0, 4.0]]}},
    "more buffers": {"run": {"arrays": [[1.0]] * 9}},
    "same is a word": {"run": {"values": {"same": "all"}}},
    "same is gone": {"run": {"values": {"same": "gone"}}},
    "residents below zero": {"load": {"values": {"resident_blocks": -4, "registers": -4}}},
    "residents of letters": {"load": {"values": {"resident_blocks": "all", "registers": NAN}}},
    "places of another size": {"place": {"arrays": [[1.0, 2.0]]}},
    "places nowhere": {"place": {"arrays": [[[NAN, FAR, -FAR]]]}},
    "no places": {"place": {"arrays": []}},
}
KERNEL = """extern "C" __global__ void copy(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}"""
ARGUMENTS = ["--grid", "2", "--block", "128", "--repeat", "5"]
for spec in ("f32[256]=zeros", "f32[256]=zeros", "i32=256"):
    ARGUMENTS += ["--arg", spec]


@pytest.fixture(params=LIES)
def arguments(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How the process of a GPU that lies is started."""
    root = str(Path(__file__).parents[2])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((root, os.environ.get("PYTHONPATH", ""))))
    return [sys.executable, str(WORKER), json.dumps(LIES[request.param])]


@pytest.mark.slow
def test_it_is_told_in_words(arguments: list[str]) -> None:
    one = launch()
    expected = {"a": np.zeros(5, np.float32), "b": np.zeros(1, np.int32)}
    with Gpu(arguments=arguments, limit=10.0) as gpu:
        for ask in (
            gpu.devices,
            gpu.facts,
            gpu.telemetry,
            gpu.peaks,
            lambda: gpu.run(one),
            lambda: gpu.differences(one, expected),
            lambda: gpu.time(one, 5).median,
            lambda: gpu.count(one),
            lambda: gpu.place(one),
            lambda: gpu.resident_blocks(one),
        ):
            try:
                ask()
            except Error as error:
                assert str(error).strip()


@pytest.mark.slow
@pytest.mark.parametrize("command", ["device", "run --json"])
def test_the_commands_say_so(
    command: str,
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(client, "command", lambda device: arguments)
    (tmp_path / "copy.cu").write_text(KERNEL)
    name, *rest = command.split()
    given = [str(tmp_path / "copy.cu"), *ARGUMENTS] if name == "run" else []
    status = main([name, *given, *rest])
    said = capsys.readouterr()
    assert status in (0, 1, 2, 3) and "a mistake of gpuviz" not in said.err, said.err
    assert not set(said.out + said.err) & set("\x1b\x07\u202e")
