"""How many warps hide a latency: the lecture slides' arithmetic, and what a GPU measured."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from gpuviz.arch import Architecture
from gpuviz.base.arrays import F64
from gpuviz.recordings.measurement import Measurement
from gpuviz.run.run import Run


def cycles_of(arch: Architecture) -> float:
    """Cycles in which a multiprocessor serves one instruction of one warp: 4 on a G80."""
    return arch.warp / arch.float_lanes


@dataclass(frozen=True)
class Latency:
    """Warps that take turns while loads are under way.

    Attributes
    ----------
    warps : resident ones
    independent : instructions a warp has to execute between a load and the use of what it loads
    cycles : that one of them takes
    wait : cycles from a load to its data
    """

    warps: int
    independent: int
    cycles: float
    wait: int

    @property
    def turn(self) -> float:
        """Cycles for which one warp keeps the lanes busy before it has to wait."""
        return self.independent * self.cycles

    @property
    def needed(self) -> int:
        """Warps with which the lanes never wait."""
        return ceil(self.wait / self.turn - 1e-9)

    @property
    def period(self) -> float:
        """Cycles from a warp's turn to its next one."""
        return max(float(self.wait), self.warps * self.turn)

    @property
    def busy(self) -> float:
        """Fraction of the time in which the lanes compute."""
        return self.warps * self.turn / self.period

    def starts(self, periods: int) -> F64:
        """(periods, warps) cycle at which each warp's turns start: one after another, in order."""
        first = np.arange(self.warps) * self.turn
        return np.asarray(np.arange(periods)[:, None] * self.period + first)


LOADS = (1, 2, 4, 8)
WARPS = (1, 2, 4, 8, 16, 32)  # of the blocks of the sweep
ELEMENTS = 256  # that each thread loads: the sweep lasts long enough to be timed
_FLOAT = 4


@dataclass(frozen=True, eq=False)
class Variant:
    """A kernel with so many loads at once: registers, blocks that fit, and what that hides."""

    loads: int
    registers: int
    blocks: int
    latency: Latency

    @property
    def under_way(self) -> int:
        """Bytes that all resident warps together have asked for and wait for."""
        return self.latency.warps * self.loads * 32 * _FLOAT


def rates_of(run: Run) -> F64 | None:
    """(6, 4) gigabytes a second that each block of the sweep loaded, by warps and loads at once.

    None when no GPU noted when its blocks started and ended.
    """
    lasted = _lasted(run)
    moved = np.array(WARPS)[:, None] * 32 * _FLOAT * ELEMENTS
    return None if lasted is None else np.asarray(moved / lasted)


def waits_of(run: Run) -> F64 | None:
    """(6, 4) cycles from one round of loads of a warp to its next one, by warps and loads at once.

    None as in `rates_of`, or where the clock is not known.
    """
    lasted, found = _lasted(run), run.measurement
    if lasted is None or found is None or not (clock := clock_ghz(found)):
        return None
    return np.asarray(lasted * clock * np.array(LOADS) / ELEMENTS)


def clock_ghz(found: Measurement) -> float:
    """The clock of the multiprocessors while they were timed, in cycles a nanosecond."""
    clocks = found.timing.clocks if found.timing else ()
    return (float(np.mean(clocks)) if clocks else found.device.clock_mhz) / 1000


def _lasted(run: Run) -> F64 | None:
    """(6, 4) nanoseconds from the start to the end of each block of the sweep."""
    placement = run.measurement.placement if run.measurement is not None else None
    if placement is None or len(placement.block) != len(WARPS) * len(LOADS):
        return None
    lasted = np.empty(len(placement.block))
    lasted[placement.block] = np.maximum(placement.end_ns - placement.start_ns, 1)
    return lasted.reshape(len(WARPS), len(LOADS))
