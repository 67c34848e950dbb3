"""A worker whose GPU is made up: the protocol and the process are the real ones."""

import os
import sys
import time

import numpy as np

from gpuviz.arguments import Recipe
from gpuviz.base.errors import KernelFault
from gpuviz.gpu import worker
from gpuviz.gpu.cupti.library import failure
from gpuviz.gpu.protocol import Reply

FACTS = {
    "index": 0,
    "name": "Made-up GPU",
    "capability": "9.0",
    "driver": "580.1",
    "cuda": "13.0",
    "multiprocessors": 4,
    "memory": 1 << 30,
    "l2": 1 << 20,
    "bus": "0",
    "clock_mhz": 1000.0,
    "memory_clock_mhz": 1000.0,
    "limits": {"warpSize": 32},
    "counters": "",
}
LOG = os.environ.get("FAKE_LOG", os.devnull)


class Fake:
    """Adds one to every buffer; kernels named after troubles have them."""

    def __init__(self):
        self.launches = {}

    def fatal(self, error):
        return isinstance(error, KernelFault)

    def describe(self, request):
        return Reply({"devices": [FACTS], "own": 0})

    def load(self, request):
        with open(LOG, "a") as log:
            log.write(f"load {request.entry}\n")
        self.launches[request.key] = request
        if request.entry == "slow":
            time.sleep(0.8)
        said = {"resident_blocks": len(request.parameters), "registers": 16}
        return Reply(said if request.entry == "fits" else {})

    def drop(self, request):
        with open(LOG, "a") as log:
            log.write(f"drop {self.launches.pop(request.key).entry}\n")
        return Reply()

    def run(self, request):
        launch = self.launches[request.key]
        trouble = getattr(self, "_" + launch.entry, None)
        if trouble:
            trouble()
        made = (one.values if isinstance(one, Recipe) else one for one in launch.buffers)
        return request.reply(tuple(one + 1 for one in made))

    def time(self, request):
        time.sleep(0.001 * request.count)
        return Reply({"clocks": [1000.0]}, (np.full(request.count, 2.5),))

    def count(self, request):
        if self.launches[request.key].entry == "denied":
            raise failure("cuptiRangeProfilerEnable", 35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES")
        return Reply({"values": {"global_load_requests": 8.0}, "whys": {}, "passes": 1})

    def peaks(self, request):
        return Reply({"bytes_per_second": 1e12, "flops_per_second": 1e13})

    def place(self, request):
        return Reply(arrays=(np.tile(np.int64([1, 5, 9]), (request.blocks, 1)),))

    def sense(self, request):
        return Reply({"sm_clock": 1000.0, "throttle": ["power limit"]})

    def _faults(self):
        raise KernelFault("the kernel accessed an illegal address")

    def _hangs(self):
        time.sleep(60)

    def _dies(self):
        print("last words", file=sys.stderr, flush=True)
        os._exit(7)

    def _talks(self):
        os.write(1, b"lane 3 says hello\n")  # as CUDA's printf does, past Python's own output

    def _shouts(self):
        os.write(2, b"no end " * 9999)

    def _babbles(self):
        worker_sink.write(b"this is no message of ours")
        worker_sink.flush()
        os._exit(0)


if __name__ == "__main__":
    source, worker_sink = worker._pipes()
    worker.serve(Fake(), source, worker_sink)
