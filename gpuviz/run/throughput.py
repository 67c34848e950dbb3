"""Bytes and operations a second, from what was counted and how long it took."""

from collections.abc import Mapping
from dataclasses import dataclass

from gpuviz.memory.counts import PART_OF, Count, Quantity
from gpuviz.recordings.measurement import Peaks
from gpuviz.run.run import Run
from gpuviz.timing.traffic import runs_of

SECTOR = 32


@dataclass(frozen=True)
class Work:
    """What one launch does, as counted by executing it.

    `asked` are the bytes its lanes read and write in global memory, `moved` those of the sectors
    they lie in, `flops` its floating-point operations.
    """

    asked: int
    moved: int
    flops: int


@dataclass(frozen=True)
class Throughput:
    """A second's worth: bytes asked and moved, floating-point operations."""

    asked: float
    moved: float
    flops: float

    def of_peak(self, peaks: Peaks) -> tuple[float, float]:
        """Fractions of the copy's bytes (by bytes asked) and of the multiply-adds' operations."""
        return self.asked / peaks.bytes_per_second, self.flops / peaks.flops_per_second


def work_of(run: Run) -> Work:
    """The work of a run; scaled up when only some of the blocks were emulated."""
    totals, launch = run.counts.totals, run.trace.launch
    scale = launch.blocks / max(run.trace.blocks_emulated, 1)
    asked, sectors = _sum(totals, "bytes"), _sum(totals, "sectors")
    return Work(
        round(scale * asked), round(scale * SECTOR * sectors), round(scale * run.trace.flops)
    )


def _sum(totals: Mapping[Count, int], quantity: Quantity) -> int:
    """Over all ways to access global memory, each once: some kinds are part of another."""
    return sum(
        n
        for count, n in totals.items()
        if (count.kind[0], count.quantity) == ("global", quantity) and count.kind not in PART_OF
    )


def memory_sectors(run: Run) -> tuple[int, int]:
    """Sectors for which memory has to be read, each once, in whole pairs; and those stored to."""
    held = sum(buffer.size for buffer in run.trace.launch.buffers) // SECTOR
    stored = min(run.counts.totals[Count.GLOBAL_STORE_SECTORS], held)
    return 2 * run.counts.distinct_load_pairs + copied(run), stored


def copied(run: Run) -> int:
    """Sectors for which memory has to be read on behalf of bulk copies: each once, of the buffers
    that they read.
    """
    asked = run.counts.others.get(Count.BULK_LOAD_SECTORS, 0)
    _, address, _ = runs_of(run.trace)
    read = {run.trace.launch.buffer_at(int(at)) for at in address[:: max(len(address) // 4096, 1)]}
    return min(asked, sum(buffer.size for buffer in read if buffer) // SECTOR)


def throughput(work: Work, microseconds: float) -> Throughput:
    """The rates at which that much was done in that time."""
    seconds = microseconds * 1e-6
    return Throughput(work.asked / seconds, work.moved / seconds, work.flops / seconds)
