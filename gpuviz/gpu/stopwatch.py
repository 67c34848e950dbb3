"""Durations of launches by CUDA events.

Launches queue up behind a kernel that holds the GPU, so that the time between the two events of a
launch has no part of the time the processor takes to start it.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from gpuviz.base import resources
from gpuviz.base.arrays import F64
from gpuviz.compile import compile_cuda
from gpuviz.gpu.buffers import Buffers
from gpuviz.gpu.kernel import Kernel
from gpuviz.gpu.protocol import Load, Mode
from gpuviz.recordings.measurement import Peaks

FLOPS_PER_ROUND = 2 * 16 * 8  # of one thread of multiply_add
HOLD_NS = 25_000  # for each launch that queues up
_LONGEST_HOLD_NS = 5_000_000
_COPY_BYTES = 1 << 30
_TRIES = 12
_EMPTY_LAUNCHES, _EMPTY_WARMUP_MS = 200, 20


class Stopwatch:
    """Times launches on the current device, an `sm_XX` with `l2` bytes of L2 cache."""

    def __init__(self, cupy: Any, sm: str, l2: int) -> None:
        self._cupy, self._l2 = cupy, l2
        self._code = np.frombuffer(
            compile_cuda(resources.text("gpu/stopwatch.cu"), arch=sm).cubin, np.uint8
        )
        self._hold = self._own("hold", 1, 1)
        self._sweep: Any = None

    def _own(self, entry: str, grid: int, block: int) -> Any:
        shape = (grid, 1, 1), (block, 1, 1), 0
        request = Load(entry, "cubin", entry, *shape, (), (), (), (self._code,))
        return Kernel(self._cupy, request, Buffers(self._cupy, 0))

    def time(self, kernel: Kernel, count: int, warmup_ms: float, mode: Mode) -> F64:
        """Microseconds of `count` launches."""
        if mode == "rotated":
            kernel.rotate(2 * self._l2)
        else:
            kernel.stay()
        self._warm_up(kernel.launch, warmup_ms)
        between = self._flush if mode == "flushed" else None
        return self._durations(kernel.launch, count, between)

    def _warm_up(self, launch: Callable[[int], None], milliseconds: float) -> None:
        """Clocks rise only under load."""
        stream = self._cupy.cuda.get_current_stream()
        end, number = time.perf_counter() + milliseconds / 1000, 0
        while time.perf_counter() < end or number == 0:
            launch(number)
            stream.synchronize()
            number += 1

    def _flush(self) -> None:
        if self._sweep is None:
            self._sweep = self._cupy.zeros(2 * self._l2, self._cupy.uint8)
        self._sweep.data.memset_async(0, self._sweep.nbytes)

    def _durations(
        self, launch: Callable[[int], None], count: int, between: Callable[[], None] | None
    ) -> F64:
        cuda = self._cupy.cuda
        events = [(cuda.Event(), cuda.Event()) for _ in range(count)]
        self._hold_up(count)
        for number, (start, end) in enumerate(events):
            if between:
                between()
            start.record()
            launch(number)
            end.record()
        cuda.get_current_stream().synchronize()
        return np.array([cuda.get_elapsed_time(start, end) * 1000 for start, end in events])

    def _hold_up(self, count: int) -> None:
        nanoseconds = min(count * HOLD_NS, _LONGEST_HOLD_NS)
        hold = self._hold.module.get_function("hold")
        hold((1,), (1,), (np.uint64(nanoseconds),))

    def peaks(self, multiprocessors: int, memory: int) -> Peaks:
        """The best of several tries of a copy and of multiply-adds, `memory` bytes being there."""
        return Peaks(
            self._copied(multiprocessors, min(_COPY_BYTES, memory // 8)),
            self._multiplied(multiprocessors),
            self._empty(),
        )

    def _empty(self) -> float:
        """Microseconds of a kernel that does nothing: the middle one of many."""
        kernel = self._hold.module.get_function("empty")

        def go(number: int) -> None:
            kernel((1,), (32,), ())

        self._warm_up(go, _EMPTY_WARMUP_MS)
        return float(np.median(self._durations(go, _EMPTY_LAUNCHES, None)))

    def _copied(self, multiprocessors: int, size: int) -> float:
        count = size // 16
        source, target = (self._cupy.zeros(count * 4, self._cupy.float32) for _ in range(2))
        copy = self._hold.module.get_function("copy")

        def go(number: int) -> None:
            copy((multiprocessors * 16,), (512,), (source, target, np.uint64(count)))

        return 2 * 16 * count / self._best(go)

    def _multiplied(self, multiprocessors: int) -> float:
        rounds, blocks, threads = 2000, multiprocessors * 8, 256
        out = self._cupy.zeros(blocks * threads, self._cupy.float32)
        loop = self._hold.module.get_function("multiply_add")

        def go(number: int) -> None:
            loop((blocks,), (threads,), (out, np.float32(0.999), np.float32(1), np.int32(rounds)))

        return FLOPS_PER_ROUND * rounds * blocks * threads / self._best(go)

    def _best(self, launch: Callable[[int], None]) -> float:
        """Seconds of the shortest of several launches."""
        self._warm_up(launch, 100)
        return float(self._durations(launch, _TRIES, None).min()) * 1e-6
