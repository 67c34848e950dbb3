"""A GPU that is none: the real worker loop and pipes, answers made up. Run as a program.

`python fake_gpu.py BEHAVIOUR [PACE]`: "well", or how its launches end: "fault", "hang", "die",
"denied"
(counters only), "full" (no memory for it), "babble" (what is sent is no reply), "none" (no GPU is
there). A kernel named after one of these behaves so alone. With FAKE_GPU=none in its environment it
has no GPU, either. Each answer takes PACE times as long as an H200 takes for it, 0 by default.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gpuviz.arguments import Recipe
from gpuviz.base.errors import KernelFault, UnavailableError
from gpuviz.gpu import protocol
from gpuviz.gpu.counters import SETS
from gpuviz.gpu.faults import CountersUnavailable, NoDevice
from gpuviz.gpu.protocol import Reply, Request
from gpuviz.gpu.worker import serve
from gpuviz.recordings.measurement import DeviceFacts, Telemetry

DENIED = "hardware counters are denied: ask the administrator"
EMPTY_US = 2.1
SECONDS = {"describe": 1.4, "peaks": 0.34, "load": 0.35, "time": 0.055, "run": 0.3, "place": 0.3}
COUNT_SECONDS = {"all": 0.82, "live": 0.17}
COUNTS = {
    "global_load_requests": 512.0,
    "global_load_sectors": 4096.0,
    "global_load_lines": 1024.0,
    "global_store_requests": 512.0,
    "global_store_sectors": 2049.0,
}


def facts(index: int, why: str = "") -> DeviceFacts:
    return DeviceFacts(
        index,
        f"NVIDIA Test {index}",
        "9.0",
        "580.1",
        "13.0",
        132,
        1 << 36,
        50 << 20,
        f"bus{index}",
        counters=why,
    )


class FakeDevice:
    """Answers at once; durations are 2.3 microseconds with a seeded noise."""

    def __init__(self, behaviour: str) -> None:
        self._behaviour = behaviour
        self._random = np.random.default_rng(7)
        self._buffers: dict[str, tuple[protocol.Array | Recipe, ...]] = {}
        self._entries: dict[str, str] = {}

    def fatal(self, error: Exception) -> bool:
        return isinstance(error, KernelFault | NoDevice)

    def describe(self, request: protocol.Describe) -> Reply:
        if self._behaviour == "none" or os.environ.get("FAKE_GPU") == "none":
            raise NoDevice("no NVIDIA driver on this machine")
        why = DENIED if self._behaviour == "denied" else ""
        return Reply({"devices": [asdict(facts(0, why)), asdict(facts(1, why))], "own": 0})

    def load(self, request: protocol.Load) -> Reply:
        if request.entry == "full":
            raise UnavailableError("the GPU has too little free memory for the buffers")
        self._buffers[request.key] = request.buffers
        self._entries[request.key] = request.entry
        return Reply()

    def drop(self, request: protocol.Drop) -> Reply:
        self._buffers.pop(request.key, None)
        return Reply()

    def _launch(self, key: str) -> None:
        for behaviour in (self._behaviour, self._entries[key]):
            if behaviour == "fault":
                raise KernelFault("the kernel accessed an illegal address")
            if behaviour == "hang":
                time.sleep(3600)
            if behaviour == "die":
                os._exit(7)
            if behaviour == "babble":
                os.write(1, b"this is no reply of ours")
                time.sleep(3600)

    def run(self, request: protocol.Run) -> Reply:
        self._launch(request.key)
        begun = self._buffers[request.key]
        left = (one.values if isinstance(one, Recipe) else one for one in begun)
        return request.reply(tuple(left))

    def time(self, request: protocol.Time) -> Reply:
        self._launch(request.key)
        noise = self._random.gamma(2.0, 0.02, request.count)
        return Reply({"clocks": [1980.0]}, (2.25 + noise,))

    def count(self, request: protocol.Count) -> Reply:
        if self._behaviour == "denied":
            raise CountersUnavailable(DENIED, "denied")
        values = {k: v for k, v in COUNTS.items() if k in SETS[request.which]}
        return Reply({"values": values, "whys": {}, "passes": 1})

    def place(self, request: protocol.Place) -> Reply:
        """Two at once on each of 16 multiprocessors, which takes 400 to 415 ns."""
        block = np.arange(request.blocks)
        start = 10_000 + block // 32 * 500
        return Reply(arrays=(np.stack([block % 16, start, start + 400 + block % 16], axis=1),))

    def peaks(self, request: protocol.Peaks) -> Reply:
        peaks = {"bytes_per_second": 4.157e12, "flops_per_second": 6e13, "empty_us": EMPTY_US}
        return Reply(peaks)

    def sense(self, request: protocol.Sense) -> Reply:
        return Reply(asdict(Telemetry(1980.0, 3201.0, 45.0, 148.0, 1 << 30)))


class Paced(FakeDevice):
    """Answers after as long as an H200 takes for it, times `pace`."""

    pace = 0.0

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name != "count" and name not in SECONDS:
            return found

        def answer(request: Request) -> Reply:
            which = request.which if isinstance(request, protocol.Count) else ""
            time.sleep(self.pace * (COUNT_SECONDS[which] if which else SECONDS[name]))
            reply: Reply = found(request)
            return reply

        return answer


def arguments(behaviour: str = "well", pace: float = 0.0) -> list[str]:
    """How this program is started."""
    return [sys.executable, str(Path(__file__)), behaviour, str(pace)]


if __name__ == "__main__":
    device = Paced(sys.argv[1])
    device.pace = float(sys.argv[2])
    serve(device, sys.stdin.buffer, sys.stdout.buffer)
