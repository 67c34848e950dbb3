"""A product with barriers in or out of place: the replay, its time line, and the race check."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gpuviz.arrays import F64, I64, Bool
from gpuviz.ptx.races import Hazard, hazards
from gpuviz.runners.base import Run
from gpuviz.scenes.matmul.results import Outcome, outcome
from gpuviz.scenes.matmul.turns import PartName, Replay, Turn, replay
from gpuviz.trace import LANES

_SECONDS: Mapping[PartName, float] = {"load": 1.0, "multiply": 1.6, "store": 0.8, "barrier": 0.6}
_RESULT, _SHORTEST, _LONGEST = 3.0, 8.5, 24.0


@dataclass(frozen=True)
class Timed:
    """A turn on the clock."""

    turn: Turn
    start: float
    end: float

    def position(self, t: float) -> int:
        """How far the replay has come at time t."""
        share = min(max((t - self.start) / (self.end - self.start), 0.0), 1.0)
        return self.turn.first + round(share * (self.turn.last - self.turn.first))


class Misread(NamedTuple):
    """Reads of the shared tiles: all, those that come too early, those that come too late."""

    every: int
    early: int
    late: int

    @property
    def wrong(self) -> int:
        """Those that get an element of another phase, or nothing."""
        return self.early + self.late


@dataclass(frozen=True, eq=False)
class Kernel:
    """One kernel: its run, the replay of block 0, the races in it, and what it ends up with."""

    run: Run
    replay: Replay
    hazards: tuple[Hazard, ...]
    outcome: Outcome


@dataclass(frozen=True, eq=False)
class Course:
    """The kernel that is shown, the one with both barriers, and the time line of the first.

    `misreads` are by turn.
    """

    tile: int
    phases: int
    shown: Kernel
    right: Kernel
    line: tuple[Timed, ...]
    end: float
    misreads: tuple[Misread, ...]

    @property
    def warps(self) -> int:
        """Warps in a block."""
        return self.shown.run.trace.launch.warps_per_block

    def at(self, t: float) -> int:
        """Number of the turn under way; as many as there are when all are over."""
        return bisect_right([timed.end for timed in self.line], t)

    def position(self, t: float) -> int:
        """How far the replay has come at time t."""
        now = self.at(t)
        return self.line[now].position(t) if now < len(self.line) else self.line[-1].turn.last


def kernel(run: Run, tile: int, names: tuple[str, ...], last_first: bool) -> Kernel:
    """A run of the product, replayed."""
    side = round(len(run.outputs["P"]) ** 0.5)
    m, n = (np.asarray(run.outputs[name], np.float64).reshape(side, side) for name in "MN")
    made = replay(run.trace, 0, tile, m, n, last_first)
    return Kernel(run, made, hazards(run.trace), _outcome(names, made, m, n, tile))


def _outcome(names: tuple[str, ...], made: Replay, m: F64, n: F64, tile: int) -> Outcome:
    """The block's part of P in the order of the replay, checked."""
    row, column = np.divmod(made.stored, len(m))
    rows, columns = (slice(int(a.min()), int(a.max()) + 1) for a in (row, column))
    value = np.zeros((tile, tile))
    value[row - row.min(), column - column.min()] = made.value
    return outcome(names, value, m[rows], n[:, columns])


def timed(turns: tuple[Turn, ...]) -> tuple[tuple[Timed, ...], float]:
    """The turns on the clock, and the end of the story after them."""
    usual = sum(_SECONDS[turn.part] for turn in turns) + _RESULT
    pace = min(max(usual, _SHORTEST), _LONGEST) / usual
    made, t = list[Timed](), 0.0
    for turn in turns:
        end = t + _SECONDS[turn.part] * pace
        made.append(Timed(turn, t, end))
        t = end
    return tuple(made), t + _RESULT * pace


def misreads(made: Replay) -> tuple[Misread, ...]:
    """The reads of each turn."""
    return tuple(_misread(made, turn) for turn in made.turns)


def _misread(made: Replay, turn: Turn) -> Misread:
    """The reads of one turn, in both tiles."""
    every = early = late = 0
    for tile in (made.m, made.n):
        inside = (tile.reads.position >= turn.first) & (tile.reads.position < turn.last)
        found, meant = tile.found[inside], tile.reads.phase[inside]
        every += len(found)
        early += int((found < meant).sum())
        late += int((found > meant).sum())
    return Misread(every, early, late)


def reads_so_far(course: Course, position: int) -> tuple[I64, I64]:
    """(warps,) reads of the shared tiles before a position, and the wrong ones among them."""
    every, wrong = np.zeros(course.warps, np.int64), np.zeros(course.warps, np.int64)
    for tile in (course.shown.replay.m, course.shown.replay.n):
        before = tile.reads.position < position
        warp = tile.reads.thread // LANES
        every += np.bincount(warp[before], minlength=course.warps)
        wrong += np.bincount(warp[before & tile.wrong], minlength=course.warps)
    return every, wrong


def slot_of(course: Course, hazard: Hazard) -> str:
    """The shared element that a hazard is about, as in the program: `Ns[0][4]`."""
    tiles = sorted((course.shown.replay.m, course.shown.replay.n), key=lambda tile: tile.base)
    tile = tiles[hazard.address >= tiles[1].base]
    row, column = divmod((hazard.address - tile.base) // 4, course.tile)
    return f"{tile.name}s[{row}][{column}]"


def running(course: Course, warp: int) -> Bool:
    """(threads,) those of one warp."""
    threads = np.arange(course.shown.run.trace.launch.threads_per_block)
    return np.asarray(threads // LANES == warp)
