"""Kernels under a roofline: their operations and bytes as counted, their rates as measured."""

from dataclasses import dataclass

from gpuviz.arch.roofline import Roof, a_float, intensity
from gpuviz.memory.counts import Count
from gpuviz.recordings.measurement import DeviceFacts
from gpuviz.run.run import Run
from gpuviz.run.throughput import work_of
from gpuviz.story.lesson import Runs
from gpuviz.story.measured import LaunchTime, time_of

# "GPGPU programming: memory and data locality": the example's device, and that of its tiles.
DOCUMENT = Roof(1e12, 12e12)
TILES = Roof(150e9)


@dataclass(frozen=True, eq=False)
class Point:
    """One kernel."""

    # role, name: the run's; in words.
    role: str
    name: str
    # flops, bytes: floating-point operations, and the bytes taken as the basis.
    flops: int
    bytes: int
    time: LaunchTime | None  # measured, None when no GPU ran it

    @property
    def intensity(self) -> float:
        """Operations a byte."""
        return intensity(self.flops, self.bytes)

    @property
    def ratio(self) -> float:
        """Operations a float."""
        return a_float(self.intensity)

    @property
    def rate(self) -> float | None:
        """Operations a second, measured."""
        return None if self.time is None else self.flops / (self.time.microseconds * 1e-6)


def point_of(role: str, name: str, run: Run, basis: str) -> Point:
    """A run as a point; `basis` is "loaded" (bytes the lanes load) or "moved" (whole sectors)."""
    work = work_of(run)
    scale = run.trace.launch.blocks / max(run.trace.blocks_emulated, 1)
    loaded = round(run.counts.totals.get(Count.GLOBAL_LOAD_BYTES, 0) * scale)
    return Point(role, name, work.flops, work.moved if basis == "moved" else loaded, time_of(run))


def measured_roof(runs: Runs) -> tuple[Roof, DeviceFacts, str] | None:
    """The ceilings a GPU reached, which it is, and the badge; None when no run was measured."""
    for run in runs.values():
        found = run.measurement
        if found is not None and found.peaks is not None:
            peaks = found.peaks
            roof = Roof(peaks.bytes_per_second, peaks.flops_per_second)
            return roof, found.device, found.badge
    return None
