"""A launch on the compiled engine: all of its blocks, or a reason why it is left to the other.

Nothing is told and nothing stays in memory unless the whole launch was executed: a fault, a clash
of warps, or whatever else the code does not handle, gives the memory back as it was.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import Array
from gpuviz.base.errors import KernelFault
from gpuviz.ptx.compiled import build
from gpuviz.ptx.compiled.graph import Op
from gpuviz.ptx.compiled.kernel import Kernel, kernel_of
from gpuviz.ptx.compiled.memory_map import (
    BARRIER,
    CALLED,
    CANCELLED,
    CONFLICT,
    FAULT,
    NEEDED,
    TWICE,
    WRAPPED,
)
from gpuviz.ptx.compiled.worker import Worker
from gpuviz.ptx.compiled.writer import Bailout, PatternCount
from gpuviz.ptx.decode.locate import space_named
from gpuviz.ptx.decode.memory import polls
from gpuviz.ptx.options import Limits
from gpuviz.ptx.simt.machine import IDLE_LOOPS
from gpuviz.ptx.simt.program import Program, reachable
from gpuviz.ptx.simt.spaces import GLOBAL
from gpuviz.ptx.text.isa import ATOMICS, kind_of
from gpuviz.traces.trace import LANES, Buffer

CHUNK_SECONDS = 0.02  # how long a worker runs blocks before it takes others
POLL_SECONDS = 0.02
_WHY = {
    FAULT: "an access or instruction at fault",
    CONFLICT: "warps that touch the same memory with no barrier in between",
    BARRIER: "threads of a block that wait at different barriers",
    CALLED: "a call of printf, malloc or assert",
    CANCELLED: "cancelled",
}
RowListener = Callable[[Kernel, Array, Array, Array], None]
SavedBytes = list[tuple[int, Array]]  # parts of global memory: offset and bytes
Ranges = Sequence[tuple[int, int]]  # first block and count


@dataclass(eq=False)
class Outcome:
    """What a launch did, by workers: read their tables for counts."""

    kernel: Kernel
    workers: list[Worker]
    patterns: dict[int, PatternCount]
    before: SavedBytes  # the buffers that it may write, as they were


def execute(
    program: Program,
    buffers: Sequence[Buffer],
    ranges: Ranges,
    told: RowListener,
    again: Callable[[], None],
    limits: Limits,
    threads: int = 1,
) -> Outcome:
    """Run blocks.

    `told` hears requests that fit no pattern while the launch runs, from one thread at a time;
    `again` is called when all of it starts over.

    Raises
    ------
    Bailout : the NumPy engine is to run it; memory is as it was
    KernelFault : a limit is exceeded
    Cancelled : the caller asked to stop
    """
    _refuse(program)
    apart: frozenset[int] = frozenset()
    epochs = False
    for _ in range(8):
        attempt = _Attempt(program, buffers, apart, epochs, told)
        stopped = attempt.run(ranges, limits, threads)
        if stopped is None:
            return Outcome(attempt.kernel, attempt.workers, attempt.patterns, attempt.before)
        again()
        epochs |= stopped < 0
        apart |= {stopped} if stopped >= 0 else set()
    raise Bailout("addresses that wrap")


def _refuse(program: Program) -> None:
    """What is left to the NumPy engine at sight."""
    for function in reachable(program.module, program.kernel):
        for at in function.body:
            if polls(at) and space_named(at.opcode.mods) != "shared":
                raise Bailout(f"{at.opcode.text}, by which blocks may wait for each other")


def _spins(program: Program) -> bool:
    """Whether lanes may wait for others of their warp: then turns are given as in no other code."""
    return any(
        polls(at) or (kind_of(at) in ATOMICS and {"cas", "exch"} & set(at.opcode.mods))
        for function in reachable(program.module, program.kernel)
        for at in function.body
    )


class _Attempt:
    """One try at a launch."""

    def __init__(
        self,
        program: Program,
        buffers: Sequence[Buffer],
        apart: frozenset[int],
        epochs: bool,
        told: RowListener,
    ) -> None:
        self.program = program
        self.kernel = kernel_of(program, _pointers(program, buffers), apart, epochs)
        self._code: list[build.Code] = []  # lives as long as it is run
        self._functions = np.zeros(self.kernel.divergent + 1, np.uint64)
        self.patterns: dict[int, PatternCount] = {}
        self._driver = build.run()
        self._spins = _spins(program)
        self._lock = threading.Lock()
        self._told = told
        self._bounds = _bounds(program, buffers)
        self.workers: list[Worker] = []
        self.before = _kept(program, self._bounds, self.kernel.accesses.written)

    def run(self, ranges: Ranges, limits: Limits, threads: int) -> int | None:
        """Run all blocks; None when all is well.

        Else what to change for another try: the pc of an instruction whose address wrapped, or -1
        when a cell was written twice.
        """
        try:
            found = self._run(ranges, limits, threads)
        except BaseException:
            put_back(self.program, self.before)
            raise
        if found is not None:
            put_back(self.program, self.before)
        return found

    def _run(self, ranges: Ranges, limits: Limits, threads: int) -> int | None:
        share = _Share(ranges)
        alone = self.kernel.accesses.adds_up  # a worker's atomics are plain loads and stores
        self.workers = [self._worker() for _ in range(1 if alone else min(threads, share.total))]
        hands = [threading.Thread(target=self._work, args=(w, share)) for w in self.workers]
        for hand in hands:
            hand.start()
        try:
            late = self._wait(hands, share, limits)
        finally:
            self._halt(share)
            for hand in hands:
                hand.join()
        if late or share.failed is not None:
            raise share.failed or self._stopped(limits)
        limits.progress(1.0)
        return self._outcome(limits)

    def _wait(self, hands: list[threading.Thread], share: _Share, limits: Limits) -> bool:
        """Until all have ended, or a limit is exceeded: whether one was."""
        while running := [hand for hand in hands if hand.is_alive()]:
            running[-1].join(POLL_SECONDS)
            limits.progress(share.done / share.total)
            if limits.exceeded(self._executed) and any(hand.is_alive() for hand in hands):
                return True
        return False

    def _outcome(self, limits: Limits) -> int | None:
        """What became of blocks that have been run."""
        found = [(worker.get("stop", 32), worker.get("stop_at", 32)) for worker in self.workers]
        own = [one for one in found if one[0] not in (0, CANCELLED)]  # others were stopped by it
        if own:
            first, where = own[0]
            if first in (WRAPPED, TWICE):
                return where if first == WRAPPED else -1
            raise Bailout(_WHY.get(first, "an unknown reason"))
        for worker in self.workers:
            worker.flush()
        if limits.exceeded(self._executed):
            raise self._stopped(limits)
        if self._clash():
            raise Bailout(_WHY[CONFLICT])
        if self._spins and self._idle():
            raise Bailout("loops that may wait for a value that nobody writes")
        return -1 if self._twice() else None

    def _worker(self) -> Worker:
        kernel, lock, told = self.kernel, self._lock, self._told

        def hear(numbers: Array, masks: Array, addresses: Array) -> None:
            with lock:
                told(kernel, numbers, masks, addresses)

        return Worker(kernel, self._bounds, self._functions, hear)

    def _work(self, worker: Worker, share: _Share) -> None:
        """Run blocks until there are no more; in a thread of its own."""
        try:
            size = 1
            while (part := share.take(size)) is not None:
                began = time.monotonic()
                if not self._blocks(worker, *part):
                    share.stop()
                    self._halt(share)
                    return
                share.finished(part)
                spent = time.monotonic() - began
                if spent < CHUNK_SECONDS:
                    size *= 2
                elif spent > 2 * CHUNK_SECONDS:
                    size = max(1, size // 2)
        except Exception as failure:  # raised again in the thread that waits
            share.failed = failure
            self._halt(share)

    def _blocks(self, worker: Worker, first: int, last: int) -> bool:
        """Run blocks; whether all went well."""
        worker.set("block", first)
        worker.set("last_block", last)
        while (result := self._driver(worker.address)) == NEEDED:
            with self._lock:
                if not self._functions[worker.get("needed")]:
                    self._make(worker.get("needed"))
        return not result

    def _make(self, number: int) -> None:
        """Make the code that one function belongs to, which somebody waits for."""
        kernel, regions = self.kernel, len(self.kernel.regions)
        if number == kernel.divergent:
            if self._spins:
                raise Bailout("lanes that part where they may wait for each other")
            first, made = kernel.divergent, build.divergent(kernel)
        elif number < regions:
            first, made = 0, build.whole(kernel)
            self.patterns = made.patterns
        else:
            first, made = regions, build.some(kernel)
        self._code.append(made)
        self._functions[first : first + len(made.addresses)] = made.addresses

    def _halt(self, share: _Share) -> None:
        """Have all workers stop at their next jump back."""
        share.stop()
        for worker in self.workers:
            if not worker.get("stop", 32):
                worker.set("stop", CANCELLED)

    def _stopped(self, limits: Limits) -> KernelFault:
        """The error for a launch that takes too long; names the loop it was last seen in."""
        places = [worker.get("halted_at") for worker in self.workers]
        block = next((self.kernel.graph.blocks[n - 1] for n in places if n), None)
        first = next((op.at for op in block.ops if isinstance(op, Op)), None) if block else None
        text = self.program.module.line_text(first.ptx_line) if first else ""
        loop = f", still in the loop at {first.where} ({text})" if first else ""
        return limits.error(self._executed(), loop)

    def _executed(self) -> int:
        """Thread instructions so far."""
        total = 0
        counts = np.array([block.stretch.count for block in self.kernel.graph.blocks])
        for worker in self.workers:
            tables = worker.tables
            total += int(counts @ (LANES * tables["full"] + tables["part_threads"]))
        return total

    def _clash(self) -> bool:
        """Whether blocks of different workers touched what one of them wrote."""
        written = [worker.written != 0 for worker in self.workers]
        read = [worker.readers != 0 for worker in self.workers]
        for i, j in itertools.permutations(range(len(self.workers)), 2):
            others = written[j] | read[j] if len(read[j]) == len(written[j]) else written[j]
            if (written[i] & others).any():
                return True
        return False

    def _idle(self) -> bool:
        """Whether some loop may have been idle for longer than the NumPy engine lets it."""
        x, y, z = self.program.block
        a, b, c = self.program.grid
        warps = -(-x * y * z // LANES) * a * b * c
        most = max(int(worker.tables["full"].max()) for worker in self.workers)
        return most > IDLE_LOOPS * warps // 2

    def _twice(self) -> bool:
        """Whether workers wrote the same cell, where each is expected to be written once."""
        pairs = itertools.combinations(self.workers, 2)
        return any((one.once & other.once).any() for one, other in pairs)


class _Share:
    """The blocks that are left, shared out among workers."""

    def __init__(self, ranges: Ranges) -> None:
        self.total = sum(count for _, count in ranges)
        self.done = 0
        self.failed: Exception | None = None
        self._left = [(first, first + count) for first, count in ranges][::-1]
        self._lock = threading.Lock()

    def take(self, size: int) -> tuple[int, int] | None:
        """Some blocks that nobody has run: the first, and the one after the last."""
        with self._lock:
            if not self._left:
                return None
            first, end = self._left.pop()
            last = min(end, first + size)
            if last < end:
                self._left.append((last, end))
            return first, last

    def finished(self, part: tuple[int, int]) -> None:
        """They have been run."""
        with self._lock:
            self.done += part[1] - part[0]

    def stop(self) -> None:
        """There is nothing more to run."""
        with self._lock:
            self._left.clear()


def _kept(program: Program, bounds: dict[str, tuple[int, int]], names: set[str]) -> SavedBytes:
    """Copies of the buffers of some names; of all memory when one is not known."""
    memory = program.memory.cells.bytes
    if not names <= bounds.keys():
        return [(0, memory.copy())]
    return [
        (low - GLOBAL, memory[low - GLOBAL : high - GLOBAL].copy())
        for low, high in (bounds[name] for name in sorted(names))
    ]


def put_back(program: Program, kept: SavedBytes) -> SavedBytes:
    """Put bytes back into global memory; those that were there."""
    memory, found = program.memory.cells.bytes, []
    for start, content in kept:
        found.append((start, memory[start : start + len(content)].copy()))
        memory[start : start + len(content)] = content
    return found


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
        if space == "global" and start is not None and start in ends:
            found[name] = start, ends[start]
    return found
