"""A launch on the compiled engine: all of its blocks, or a reason why it is left to the other.

Nothing is told and nothing stays in memory unless the whole launch was executed: a fault, a clash
of warps, or whatever else the code does not handle, gives the memory back as it was.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from gpuviz.arrays import Array
from gpuviz.errors import Cancelled
from gpuviz.ptx.compiled import build
from gpuviz.ptx.compiled.kernel import Kernel, kernel_of
from gpuviz.ptx.compiled.memory_map import (
    BARRIER,
    CALLED,
    CANCELLED,
    CONFLICT,
    FAULT,
    NEEDED,
    UNWRITTEN,
    WRAPPED,
)
from gpuviz.ptx.compiled.worker import Worker
from gpuviz.ptx.compiled.writing import NotTaken, Pattern
from gpuviz.ptx.decode.memory import polls
from gpuviz.ptx.simt.program import Program, reachable
from gpuviz.trace import Buffer

CHUNK_SECONDS = 0.02  # how long a worker runs blocks before it reports
_WHY = {
    FAULT: "an access or instruction at fault",
    CONFLICT: "warps that touch the same memory with no barrier in between",
    UNWRITTEN: "shared memory that is read before it is written",
    BARRIER: "a barrier that not all threads reach",
    CALLED: "a call of printf, malloc or assert",
    CANCELLED: "cancelled",
}
Told = Callable[[Kernel, Array, Array, Array], None]


@dataclass(eq=False)
class Executed:
    """What a launch did, by workers: read their tables for counts."""

    kernel: Kernel
    workers: list[Worker]
    patterns: dict[int, Pattern]
    before: Array = field(repr=False)  # global memory before the launch


def execute(
    program: Program,
    buffers: Sequence[Buffer],
    ranges: Sequence[tuple[int, int]],
    told: Told,
    cancel: Callable[[], bool],
    progress: Callable[[float], None],
    threads: int = 1,
) -> Executed:
    """Run blocks.

    `told` hears requests that fit no pattern while the launch runs.

    Raises
    ------
    NotTaken : the NumPy engine is to run it; memory is as it was
    Cancelled : the caller asked to stop
    """
    _refuse(program)
    apart: frozenset[int] = frozenset()
    for _ in range(8):
        attempt = _Attempt(program, buffers, apart, told)
        wrapped = attempt.run(ranges, cancel, progress, threads)
        if wrapped is None:
            return Executed(attempt.kernel, attempt.workers, attempt.patterns, attempt.before)
        apart |= {wrapped}
    raise NotTaken("addresses that wrap")


def _refuse(program: Program) -> None:
    """What is left to the NumPy engine at sight."""
    for function in reachable(program.module, program.kernel):
        for at in function.body:
            name, mods = at.opcode.name, at.opcode.mods
            if polls(at) or (name in ("atom", "red") and ("cas" in mods or "exch" in mods)):
                raise NotTaken(f"{at.opcode.text}, by which threads may wait for each other")
            if name == "cp":
                raise NotTaken("an asynchronous copy")


class _Attempt:
    """One try at a launch."""

    def __init__(
        self, program: Program, buffers: Sequence[Buffer], apart: frozenset[int], told: Told
    ) -> None:
        self.program = program
        offsets = _pointers(program, buffers)
        self.kernel = kernel_of(program, offsets, apart)
        together = build.together(self.kernel)
        self.patterns = together.patterns
        self._regions = build.code_of(together)
        self._parted: build.Code | None = None
        self._driver = build.RUN(build.code_of(build.driver()).addresses["run"])
        self._lock = threading.Lock()
        self._told = told
        self.bounds = _bounds(program, buffers)
        self.workers: list[Worker] = []
        self.before = program.memory.cells.bytes.copy()

    def run(
        self,
        ranges: Sequence[tuple[int, int]],
        cancel: Callable[[], bool],
        progress: Callable[[float], None],
        threads: int,
    ) -> int | None:
        """Run all blocks; the pc of an instruction whose address wrapped, None when all is well."""
        left = list(ranges)[::-1]
        total, done = sum(count for _, count in ranges), 0
        table = np.array(
            [self._regions.addresses[f"region{n}"] for n in range(len(self.kernel.regions))],
            np.uint64,
        )
        worker = Worker(self.kernel, self.bounds, self._hear)
        worker.name_symbols()
        worker._point("regions", table)
        self.workers.append(worker)
        for first, count in left[::-1]:
            start, end, size = first, first + count, 1
            while start < end:
                size = min(size, end - start)
                began = time.monotonic()
                why = self._blocks(worker, start, start + size)
                if why:
                    return self._stopped(worker, why)
                if cancel():
                    self._restore()
                    raise Cancelled("stopped")
                start, done = start + size, done + size
                progress(done / total)
                spent = time.monotonic() - began
                if spent < CHUNK_SECONDS:
                    size *= 2
                elif spent > 2 * CHUNK_SECONDS:
                    size = max(1, size // 2)
        worker.flush()
        return None

    def _blocks(self, worker: Worker, first: int, last: int) -> int:
        """Run blocks; 0, or why the launch stopped."""
        worker.set("block", first)
        worker.set("last_block", last)
        while True:
            result = self._driver(worker.address)
            if result != NEEDED:
                return worker.get("stop", 32) if result else 0
            if self._parted is None:
                self._parted = build.code_of(build.apart(self.kernel))
                worker.name_symbols()
            worker.set("parted", self._parted.addresses["parted"])

    def _hear(self, numbers: Array, masks: Array, addresses: Array) -> None:
        with self._lock:
            self._told(self.kernel, numbers, masks, addresses)

    def _stopped(self, worker: Worker, why: int) -> int | None:
        self._restore()
        if why == WRAPPED:
            return worker.get("stop_at", 32)
        raise NotTaken(_WHY.get(why, "an unknown reason"))

    def _restore(self) -> None:
        self.program.memory.cells.bytes[:] = self.before


def _pointers(program: Program, buffers: Sequence[Buffer]) -> dict[int, str]:
    """The buffers by the offset of their parameter."""
    by_address = {buffer.address: buffer.name for buffer in buffers}
    content = program.parameters.cells.bytes.tobytes()
    found = {}
    for offset in program.parameter_offset.values():
        value = int.from_bytes(content[offset : offset + 8], "little")
        if value in by_address:
            found[offset] = by_address[value]
    return found


def _bounds(program: Program, buffers: Sequence[Buffer]) -> dict[str, tuple[int, int]]:
    """Where each buffer and each variable starts and ends."""
    found = {b.name: (b.address, b.address + b.size) for b in buffers}
    lows, highs = program.memory.bounds()
    ends = dict(zip(lows.tolist(), highs.tolist(), strict=True))
    for name, space in program.spaces.items():
        start = program.addresses.get(name)
        if space == "global" and start in ends:
            found[name] = start, ends[start]
    return found
